"""Transformer encoder-decoder (Vaswani et al. 2017): post-norm, sinusoidal positions, three read
relations (0x07B, 0x09C).

    encoder row  x = LN(x + SelfRead(x)),  x = LN(x + FFN(x))
    decoder row  y = LN(y + CausalSelfRead(y)),  y = LN(y + CrossRead(y, memory)),  y = LN(y + FFN(y))
    p(y_t)       = softmax(E y_t), E shared with both inputs (3.4), inputs scaled by sqrt(d_model)

Source self, target self and cross visibility are three relations by name, never one matrix. `norm="pre"` moves each
norm in front of its sublayer and ends both stacks with one; nothing else differs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.interface import Masked, Read, Rows, State, Stepped, symbol
from models.layers.attention import AttentionTrace, MultiHeadAttention
from models.layers.blocks import FeedForward, KeysValues, Order, Residual, SelfLayer, extended
from models.layers.positions import sinusoid
from models.layers.readout import TiedOutput, embedding
from models.layers.visibility import Empty, by_layer, causal, compose, cross_full, full, keys, known_names
from models.systems.tied import TiedSystem


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    n_heads: int = 6
    d_feedforward: int = 768
    n_layers: int = 3
    dropout: float = 0.1
    norm: Order = "post"  # as in 2017; "pre" is the twin that trains without warm-up (Xiong et al. 2020)


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


class DecoderLayer(Residual):
    """Target rows read each other's past, then the memory, then pass the feed-forward."""

    def __init__(self, config: Config) -> None:
        super().__init__(3, config.d_model, config.norm, config.dropout)
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.cross = MultiHeadAttention(config.d_model, config.n_heads)
        self.feedforward = FeedForward(config.d_model, config.d_feedforward)

    def forward(
        self,
        y: Tensor,
        past: KeysValues | None,
        memory: KeysValues,
        own_visible: Tensor,
        cross_visible: Tensor,
        read: Read | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, AttentionTrace, AttentionTrace, KeysValues]:
        """y (B, T, d_model); past and memory are key and value heads of earlier target rows and of the source."""
        bias, replaced = (read.bias, read.weights) if read else (None, None)
        rows = self.enter(0, y)
        kept = extended(past, self.attention.keys_values(rows))
        selfread, target = self.attention(rows, *kept, own_visible, empty=empty)
        y = self.leave(0, y, selfread)
        crossread, cross = self.cross(self.enter(1, y), *memory, cross_visible, bias, replaced, empty)
        y = self.leave(1, y, crossread)
        return self.leave(2, y, self.feedforward(self.enter(2, y))), target, cross, kept


class Transformer(TiedSystem, Masked):
    has_alignment = True

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_model)
        sizes = (config.d_model, config.n_heads, config.d_feedforward, config.dropout, config.norm)
        self.encoder = nn.ModuleList([SelfLayer(*sizes) for _ in range(config.n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(config) for _ in range(config.n_layers)])
        self.encoder_norm, self.decoder_norm = (self._last_norm() for _ in range(2))
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def _last_norm(self) -> nn.Module:
        """A pre-norm stack ends with a norm; a post-norm one has normalised already."""
        return nn.LayerNorm(self.config.d_model) if self.config.norm == "pre" else nn.Identity()

    def place(self, vectors: Tensor, offset: int = 0) -> Tensor:
        """Embeddings times sqrt(d_model) plus positions from `offset` on (3.4, 3.5)."""
        table = sinusoid(vectors.shape[1], self.config.d_model, offset, vectors.device).to(vectors.dtype)
        return self.dropout(vectors * math.sqrt(self.config.d_model) + table)

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
        x, traces, n = self.place(source.embed(self.embedding)), [], self.config.n_layers
        relation = full(x.shape[1], x.device)
        visible = by_layer("source_self", relation, source.valid, n, masks)
        for layer, seen in zip(self.encoder, visible, strict=True):
            x, trace, _ = layer(x, seen, empty=empty)
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
        target, n = Rows.of(target_in), self.config.n_layers
        found = self.relations(source, target.ids.shape[1])
        known_names(masks, found)
        memory, encoder = self.encode(source, masks, empty)
        y = self.place(target.embed(self.embedding))
        own = by_layer("target_self", found["target_self"], target.valid, n, masks)
        over = by_layer("cross", found["cross"], source.valid, n, masks)
        targets, crosses = [], []
        for i, layer in enumerate(self.decoder):
            kept = layer.cross.keys_values(memory)  # type: ignore[union-attr]
            y, self_trace, cross_trace, _ = layer(y, None, kept, own[i], over[i], read, empty)
            targets.append(self_trace)
            crosses.append(cross_trace)
        return self.decoder_norm(y), Trace(memory, encoder, tuple(targets), tuple(crosses))

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
        here = read.as_row() if read else None
        for i, layer in enumerate(self.decoder):
            own = state.self_keys[i], state.self_values[i]
            memory = state.memory_keys[i], state.memory_values[i]
            y, target, cross, after = layer(y, own, memory, visible, keys(state.valid), here)
            kept.append(after)
            targets.append(target)
            crosses.append(cross)
        own_keys, own_values = tuple(k for k, _ in kept), tuple(v for _, v in kept)
        after = CacheState(state.valid, state.memory_keys, state.memory_values, own_keys, own_values)
        row = self.decoder_norm(y)[:, 0]
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
        return self.config.n_layers  # every row of a layer at once
