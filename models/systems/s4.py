"""S4 with diagonal states as a single-stream translator (Gu et al. 2022, S4 and S4D; 0x0C.3).

    h = h + GLU(W GELU(S4D(LN(h))))         one linear state system a channel, then the channels are mixed
    S4D: x_k = Abar x_(k-1) + Bbar u_k,  y_k = 2 Re(C x_k) + D u_k;  Lambda, Delta, C, D learned, B = 1, zero-order hold
    p = softmax(E LN(h))

Known rows run as one convolution with the kernel K of each channel, made as a Vandermonde product; a new row is one
step of the same recurrence from x (B, d, N/2), one mode of each conjugate pair. Within a layer nothing depends on what
the rows say; only the gates between layers do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, symbol
from models.layers import state_space as equations
from models.layers.convolution import glu
from models.layers.readout import TiedOutput, embedding
from models.systems.single_stream import SingleStream, Stream


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    d_state: int = 32  # N; modes come in conjugate pairs, so N / 2 are kept
    n_layers: int = 6
    dropout: float = 0.1


@dataclass(frozen=True)
class LinearState(State):
    """Per layer the modes of every channel, complex (B, d, N/2)."""

    hidden: tuple[Tensor, ...] = symbol("x")


@dataclass(frozen=True)
class LayerTrace:
    """One layer on known rows: input u (B, T, d) and kernel K (d, T). In a step the kernel is its first tap."""

    u: Tensor
    kernel: Tensor


@dataclass(frozen=True)
class Trace:
    layers: tuple[LayerTrace, ...]


class DiagonalStates(nn.Module):
    """d systems of N states each, on (B, T, d)."""

    def __init__(self, d_model: int, d_state: int) -> None:
        super().__init__()
        start = equations.s4d_lambda(d_state, "lin")
        self.log_decay = nn.Parameter(torch.log(-start.real).float().repeat(d_model, 1))
        self.frequency = nn.Parameter(start.imag.float().repeat(d_model, 1))
        self.C = nn.Parameter(torch.randn(d_model, d_state // 2, 2) * math.sqrt(0.5))
        self.D = nn.Parameter(torch.ones(d_model))
        self.log_delta = nn.Parameter(torch.rand(d_model) * math.log(100.0) + math.log(1e-2))

    def discrete(self) -> tuple[Tensor, Tensor, Tensor]:
        """Abar, Bbar and C, complex (d, N/2), at single precision at least."""
        decay, frequency, C, log_delta = (
            p.to(torch.promote_types(p.dtype, torch.float32))
            for p in (self.log_decay, self.frequency, self.C, self.log_delta)
        )
        Lambda = torch.complex(-torch.exp(decay), frequency)
        a_bar, factor = equations.discretize_diagonal(Lambda, torch.exp(log_delta).unsqueeze(-1))
        return a_bar, factor, torch.view_as_complex(C.contiguous())

    def forward(self, u: Tensor) -> tuple[Tensor, Tensor]:
        """Every known row at once: y (B, T, d) and the kernel (d, T)."""
        a_bar, b_bar, C = self.discrete()
        u = u.to(b_bar.real.dtype)
        kernel = equations.kernel_diagonal(C, b_bar, a_bar, u.shape[1])
        y = equations.convolve(u.transpose(1, 2), kernel).transpose(1, 2)
        return y + self.D * u, kernel

    def after(self, u: Tensor, lengths: Tensor) -> Tensor:
        """The state after each request's last real row: sum_j Abar^(S-1-j) Bbar u_j, (B, d, N/2)."""
        a_bar, b_bar, _ = self.discrete()
        lag = torch.arange(u.shape[1], device=u.device)
        place = lengths.unsqueeze(1) - 1 - lag  # (B, T): the row that lies `lag` rows back
        rows = u.gather(1, place.clamp(min=0).unsqueeze(-1).expand_as(u)).masked_fill(
            (place < 0).unsqueeze(-1), 0.0
        )
        powers = equations.powers(a_bar, u.shape[1])  # (d, N/2, T)
        return torch.einsum("dnt,btd->bdn", powers * b_bar.unsqueeze(-1), rows.to(a_bar.dtype))

    def step(self, u: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """One row (B, d) from the state x: y (B, d) and the next state."""
        a_bar, b_bar, C = self.discrete()
        x = a_bar * x + b_bar * u.unsqueeze(-1)
        return 2 * (C * x).sum(-1).real + self.D * u, x


class Layer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.states = DiagonalStates(config.d_model, config.d_state)
        self.mix = nn.Linear(config.d_model, 2 * config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def finish(self, h: Tensor, y: Tensor) -> Tensor:
        return h + self.dropout(glu(self.mix(self.dropout(F.gelu(y)))))

    def forward(self, h: Tensor) -> tuple[Tensor, LayerTrace]:
        u = self.norm(h)
        with torch.autocast(u.device.type, enabled=False):
            y, kernel = self.states(u)
        return self.finish(h, y), LayerTrace(u, kernel)

    def step(self, h: Tensor, x: Tensor) -> tuple[Tensor, Tensor, LayerTrace]:
        u = self.norm(h)
        y, after = self.states.step(u, x)
        a_bar, b_bar, C = self.states.discrete()
        return self.finish(h, y), after, LayerTrace(u, equations.kernel_diagonal(C, b_bar, a_bar, 1))


class S4(SingleStream):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.n_layers)])
        self.norm = nn.LayerNorm(config.d_model)
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def run(self, stream: Stream) -> tuple[Tensor, Trace]:
        h, traces = self.dropout(stream.vectors), []
        for layer in self.layers:
            h, trace = layer(h)
            traces.append(trace)
        return self.norm(h), Trace(tuple(traces))

    def read(self, source: Rows) -> LinearState:
        h, hidden = source.embed(self.embedding), []
        for layer in self.layers:
            h, trace = layer(h)
            hidden.append(layer.states.after(trace.u, source.lengths))  # type: ignore[union-attr, operator]
        return LinearState(tuple(hidden))

    def step(self, state: LinearState, token: Tensor, *, read: Read | None = None) -> Stepped:
        h, hidden, traces = self.embedding(token), [], []
        for layer, x in zip(self.layers, state.hidden, strict=True):
            h, after, trace = layer.step(h, x)  # type: ignore[operator]
            hidden.append(after)
            traces.append(trace)
        return Stepped(self.project(self.norm(h)), LinearState(tuple(hidden)), Trace(tuple(traces)))

    def sequential_steps(self, length: int) -> int:
        return self.config.n_layers  # every row of a layer at once, as a convolution
