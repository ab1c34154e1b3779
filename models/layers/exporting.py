"""What differs while a system is exported as a graph (models/execution/export.py): loops over rows stay loops.

A Python loop would be unrolled for the length of the example, so a graph would serve no other. While exporting, a
recurrence is written as one scan over the rows instead; and checks that look at values are left to the caller.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch._higher_order_ops.scan import scan as scan_rows

Kept = tuple[Tensor, ...]


def exporting() -> bool:
    """Whether this forward pass is being written down as a graph."""
    return torch.compiler.is_exporting()


def along(
    step: Callable[[Kept, Tensor], Kept], start: Kept, x: Tensor, valid: Tensor, backwards: bool = False
) -> tuple[Kept, Kept]:
    """The states after the last row, and those after every row (B, T, ...), of a recurrence over x (B, T, d).

    A row that is not valid (B, T) leaves the states as they are.
    """

    def one(kept: Kept, row: tuple[Tensor, Tensor]) -> tuple[Kept, Kept]:
        value, real = row
        new = tuple(
            torch.where(real.unsqueeze(-1), a, b) for a, b in zip(step(kept, value), kept, strict=True)
        )
        return new, tuple(part.clone() for part in new)

    rows = (x.transpose(0, 1), valid.transpose(0, 1))
    begin = tuple(part.clone() for part in start)  # a scan refuses one tensor as two of its states
    last, every = scan_rows(one, begin, rows, dim=0, reverse=backwards)
    return tuple(last), tuple(part.transpose(0, 1) for part in every)
