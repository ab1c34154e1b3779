"""The synthetic read of 0x02E: one memory H under weights that may be changed, beside its last row as fixed context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from models.layers.attention import mix

ROWS, CHANNELS, STEPS = 4, 3, 3
HUNDREDTHS = 100


@dataclass(frozen=True)
class Mixed:
    """H (S, d), alpha (T, S), contexts c_t = sum_j alpha_tj h_j (T, d), and the last row of H as fixed context (d,)."""

    H: np.ndarray
    alpha: np.ndarray
    contexts: np.ndarray
    fixed: np.ndarray

    @property
    def sums(self) -> np.ndarray:
        """Sum of each row of alpha, (T,): 1 where the read is a weighted mean."""
        return self.alpha.sum(axis=1)

    def terms(self, step: int, channel: int) -> str:
        """The products behind one number, as they are added."""
        pairs = zip(self.alpha[step], self.H[:, channel], strict=True)
        total = self.contexts[step, channel]
        return " + ".join(f"{a:g}·{h:g}" for a, h in pairs) + f" = {total:.4g}"


def mixed(h: tuple[int, ...], alpha: tuple[int, ...]) -> Mixed:
    """Rows and weights in hundredths, row by row: 4 x 3 and 3 x 4. Raises ValueError on another count."""
    if len(h) != ROWS * CHANNELS or len(alpha) != STEPS * ROWS:
        raise ValueError(f"H needs {ROWS * CHANNELS} numbers and the weights {STEPS * ROWS}.")
    H = torch.tensor(h, dtype=torch.float64).view(1, ROWS, CHANNELS) / HUNDREDTHS
    weights = torch.tensor(alpha, dtype=torch.float64).view(STEPS, ROWS) / HUNDREDTHS
    contexts = mix(weights, H.expand(STEPS, -1, -1))
    return Mixed(H[0].numpy(), weights.numpy(), contexts.numpy(), H[0, -1].numpy())
