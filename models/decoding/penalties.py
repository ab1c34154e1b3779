"""What ranks finished hypotheses of different length: length norms and coverage penalties.

A sum of log-probabilities falls with every token, so a plain sum favours short outputs. Glossary: alpha `penalty`,
beta `strength`, |Y| `length` (the end counted), coverage_s = sum_t alpha_ts, how much of source row s was read.

Wu et al. 2016 (GNMT), Eq. 14: s(Y, X) = log P(Y | X) / lp(Y) + cp(X; Y).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Norm = Literal["power", "gnmt"]


def length_norm(length: int, penalty: float, norm: Norm = "power") -> float:
    """What log p is divided by: length^penalty, or ((5 + length) / 6)^penalty. Penalty 0 divides by 1."""
    return float(length if norm == "power" else (5 + length) / 6) ** penalty


def coverage(weights: Tensor, strength: float) -> Tensor:
    """GNMT's cp, at most 0: strength sum_s log min(sum_t weights_ts, 1). weights (..., T, S) -> (...)."""
    return strength * weights.sum(-2).clamp(max=1.0).log().sum(-1)


def summary_coverage(weights: Tensor, strength: float) -> Tensor:
    """Gehrmann et al. 2018, Eq. 7, as a term to add, at most 0: -strength (sum_s max(coverage_s, 1) - S)."""
    read = weights.sum(-2)
    return -strength * (torch.clamp(read, min=1.0).sum(-1) - read.shape[-1])
