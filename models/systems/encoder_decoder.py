"""Encoder-decoder Transformers: what the original of 2017 and T5 share (0x07B, 0x09C).

    memory  = encoder rows, each read by all valid source rows         relation source_self
    y       = decoder rows reading their past, then the memory         relations target_self and cross

Source self, target self and cross visibility are three relations by name, never one matrix. A subclass says how a row
enters (`place`) and what its positions add to the scores (`bias`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from models.interface import Masked, Read, Rows, State, Stepped, symbol
from models.layers.attention import AttentionTrace
from models.layers.blocks import CrossLayer, SelfLayer, Style
from models.layers.readout import TiedOutput, embedding
from models.layers.visibility import Empty, by_layer, causal, compose, cross_full, full, keys, known_names
from models.systems.tied import TiedSystem

Stack = Literal["encoder", "decoder"]


@dataclass(frozen=True)
class CacheState(State):
    """Per layer: keys and values of the source memory (B, h, S, k), and of the target rows so far (B, h, t, k)."""

    valid: Tensor = symbol("mask")
    memory_keys: tuple[Tensor, ...] = symbol("K memory")
    memory_values: tuple[Tensor, ...] = symbol("V memory")
    self_keys: tuple[Tensor, ...] = symbol("K target")
    self_values: tuple[Tensor, ...] = symbol("V target")


@dataclass(frozen=True)
class Trace:
    """One AttentionTrace a layer for each relation, weights (B, h, T, S); memory (B, S, d_model)."""

    memory: Tensor
    encoder: tuple[AttentionTrace, ...]
    target: tuple[AttentionTrace, ...]
    cross: tuple[AttentionTrace, ...]


@dataclass(frozen=True)
class StepTrace:
    target: tuple[AttentionTrace, ...]
    cross: tuple[AttentionTrace, ...]


def last_norm(style: Style) -> nn.Module:
    """A pre-norm stack ends with a norm; a post-norm one has normalised already."""
    return style.norm(style.d_model) if style.order == "pre" else nn.Identity()


class EncoderDecoder(TiedSystem, Masked):
    has_alignment = True

    def __init__(self, vocab_size: int, n_layers: int, style: Style) -> None:
        super().__init__()
        self.n_layers = n_layers
        self.embedding = embedding(vocab_size, style.d_model)
        self.encoder = nn.ModuleList([SelfLayer(style) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([CrossLayer(style) for _ in range(n_layers)])
        self.encoder_norm, self.decoder_norm = (last_norm(style) for _ in range(2))
        self.output = TiedOutput(self.embedding, style.biases)
        self.dropout = nn.Dropout(style.dropout)

    def place(self, vectors: Tensor, offset: int = 0) -> Tensor:
        """Embeddings (B, T, d_model) as the first layer gets them; their first row stands at `offset`."""
        raise NotImplementedError

    def bias(self, stack: Stack, columns: int, offset: int = 0) -> Tensor | None:
        """What positions add to the self read's scores, (1, h, columns - offset, columns): rows `offset` on."""
        return None

    def relations(self, source: Rows, length: int) -> dict[str, Tensor]:
        """The three structural relations, without validity."""
        S, device = source.ids.shape[1], source.ids.device
        return {
            "source_self": full(S, device),
            "target_self": causal(length, device),
            "cross": cross_full(length, S, device),
        }

    def visibility(self, source: Rows, target_in: Tensor | Rows) -> dict[str, Tensor]:
        target = Rows.of(target_in)
        valid = {"source_self": source.valid, "target_self": target.valid, "cross": source.valid}
        found = self.relations(source, target.ids.shape[1])
        return {name: compose(relation, valid[name]) for name, relation in found.items()}

    def reads(self, trace: Trace) -> dict[str, tuple[AttentionTrace, ...]]:
        return {"source_self": trace.encoder, "target_self": trace.target, "cross": trace.cross}

    def encode(
        self, source: Rows, masks: Mapping[str, Tensor] | None = None, empty: Empty = "error"
    ) -> tuple[Tensor, tuple[AttentionTrace, ...]]:
        x, traces = self.place(source.embed(self.embedding)), []
        relation, bias = full(x.shape[1], x.device), self.bias("encoder", x.shape[1])
        visible = by_layer("source_self", relation, source.valid, self.n_layers, masks)
        for layer, seen in zip(self.encoder, visible, strict=True):
            x, trace, _ = layer(x, seen, bias=bias, empty=empty)
            traces.append(trace)
        return self.encoder_norm(x), tuple(traces)

    def features(
        self,
        source: Rows,
        target_in: Tensor | Rows,
        *,
        read: Read | None = None,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, Trace]:
        target, n = Rows.of(target_in), self.n_layers
        found = self.relations(source, target.ids.shape[1])
        known_names(masks, found)
        memory, encoder = self.encode(source, masks, empty)
        y = self.place(target.embed(self.embedding))
        own = by_layer("target_self", found["target_self"], target.valid, n, masks)
        over = by_layer("cross", found["cross"], source.valid, n, masks)
        bias, targets, crosses = self.bias("decoder", y.shape[1]), [], []
        for i, layer in enumerate(self.decoder):
            kept = layer.cross.keys_values(memory)  # type: ignore[union-attr]
            y, self_trace, cross_trace, _ = layer(
                y, None, kept, own[i], over[i], bias=bias, read=read, empty=empty
            )
            targets.append(self_trace)
            crosses.append(cross_trace)
        return self.finish(y), Trace(memory, encoder, tuple(targets), tuple(crosses))

    def finish(self, rows: Tensor) -> Tensor:
        """Rows of the last decoder layer as the output table gets them."""
        return self.decoder_norm(rows)

    def read(self, source: Rows) -> CacheState:
        memory, _ = self.encode(source)
        kept = [layer.cross.keys_values(memory) for layer in self.decoder]  # type: ignore[union-attr]
        none = kept[0][0][:, :, :0]
        empty = tuple(none for _ in kept)
        return CacheState(source.valid, tuple(k for k, _ in kept), tuple(v for _, v in kept), empty, empty)

    def step(self, state: CacheState, token: Tensor, *, read: Read | None = None) -> Stepped:
        past = state.self_keys[0].shape[2]
        y = self.place(self.embedding(token).unsqueeze(1), past)
        kept, targets, crosses = [], [], []
        visible = torch.ones(1, past + 1, dtype=torch.bool, device=token.device)
        here, bias = read.as_row() if read else None, self.bias("decoder", past + 1, past)
        for i, layer in enumerate(self.decoder):
            own = state.self_keys[i], state.self_values[i]
            memory = state.memory_keys[i], state.memory_values[i]
            y, target, cross, after = layer(y, own, memory, visible, keys(state.valid), bias=bias, read=here)
            kept.append(after)
            targets.append(target)
            crosses.append(cross)
        own_keys, own_values = tuple(k for k, _ in kept), tuple(v for _, v in kept)
        after = CacheState(state.valid, state.memory_keys, state.memory_values, own_keys, own_values)
        row = self.finish(y)[:, 0]
        return Stepped(self.project(row), after, StepTrace(tuple(targets), tuple(crosses)))

    def alignment(self, trace: Trace | StepTrace, layer: int = -1, head: int | None = None) -> Tensor:
        """Cross weights of one layer, the mean of its heads or one head: (B, T, S), or (B, S) for a step."""
        weights = trace.cross[layer].weights
        rows = weights.mean(dim=1) if head is None else weights[:, head]
        return rows[:, 0] if isinstance(trace, StepTrace) else rows

    def cross_heads(self, trace: Trace) -> Tensor:
        return torch.stack([layer.weights for layer in trace.cross], dim=1)

    def source_visible(self, source: Rows, trace: Trace) -> Tensor:
        return source.valid.unsqueeze(1).expand(-1, trace.cross[0].weights.shape[2], -1)

    def sequential_steps(self, length: int) -> int:
        return self.n_layers  # every row of a layer at once
