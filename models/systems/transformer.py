"""Transformer encoder-decoder (Vaswani et al. 2017): post-norm, sinusoidal positions, three read
relations (0x07B, 0x09C).

    encoder row  x = LN(x + SelfRead(x)),  x = LN(x + FFN(x))
    decoder row  y = LN(y + CausalSelfRead(y)),  y = LN(y + CrossRead(y, memory)),  y = LN(y + FFN(y))
    p(y_t)       = softmax(E y_t), E shared with both inputs (3.4), inputs scaled by sqrt(d_model)

Source self, target self and cross visibility are three objects (`Masks`), never one matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, symbol
from models.layers.attention import AttentionTrace, MultiHeadAttention
from models.layers.positions import sinusoid
from models.layers.readout import TiedOutput, embedding
from models.layers.visibility import causal, keys
from models.systems.tied import TiedSystem


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    n_heads: int = 6
    d_feedforward: int = 768
    n_layers: int = 3
    dropout: float = 0.1


@dataclass(frozen=True)
class Masks:
    """source_self (B, 1, 1, S), target_self (T, T), cross (B, 1, 1, S); True = may read."""

    source_self: Tensor
    target_self: Tensor
    cross: Tensor


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


class FeedForward(nn.Sequential):
    """max(0, x W1 + b1) W2 + b2, row by row (3.3)."""

    def __init__(self, config: Config) -> None:
        super().__init__(
            nn.Linear(config.d_model, config.d_feedforward),
            nn.ReLU(),
            nn.Linear(config.d_feedforward, config.d_model),
        )


class EncoderLayer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feedforward = FeedForward(config)
        self.norms = nn.ModuleList([nn.LayerNorm(config.d_model) for _ in range(2)])
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, visible: Tensor) -> tuple[Tensor, AttentionTrace]:
        read, trace = self.attention(x, *self.attention.keys_values(x), visible)
        x = self.norms[0](x + self.dropout(read))
        return self.norms[1](x + self.dropout(self.feedforward(x))), trace


class DecoderLayer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.cross = MultiHeadAttention(config.d_model, config.n_heads)
        self.feedforward = FeedForward(config)
        self.norms = nn.ModuleList([nn.LayerNorm(config.d_model) for _ in range(3)])
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        y: Tensor,
        own: tuple[Tensor, Tensor],
        memory: tuple[Tensor, Tensor],
        own_visible: Tensor,
        cross_visible: Tensor,
        read: Read | None,
    ) -> tuple[Tensor, AttentionTrace, AttentionTrace]:
        """y (B, T, d_model); own and memory are key and value heads of the target rows and of the source."""
        bias, replaced = (read.bias, read.weights) if read else (None, None)
        selfread, target = self.attention(y, *own, own_visible)
        y = self.norms[0](y + self.dropout(selfread))
        crossread, cross = self.cross(y, *memory, cross_visible, bias, replaced)
        y = self.norms[1](y + self.dropout(crossread))
        return self.norms[2](y + self.dropout(self.feedforward(y))), target, cross


class Transformer(TiedSystem):
    has_alignment = True

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_model)
        self.encoder = nn.ModuleList([EncoderLayer(config) for _ in range(config.n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(config) for _ in range(config.n_layers)])
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def place(self, vectors: Tensor, offset: int = 0) -> Tensor:
        """Embeddings times sqrt(d_model) plus positions from `offset` on (3.4, 3.5)."""
        table = sinusoid(vectors.shape[1], self.config.d_model, offset, vectors.device).to(vectors.dtype)
        return self.dropout(vectors * math.sqrt(self.config.d_model) + table)

    def encode(self, source: Rows) -> tuple[Tensor, tuple[AttentionTrace, ...]]:
        x, visible, traces = self.place(source.embed(self.embedding)), keys(source.valid), []
        for layer in self.encoder:
            x, trace = layer(x, visible)
            traces.append(trace)
        return x, tuple(traces)

    def masks(self, source: Rows, length: int) -> Masks:
        return Masks(keys(source.valid), causal(length, source.ids.device), keys(source.valid))

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Trace]:
        memory, encoder = self.encode(source)
        y = self.place(Rows.of(target_in).embed(self.embedding))
        masks = self.masks(source, y.shape[1])
        targets, crosses = [], []
        for layer in self.decoder:
            own, kept = layer.attention.keys_values(y), layer.cross.keys_values(memory)  # type: ignore[union-attr]
            y, target, cross = layer(y, own, kept, masks.target_self, masks.cross, read)
            targets.append(target)
            crosses.append(cross)
        return y, Trace(memory, encoder, tuple(targets), tuple(crosses))

    def read(self, source: Rows) -> CacheState:
        memory, _ = self.encode(source)
        kept = [layer.cross.keys_values(memory) for layer in self.decoder]  # type: ignore[union-attr]
        none = kept[0][0][:, :, :0]
        empty = tuple(none for _ in kept)
        return CacheState(source.valid, tuple(k for k, _ in kept), tuple(v for _, v in kept), empty, empty)

    def step(self, state: CacheState, token: Tensor, *, read: Read | None = None) -> Stepped:
        past = state.self_keys[0].shape[2]
        y = self.place(self.embedding(token).unsqueeze(1), past)
        own_keys, own_values, targets, crosses = [], [], [], []
        visible = torch.ones(1, past + 1, dtype=torch.bool, device=token.device)
        here = read.as_row() if read else None
        for i, layer in enumerate(self.decoder):
            key, value = layer.attention.keys_values(y)  # type: ignore[union-attr]
            own = torch.cat([state.self_keys[i], key], dim=2), torch.cat([state.self_values[i], value], dim=2)
            memory = state.memory_keys[i], state.memory_values[i]
            y, target, cross = layer(y, own, memory, visible, keys(state.valid), here)
            for kept, new in zip(
                (own_keys, own_values, targets, crosses), (*own, target, cross), strict=True
            ):
                kept.append(new)
        after = CacheState(
            state.valid, state.memory_keys, state.memory_values, tuple(own_keys), tuple(own_values)
        )
        return Stepped(self.project(y[:, 0]), after, StepTrace(tuple(targets), tuple(crosses)))

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
