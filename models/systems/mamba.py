"""Mamba as a single-stream translator (Gu and Dao 2023; 0x0C.4): `source EOS BOS target` through selective states.

    u, z   = W_in RMSNorm(h)                       two streams of width D = expand * d_model
    u      = silu(causal depthwise conv(u))        width k
    Delta_t = softplus(W_up (W_x u)_r + b), B_t, C_t = the rest of W_x u     all three depend on the row
    y_t    = selective scan, plus D u_t
    h      = h + W_out (y * silu(z))
    p      = softmax(E RMSNorm(h))

There is no attention and no position: order comes from the scan. What the next row needs is one state (B, D, N) and
k - 1 rows of each layer, whatever the length of what was read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, symbol
from models.layers.readout import TiedOutput, embedding
from models.layers.selective import scan, scan_step
from models.systems.single_stream import SingleStream, Stream


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    expand: int = 2
    d_state: int = 8
    d_step: int = 12  # rank of the step's projection
    width: int = 4
    n_layers: int = 4
    dropout: float = 0.1


@dataclass(frozen=True)
class SelectiveState(State):
    """Per layer: x (B, D, N), and the convolution's last k - 1 inputs (B, k - 1, D)."""

    hidden: tuple[Tensor, ...] = symbol("x")
    buffers: tuple[Tensor, ...] = symbol("last k - 1 rows")


@dataclass(frozen=True)
class SelectiveTrace:
    """One layer on known rows: u, delta (B, T, D), write B_t and read C_t (B, T, N). In a step T is left out."""

    u: Tensor
    delta: Tensor
    write: Tensor
    read: Tensor


@dataclass(frozen=True)
class Trace:
    layers: tuple[SelectiveTrace, ...]


class Mixer(nn.Module):
    """One layer without its residual."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        d, D, N, r = config.d_model, config.expand * config.d_model, config.d_state, config.d_step
        self.sizes = (r, N, N)
        self.norm = nn.RMSNorm(d)
        self.project = nn.Linear(d, 2 * D, bias=False)
        self.taps = nn.Parameter(torch.empty(D, config.width).uniform_(-1, 1) / math.sqrt(config.width))
        self.taps_bias = nn.Parameter(torch.zeros(D))
        self.select = nn.Linear(D, r + 2 * N, bias=False)
        self.step_size = nn.Linear(r, D)
        self.log_A = nn.Parameter(torch.log(torch.arange(1, N + 1).float()).repeat(D, 1))
        self.D = nn.Parameter(torch.ones(D))
        self.output = nn.Linear(D, d, bias=False)
        self._start_steps(D, r)

    def _start_steps(self, D: int, r: int) -> None:
        """softplus of the bias is spread evenly in the logarithm from 0.001 to 0.1 (3.6)."""
        nn.init.uniform_(self.step_size.weight, -(r**-0.5), r**-0.5)
        delta = torch.exp(torch.rand(D) * math.log(100.0) + math.log(1e-3))
        with torch.no_grad():
            self.step_size.bias.copy_(delta + torch.log(-torch.expm1(-delta)))

    @property
    def A(self) -> Tensor:
        """(D, N), negative: every state fades."""
        return -torch.exp(self.log_A)

    def convolve(self, rows: Tensor, before: Tensor) -> Tensor:
        """Depthwise over rows (B, T, D) that follow `before` (B, k - 1, D)."""
        padded, length = torch.cat([before.to(rows.dtype), rows], dim=1), rows.shape[1]
        taps = self.taps.to(rows.dtype).unbind(1)  # a product a tap is faster here than a grouped convolution
        mixed = sum(tap * padded[:, k : k + length] for k, tap in enumerate(taps))
        return F.silu(mixed + self.taps_bias)

    def selection(self, u: Tensor) -> SelectiveTrace:
        """What the rows decide about the state; the scan runs in single precision at least."""
        low, write, read = self.select(u).split(self.sizes, dim=-1)
        delta = F.softplus(self.step_size(low))
        kind = torch.promote_types(u.dtype, torch.float32)
        return SelectiveTrace(*(part.to(kind) for part in (u, delta, write, read)))

    def finish(self, y: Tensor, u: Tensor, z: Tensor) -> Tensor:
        return self.output((y + self.D * u) * F.silu(z))

    def zeros(self, count: int) -> tuple[Tensor, Tensor]:
        """State and buffer of `count` requests that have read nothing."""
        D, width = self.taps.shape
        return self.taps.new_zeros(count, *self.log_A.shape), self.taps.new_zeros(count, width - 1, D)

    def forward(
        self, h: Tensor, valid: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, SelectiveTrace]:
        """Known rows (B, T, d): their outputs, the state after the last valid row, the conv inputs, and the trace."""
        inputs, z = self.project(self.norm(h)).chunk(2, dim=-1)
        state, before = self.zeros(h.shape[0])
        chosen = self.selection(self.convolve(inputs, before))
        delta = chosen.delta if valid is None else chosen.delta * valid.unsqueeze(-1)
        y, state = scan(chosen.u, delta, self.A, chosen.write, chosen.read, state.to(delta.dtype))
        return self.finish(y, chosen.u, z), state, inputs, chosen

    def step(self, h: Tensor, state: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor, Tensor, SelectiveTrace]:
        """One row (B, d): its output, the next state and buffer, and the trace."""
        row, z = self.project(self.norm(h)).chunk(2, dim=-1)
        chosen = self.selection(self.convolve(row.unsqueeze(1), buffer)[:, 0])
        y, after = scan_step(chosen.u, chosen.delta, self.A, chosen.write, chosen.read, state)
        rows = torch.cat([buffer[:, 1:], row.unsqueeze(1)], dim=1)
        return self.finish(y, chosen.u, z), after, rows, chosen


def last_rows(rows: Tensor, lengths: Tensor, count: int) -> Tensor:
    """Each request's last `count` real rows, zeros where it has fewer: (B, T, D), (B,) -> (B, count, D)."""
    place = lengths.unsqueeze(1) - count + torch.arange(count, device=rows.device)
    taken = rows.gather(1, place.clamp(min=0).unsqueeze(-1).expand(-1, -1, rows.shape[-1]))
    return taken.masked_fill((place < 0).unsqueeze(-1), 0.0)


