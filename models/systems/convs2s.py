"""Convolutional sequence to sequence (Gehring et al. 2017): stacked gated convolutions, and one read in every decoder
layer (0x05D).

    encoder layer  x = (x + GLU(conv(x))) sqrt(1/2)                                centred, width k
    decoder layer  h = GLU(causal conv(y)),  d = W h + b + g,  a_j = softmax(d . z_j)
                   c = sqrt(m) sum_j a_j (z_j + e_j) sqrt(1/2)                      m source rows, e their embeddings
                   y = (y + (h + W' c) sqrt(1/2)) sqrt(1/2)

g is the embedded target row (word plus learned absolute position). Scaling by sqrt(1/2) keeps the variance of a sum,
sqrt(m) undoes the shrinking of a mean over m rows (3.4). Nothing is recurrent: a known sequence runs at once in every
layer, a new row needs the last k - 1 rows of each layer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, symbol
from models.layers.attention import AttentionTrace, normalise
from models.layers.convolution import RowConvolution, glu
from models.layers.exporting import exporting
from models.layers.readout import TiedOutput, embedding
from models.systems.tied import TiedSystem

HALF = math.sqrt(0.5)


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    n_layers: int = 4
    width: int = 3
    positions: int = 160  # rows of one side; the tables of learned positions have none beyond
    dropout: float = 0.1


@dataclass(frozen=True)
class RingState(State):
    """keys and values (B, S, d) of the source with its mask (B, S); per layer the last k - 1 rows; rows so far (B,)."""

    keys: Tensor = symbol("z")
    values: Tensor = symbol("z + e")
    valid: Tensor = symbol("mask")
    buffers: tuple[Tensor, ...] = symbol("last k - 1 rows")
    position: Tensor = symbol("t")


@dataclass(frozen=True)
class StepTrace:
    """The read of each decoder layer."""

    cross: tuple[AttentionTrace, ...]


@dataclass(frozen=True)
class Trace:
    """keys (B, S, d), and the read of each decoder layer, weights (B, T, S)."""

    keys: Tensor
    cross: tuple[AttentionTrace, ...]


class EncoderLayer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.convolution = RowConvolution(config.d_model, 2 * config.d_model, config.width, causal=False)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, valid: Tensor) -> Tensor:
        return (x + glu(self.convolution(self.dropout(x), valid))) * HALF


class DecoderLayer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        d = config.d_model
        self.convolution = RowConvolution(d, 2 * d, config.width, causal=True)
        self.query, self.context = nn.Linear(d, d), nn.Linear(d, d)
        self.dropout = nn.Dropout(config.dropout)

    def attend(
        self, h: Tensor, g: Tensor, memory: Memory, read: Read | None
    ) -> tuple[Tensor, AttentionTrace]:
        """h and g (B, T, d) -> h with what it read, (B, T, d)."""
        query = (self.query(h) + g) * HALF
        scores = query @ memory.keys.transpose(1, 2)  # (B, T, S)
        if read is not None and read.bias is not None:
            scores = scores + read.bias
        weights = normalise(scores, memory.valid.unsqueeze(1))
        if read is not None and read.weights is not None:
            weights = read.weights
        context = weights @ memory.values * memory.valid.sum(1).sqrt()[:, None, None]
        return (h + self.context(context)) * HALF, AttentionTrace(scores, weights, context)

    def forward(
        self, y: Tensor, g: Tensor, memory: Memory, read: Read | None
    ) -> tuple[Tensor, AttentionTrace]:
        h, trace = self.attend(glu(self.convolution(self.dropout(y))), g, memory, read)
        return (y + h) * HALF, trace

    def step(
        self, y: Tensor, g: Tensor, buffer: Tensor, memory: Memory, read: Read | None
    ) -> tuple[Tensor, Tensor, AttentionTrace]:
        """One row (B, d) from the layer's last rows."""
        raw, after = self.convolution.step(y, buffer)
        h, trace = self.attend(glu(raw).unsqueeze(1), g.unsqueeze(1), memory, read)
        return (y + h[:, 0]) * HALF, after, trace


