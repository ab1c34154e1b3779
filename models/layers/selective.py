"""The selective state update of Mamba (Gu and Dao 2023; 0x0C.4), by three schedules that give one answer.

    Abar_t = exp(Delta_t A),  Bbar_t u_t = Delta_t B_t u_t,  x_t = Abar_t x_(t-1) + Bbar_t u_t,  y_t = C_t x_t + D u_t

Delta_t, B_t and C_t depend on the input, so no fixed kernel exists. `scan_loop` is the equation; `scan` runs known rows
in chunks, keeps one state a chunk and works the others out again in its own backward pass; `scan_step` is one row.

Glossary: u, delta (B, T, D); A (D, N) negative; B, C (B, T, N); state x (B, D, N). A row with delta 0 leaves the state
as it is, which is how padding is carried over.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from models.layers.exporting import exporting, scan_rows

CHUNK = 4  # rows whose (B, D, N) terms are held at once; more leave the processor's cache and are slower


def scan_step(u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """One row: u, delta (B, D), B, C (B, N), x (B, D, N) -> y (B, D) and the next state."""
    a_bar = torch.exp(delta.unsqueeze(-1) * A)
    x = a_bar * x + (delta * u).unsqueeze(-1) * B.unsqueeze(1)
    return (x * C.unsqueeze(1)).sum(-1), x


def scan_loop(
    u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, x: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The equation, row by row: y (B, T, D) and the last state (B, D, N)."""
    x = u.new_zeros(u.shape[0], *A.shape) if x is None else x
    rows = []
    for t in range(u.shape[1]):
        y, x = scan_step(u[:, t], delta[:, t], A, B[:, t], C[:, t], x)
        rows.append(y)
    return torch.stack(rows, dim=1), x


def scan(
    u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, x: Tensor | None = None, chunk: int = CHUNK
) -> tuple[Tensor, Tensor]:
    """All known rows: y (B, T, D) and the last state (B, D, N). Raises ValueError for a chunk below 1.

    Memory beyond the inputs is B D N times (chunk + T / chunk) numbers, in both directions.
    """
    if chunk < 1:
        raise ValueError("A scan needs chunks of at least one row.")
    x = u.new_zeros(u.shape[0], *A.shape) if x is None else x
    if exporting():
        return _exported(u, delta, A, B, C, x)
    with torch.autocast(u.device.type, enabled=False):  # a product of many factors needs its full precision
        return _Scan.apply(u, delta, A, B, C, x, chunk)  # type: ignore[no-any-return]


def _exported(u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """`scan` as one loop over rows in a graph."""

    def one(state: Tensor, row: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        a, step, write, read = row
        y, after = scan_step(a, step, A, write, read, state)
        return after, y

    last, y = scan_rows(one, x.clone(), tuple(part.transpose(0, 1) for part in (u, delta, B, C)), dim=0)
    return y.transpose(0, 1), last


def survival(delta: Tensor, A: Tensor) -> Tensor:
    """How much of what row s wrote is still in the state after row t: exp(A sum_(s < r <= t) Delta_r), the mean over
    channels and states, (T, T) of one request's delta (T, D). Zero above the diagonal; 1 on it."""
    total = delta.cumsum(0)  # (T, D)
    between = total.unsqueeze(1) - total.unsqueeze(0)  # (T, T, D)
    kept = torch.stack([torch.exp(between * A[:, n]).mean(-1) for n in range(A.shape[1])]).mean(0)
    return kept.tril()


# Inside, channels stand last, (t, B, N, D): the long axis is the one that a processor walks along.


def _run(u: Tensor, delta: Tensor, A: Tensor, B: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Abar_t (t, B, N, D), and the state before the chunk with all of its states, (t + 1, B, N, D). x (B, N, D)."""
    step = delta.transpose(0, 1)  # (t, B, D)
    a_bar = (step.unsqueeze(2) * A.T.contiguous()).exp_()
    states = torch.empty(len(step) + 1, *x.shape, dtype=x.dtype, device=x.device)
    states[0] = x
    torch.mul((step * u.transpose(0, 1)).unsqueeze(2), B.transpose(0, 1).unsqueeze(-1), out=states[1:])
    for t in range(len(step)):
        states[t + 1].addcmul_(a_bar[t], states[t])
    return a_bar, states


def _inwards(x: Tensor) -> Tensor:
    return x.transpose(1, 2).contiguous()


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, x: Tensor, chunk: int
    ) -> tuple[Tensor, Tensor]:
        starts, rows, x = [], [], _inwards(x)
        for begin in range(0, u.shape[1], chunk):
            part = slice(begin, begin + chunk)
            starts.append(x)
            _, states = _run(u[:, part], delta[:, part], A, B[:, part], x)
            rows.append((C[:, part].transpose(0, 1).unsqueeze(2) @ states[1:]).squeeze(2).transpose(0, 1))
            x = states[-1].clone()
        ctx.save_for_backward(u, delta, A, B, C, *starts)
        ctx.chunk = chunk
        return torch.cat(rows, dim=1), x.transpose(1, 2)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        """The same recurrence from the end: g_t = C_t dy_t + Abar_(t+1) g_(t+1), where g_t = dL / dx_t."""
        gy, g = slopes[0], _inwards(slopes[1])
        u, delta, A, B, C, *starts = ctx.saved_tensors
        found = [torch.empty_like(one) for one in (u, delta, B, C)]
        gA = torch.zeros_like(A)
        for index in reversed(range(len(starts))):
            part = slice(index * ctx.chunk, (index + 1) * ctx.chunk)
            inputs = (u[:, part], delta[:, part], A, B[:, part], C[:, part])
            *grads, own, g = _chunk_backward(*inputs, starts[index], gy[:, part], g)
            gA += own
            for whole, piece in zip(found, grads, strict=True):
                whole[:, part] = piece
        gu, gdelta, gB, gC = found
        return gu, gdelta, gA, gB, gC, g.transpose(1, 2), None


def _chunk_backward(
    u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, x: Tensor, gy: Tensor, g: Tensor
) -> tuple[Tensor, ...]:
    """Slopes of u, delta, B, C (B, t, .), of A, and of the state before the chunk. g: the slope of the one after it."""
    a_bar, states = _run(u, delta, A, B, x)
    step, into, gy, write = (part.transpose(0, 1) for part in (delta, u, gy, B))
    gC = (states[1:] @ gy.unsqueeze(-1)).squeeze(-1)  # (t, B, N)
    slopes = gy.unsqueeze(2) * C.transpose(0, 1).unsqueeze(-1)  # (t, B, N, D), becomes dL / dx_t
    slopes[-1].add_(g)
    for t in reversed(range(len(slopes) - 1)):
        slopes[t].addcmul_(slopes[t + 1], a_bar[t + 1])
    g = slopes[0] * a_bar[0]
    g_written = (write.unsqueeze(2) @ slopes).squeeze(2)  # (t, B, D), slope of delta u
    gB = (slopes @ (step * into).unsqueeze(-1)).squeeze(-1)
    exponent = a_bar.mul_(slopes).mul_(states[:-1])  # slope of delta A
    gA = (exponent * step.unsqueeze(2)).sum((0, 1)).T
    gdelta = g_written * into + exponent.mul_(A.T).sum(2)
    grads = (g_written * step, gdelta, gB, gC)
    return (*(one.transpose(0, 1) for one in grads), gA, g)