class Mamba(SingleStream):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList([Mixer(config) for _ in range(config.n_layers)])
        self.norm = nn.RMSNorm(config.d_model)
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def enter(self, vectors: Tensor) -> Tensor:
        return self.dropout(vectors)

    def run(self, stream: Stream) -> tuple[Tensor, Trace]:
        h, traces = self.enter(stream.vectors), []
        for layer in self.layers:
            mixed, _, _, trace = layer(h)
            h = h + self.dropout(mixed)
            traces.append(trace)
        return self.norm(h), Trace(tuple(traces))

    def read(self, source: Rows) -> SelectiveState:
        h, hidden, buffers = self.enter(source.embed(self.embedding)), [], []
        for layer in self.layers:
            mixed, state, inputs, _ = layer(h, source.valid)
            h = h + mixed
            hidden.append(state)
            buffers.append(last_rows(inputs, source.lengths, self.config.width - 1))
        return SelectiveState(tuple(hidden), tuple(buffers))

    def step(self, state: SelectiveState, token: Tensor, *, read: Read | None = None) -> Stepped:
        h, hidden, buffers, traces = self.enter(self.embedding(token)), [], [], []
        for layer, x, buffer in zip(self.layers, state.hidden, state.buffers, strict=True):
            mixed, *kept, trace = layer.step(h, x, buffer)  # type: ignore[operator]
            h = h + mixed
            hidden.append(kept[0])
            buffers.append(kept[1])
            traces.append(trace)
        after = SelectiveState(tuple(hidden), tuple(buffers))
        return Stepped(self.project(self.norm(h)), after, Trace(tuple(traces)))

    def sequential_steps(self, length: int) -> int:
        return length + self.config.n_layers - 1  # a layer's scan starts one row after the layer below
