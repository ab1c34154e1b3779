"""One two-state layer run by both schedules (0x0C.3), and the same layer when its A changes from row to row (0x0C.4).

Everything is float64: what differs between the two schedules is rounding, and is shown as it comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from app.experiments.run import Check
from app.experiments.state_space.options import STEPS
from models.layers import state_space as equations

EXACT = 1e-9


@dataclass(frozen=True)
class Ask:
    """The visitor's layer in hundredths: A (4), B (2), C (2), D, the step, u (48); vary is the percent A swings by."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: tuple[int, ...]
    d: int
    delta: int
    method: str
    u: tuple[int, ...]
    vary: int = 0


@dataclass(frozen=True)
class Schedules:
    """T = 48 positions. kernel, convolved, recurrent (T,); states (T, 2); response (T, T): what u_s adds to y_t.

    a_bar (2, 2) and b_bar (2,) belong to row 0; radius is the greatest |eigenvalue| of a_bar; spread the largest
    difference along a diagonal of the response, which is 0 where one kernel exists.
    """

    u: np.ndarray
    a_bar: np.ndarray
    b_bar: np.ndarray
    radius: float
    kernel: np.ndarray
    convolved: np.ndarray
    recurrent: np.ndarray
    states: np.ndarray
    response: np.ndarray
    spread: float
    mismatch: float
    checks: tuple[Check, ...]


@torch.inference_mode()
def schedules(ask: Ask) -> Schedules:
    """Both schedules of the visitor's layer. Raises ValueError with a sentence where the step makes A singular."""
    A, B, C, u = (_numbers(v) for v in (ask.a, ask.b, ask.c, ask.u))
    A, D, swing = A.view(2, 2), ask.d / 100, _swing(ask.vary)
    bars = [equations.discretize(A * float(s), B, ask.delta / 100, ask.method) for s in swing]
    a_bar, b_bar = torch.stack([a for a, _ in bars]), torch.stack([b for _, b in bars])
    kernel = equations.kernel(a_bar[0], b_bar[0], C, STEPS)
    convolved = equations.convolve(u, kernel) + D * u
    states, recurrent = equations.recur(a_bar, b_bar, C, D, u)
    response = (equations.response(a_bar, b_bar, C, STEPS) + D * torch.eye(STEPS, dtype=C.dtype)).numpy()
    spread = max(float(np.ptp(np.diagonal(response, -k))) for k in range(STEPS))
    mismatch = float((convolved - recurrent).abs().max())
    size = max(1.0, float(recurrent.abs().max()))
    return Schedules(
        u.numpy(), a_bar[0].numpy(), b_bar[0].numpy(), float(torch.linalg.eigvals(a_bar[0]).abs().max()),
        kernel.numpy(), convolved.numpy(), recurrent.numpy(), states.numpy(), response, spread, mismatch,
        _checks(ask, mismatch / size, response, u.numpy(), recurrent.numpy(), size),
    )  # fmt: skip


def _numbers(hundredths: tuple[int, ...]) -> torch.Tensor:
    return torch.tensor(hundredths, dtype=torch.float64) / 100


def _swing(vary: int) -> np.ndarray:
    """The factor on A at each row: 1 where nothing varies, otherwise a slow wave of the chosen depth."""
    return 1 + vary / 100 * np.sin(2 * np.pi * np.arange(STEPS) / 24)


def _checks(
    ask: Ask, off: float, response: np.ndarray, u: np.ndarray, recurrent: np.ndarray, size: float
) -> tuple[Check, ...]:
    later = float(np.abs(np.triu(response, 1)).max())
    linear = float(np.abs(response @ u - recurrent).max()) / size
    return (
        Check("convolution = recurrence", off <= EXACT, off,
              "Largest difference of the two outputs, relative to the largest output."),
        Check("linear", linear <= EXACT, linear,
              "Largest difference between the output and the sum of the answers to each input alone."),
        Check("no later input", later == 0.0, later, "Largest answer of an output to an input after it."),
    )  # fmt: skip
