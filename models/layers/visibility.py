"""Which row may read which (0x09A): query rows vertical, key columns horizontal, True = may read.

Structural relations are composed with key validity here and handed to the softmax as they are; polarity is
converted only where a kernel wants another one.
"""

from __future__ import annotations

import torch
from torch import Tensor


class EmptyRowError(ValueError):
    """A query row with no visible key: a softmax over nothing has no value."""


def check_rows(visible: Tensor) -> None:
    """Raise EmptyRowError, naming the first row, when a query row of `visible` (..., S) may read nothing."""
    seen = visible.any(dim=-1)
    if not bool(seen.all()):
        where = (~seen).nonzero()[0].tolist()
        raise EmptyRowError(
            f"Query row {where} has no visible key, so its weights are undefined. Let it read at least one row."
        )


def causal(length: int, device: torch.device | None = None) -> Tensor:
    """Row t reads rows 0..t: (T, T)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def keys(valid: Tensor) -> Tensor:
    """Key validity (B, S) as a mask for every head and query row: (B, 1, 1, S)."""
    return valid[:, None, None, :]
