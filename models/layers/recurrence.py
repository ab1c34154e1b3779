"""Recurrent transitions: one learned update applied along a sequence (0x03).

Sources: Elman 1990; Cho et al. 2014, Eq. 5-8 (0x03D); Hochreiter and Schmidhuber 1997 without a forget
gate; Gers et al. 2000 with one, Eq. of 0x03E. The functions are the equations; the modules only own the
parameters and call them.

Glossary: x is the input's share of the pre-activation, W x_t + b, already projected for all steps at once;
U acts on the state; r, z are reset and update gates (z carries: h_t = z h_(t-1) + (1 - z) h~_t);
i, f, o are input, forget and output gates, g the cell input, c the cell.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.exporting import along, exporting


class GRUStep(NamedTuple):
    reset: Tensor
    update: Tensor
    candidate: Tensor
    hidden: Tensor


class LSTMStep(NamedTuple):
    hidden: Tensor
    cell: Tensor


def elman(x: Tensor, hidden: Tensor, U: Tensor) -> Tensor:
    """h_t = tanh(W x_t + b + U h_(t-1)). x and hidden (B, d), U (d, d)."""
    return torch.tanh(x + F.linear(hidden, U))


def gru_cho(x: Tensor, hidden: Tensor, U_gates: Tensor, U: Tensor) -> GRUStep:
    """Cho's gated unit, the reset gate before the matrix (0x03D).

    x (B, 3d) ordered r, z, candidate; hidden (B, d); U_gates (2d, d) ordered r, z; U (d, d).
    """
    width = hidden.shape[-1]
    raw, x_candidate = x.split([2 * width, width], dim=-1)
    reset, update = torch.sigmoid(raw + F.linear(hidden, U_gates)).chunk(2, dim=-1)
    candidate = torch.tanh(x_candidate + F.linear(reset * hidden, U))
    return GRUStep(reset, update, candidate, update * hidden + (1 - update) * candidate)


def gru_reset_after(x: Tensor, hidden: Tensor, U_gates: Tensor, U: Tensor, b: Tensor) -> GRUStep:
    """The cuDNN and torch variant: h~ = tanh(W x + r (U h + b)), the reset gate after the matrix.

    Same shapes as `gru_cho`; b (3d,) is the bias on the state's side, whose last part the reset gate multiplies.
    """
    width = hidden.shape[-1]
    raw, x_candidate = x.split([2 * width, width], dim=-1)
    reset, update = torch.sigmoid(raw + F.linear(hidden, U_gates, b[: 2 * width])).chunk(2, dim=-1)
    candidate = torch.tanh(x_candidate + reset * F.linear(hidden, U, b[2 * width :]))
    return GRUStep(reset, update, candidate, update * hidden + (1 - update) * candidate)


def lstm(x: Tensor, hidden: Tensor, cell: Tensor, U: Tensor) -> LSTMStep:
    """The modern cell: c_t = f c_(t-1) + i g, h_t = o tanh(c_t). x (B, 4d) and U (4d, d) ordered i, f, o, g."""
    width = hidden.shape[-1]
    gates, g = (x + F.linear(hidden, U)).split([3 * width, width], dim=-1)
    i, f, o = torch.sigmoid(gates).chunk(3, dim=-1)
    cell = f * cell + i * torch.tanh(g)
    return LSTMStep(o * torch.tanh(cell), cell)


def lstm_1997(x: Tensor, hidden: Tensor, cell: Tensor, U: Tensor) -> LSTMStep:
    """The cell before the forget gate: c_t = c_(t-1) + i g. x (B, 3d) and U (3d, d) ordered i, o, g."""
    width = hidden.shape[-1]
    gates, g = (x + F.linear(hidden, U)).split([2 * width, width], dim=-1)
    i, o = torch.sigmoid(gates).chunk(2, dim=-1)
    cell = cell + i * torch.tanh(g)
    return LSTMStep(o * torch.tanh(cell), cell)


def lstm_peephole(x: Tensor, hidden: Tensor, cell: Tensor, U: Tensor, P: Tensor) -> LSTMStep:
    """The cell whose gates also see the cell (Gers and Schmidhuber 2000): the output gate sees the new one.

    Shapes as `lstm`; P (3d,) ordered i, f, o holds one weight a channel and gate.
    """
    width = hidden.shape[-1]
    i, f, o, g = (x + F.linear(hidden, U)).chunk(4, dim=-1)
    seen = P.split(width)
    i, f = torch.sigmoid(i + seen[0] * cell), torch.sigmoid(f + seen[1] * cell)
    cell = f * cell + i * torch.tanh(g)
    return LSTMStep(torch.sigmoid(o + seen[2] * cell) * torch.tanh(cell), cell)


def _orthogonal(blocks: int, d: int) -> nn.Parameter:
    """blocks orthogonal (d, d) matrices under each other."""
    return nn.Parameter(torch.cat([nn.init.orthogonal_(torch.empty(d, d)) for _ in range(blocks)]))


class _Cell(nn.Module):
    """Owns W (n d, d_in), U (m d, d) and b (n d,) of a transition with n input blocks, m of them sharing U."""

    blocks: int

    def __init__(self, d_in: int, d_hidden: int, state_blocks: int | None = None) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.W = nn.Parameter(torch.empty(self.blocks * d_hidden, d_in))
        self.U = _orthogonal(state_blocks or self.blocks, d_hidden)
        self.b = nn.Parameter(torch.zeros(self.blocks * d_hidden))
        nn.init.xavier_uniform_(self.W)

    def project(self, inputs: Tensor) -> Tensor:
        """The input's share of every pre-activation, (..., d_in) -> (..., n d): no state is needed for it."""
        return F.linear(inputs, self.W, self.b)