@dataclass(frozen=True)
class Memory:
    """What every decoder layer reads: keys z and values (z + e) sqrt(1/2), (B, S, d); valid (B, S)."""

    keys: Tensor
    values: Tensor
    valid: Tensor


class ConvS2S(TiedSystem):
    has_alignment = True

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        d = config.d_model
        self.embedding = embedding(config.vocab_size, d)
        self.source_positions = nn.Embedding(config.positions, d)
        self.target_positions = nn.Embedding(config.positions, d)
        self.source_in, self.source_out = nn.Linear(d, d), nn.Linear(d, d)
        self.target_in, self.target_out = nn.Linear(d, d), nn.Linear(d, d)
        self.encoder = nn.ModuleList([EncoderLayer(config) for _ in range(config.n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(config) for _ in range(config.n_layers)])
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)
        for table in (self.source_positions, self.target_positions):
            nn.init.normal_(table.weight, std=d**-0.5)

    def place(self, vectors: Tensor, table: nn.Embedding, start: Tensor | int = 0) -> Tensor:
        """Words plus learned positions, (B, T, d). Raises ValueError where the table is too short."""
        if not exporting():
            self._fits(int(start.max() if isinstance(start, Tensor) else start) + vectors.shape[1])
        rows = torch.arange(vectors.shape[1], device=vectors.device)
        places = rows + (start.unsqueeze(1) if isinstance(start, Tensor) else start)
        return self.dropout(vectors * math.sqrt(self.config.d_model) + table(places)) * HALF

    def _fits(self, last: int) -> None:
        if last > self.config.positions:
            raise ValueError(
                f"ConvS2S has {self.config.positions} learned positions a side; this needs {last}."
            )

    def encode(self, source: Rows) -> Memory:
        e = self.place(source.embed(self.embedding), self.source_positions)
        x = self.source_in(e)
        for layer in self.encoder:
            x = layer(x, source.valid)
        z = self.source_out(x)
        return Memory(z, (z + e) * HALF, source.valid)

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Trace]:
        memory = self.encode(source)
        g = self.place(Rows.of(target_in).embed(self.embedding), self.target_positions)
        y, traces = self.target_in(g), []
        for layer in self.decoder:
            y, trace = layer(y, g, memory, read)
            traces.append(trace)
        return self.dropout(self.target_out(y)), Trace(memory.keys, tuple(traces))

    def read(self, source: Rows) -> RingState:
        memory = self.encode(source)
        buffers = tuple(layer.convolution.buffer(memory.keys) for layer in self.decoder)  # type: ignore[union-attr, operator]
        position = torch.zeros_like(source.ids[:, 0])
        return RingState(memory.keys, memory.values, memory.valid, buffers, position)

    def step(self, state: RingState, token: Tensor, *, read: Read | None = None) -> Stepped:
        memory = Memory(state.keys, state.values, state.valid)
        g = self.place(self.embedding(token).unsqueeze(1), self.target_positions, state.position)[:, 0]
        y, buffers, traces, here = self.target_in(g), [], [], read.as_row() if read else None
        for layer, buffer in zip(self.decoder, state.buffers, strict=True):
            y, after, trace = layer.step(y, g, buffer, memory, here)  # type: ignore[operator]
            buffers.append(after)
            traces.append(trace)
        after = RingState(state.keys, state.values, state.valid, tuple(buffers), state.position + 1)
        return Stepped(self.project(self.target_out(y)), after, StepTrace(tuple(traces)))

    def alignment(self, trace: Trace | StepTrace) -> Tensor:
        """The mean of the layers' weights, (B, T, S), or (B, S) for a step."""
        rows = torch.stack([layer.weights for layer in trace.cross]).mean(0)
        return rows[:, 0] if isinstance(trace, StepTrace) else rows

    def cross_heads(self, trace: Trace) -> Tensor:
        return torch.stack([layer.weights for layer in trace.cross], dim=1).unsqueeze(2)

    def source_visible(self, source: Rows, trace: Trace) -> Tensor:
        return source.valid.unsqueeze(1).expand_as(trace.cross[0].weights)

    def sequential_steps(self, length: int) -> int:
        return self.config.n_layers  # every row of a layer at once