class ElmanCell(_Cell):
    blocks = 1

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        return elman(x, hidden, self.U)


class GRUCell(_Cell):
    """Gated recurrent unit; `variant` says on which side of the matrix the reset gate stands."""

    blocks = 3

    def __init__(self, d_in: int, d_hidden: int, variant: Literal["cho", "reset_after"] = "cho") -> None:
        super().__init__(d_in, d_hidden, state_blocks=1)
        self.U_gates = _orthogonal(2, d_hidden)
        self.variant = variant
        if variant == "reset_after":
            self.b_hidden = nn.Parameter(torch.zeros(self.blocks * d_hidden))

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        return self.detailed(x, hidden).hidden

    def detailed(self, x: Tensor, hidden: Tensor) -> GRUStep:
        if self.variant == "reset_after":
            return gru_reset_after(x, hidden, self.U_gates, self.U, self.b_hidden)
        return gru_cho(x, hidden, self.U_gates, self.U)


class LSTMCell(_Cell):
    """The modern cell; its forget bias starts at 1 so that a new cell carries before it learns to drop."""

    blocks = 4

    def __init__(self, d_in: int, d_hidden: int) -> None:
        super().__init__(d_in, d_hidden)
        self.b.data[d_hidden : 2 * d_hidden] = 1.0

    def forward(self, x: Tensor, state: LSTMStep) -> LSTMStep:
        return lstm(x, state.hidden, state.cell, self.U)


class LSTM1997Cell(_Cell):
    blocks = 3

    def forward(self, x: Tensor, state: LSTMStep) -> LSTMStep:
        return lstm_1997(x, state.hidden, state.cell, self.U)


def _order(length: int, backwards: bool) -> list[int]:
    return list(range(length - 1, -1, -1)) if backwards else list(range(length))


def run_gru(
    cell: GRUCell | ElmanCell, inputs: Tensor, valid: Tensor, *, backwards: bool = False
) -> tuple[Tensor, Tensor]:
    """States along a padded batch: rows (B, T, d) and the state after the last valid row (B, d).

    A padded row carries the state unchanged, so the result of a row never depends on its batch; read
    backwards, a sequence starts at its last valid row from the zero state.
    """
    hidden = inputs.new_zeros(inputs.shape[0], cell.d_hidden)
    if exporting():
        (hidden,), (every,) = along(
            lambda kept, x: (cell(x, *kept),), (hidden,), cell.project(inputs), valid, backwards
        )
        return every, hidden
    x = cell.project(inputs).unbind(1)
    keep, full = valid.unsqueeze(-1), valid.all(dim=0).tolist()
    rows: list[Tensor] = [hidden] * inputs.shape[1]
    for t in _order(inputs.shape[1], backwards):
        new = cell(x[t], hidden)
        hidden = new if full[t] else torch.where(keep[:, t], new, hidden)
        rows[t] = hidden
    return torch.stack(rows, dim=1), hidden


def run_lstm(
    cell: LSTMCell | LSTM1997Cell, inputs: Tensor, valid: Tensor, start: LSTMStep | None = None
) -> tuple[Tensor, LSTMStep]:
    """Hidden rows (B, T, d) of an LSTM over a padded batch, and (h, c) after the last valid row."""
    zero = inputs.new_zeros(inputs.shape[0], cell.d_hidden)
    state: LSTMStep = start or LSTMStep(zero, zero)
    if exporting():
        kept, (every, _) = along(
            lambda kept, x: cell(x, LSTMStep(*kept)), tuple(state), cell.project(inputs), valid
        )
        return every, LSTMStep(*kept)
    x = cell.project(inputs).unbind(1)
    keep, full = valid.unsqueeze(-1), valid.all(dim=0).tolist()
    rows: list[Tensor] = []
    for t in range(inputs.shape[1]):
        new = cell(x[t], state)
        if not full[t]:
            new = LSTMStep(*(torch.where(keep[:, t], a, b) for a, b in zip(new, state, strict=True)))
        state = new
        rows.append(state.hidden)
    return torch.stack(rows, dim=1), state
