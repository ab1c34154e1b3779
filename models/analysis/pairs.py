"""Pairs that an attention graph allows, counted exactly, and the leading work terms (0x07E, 0x07F, 0x07H, 0x0C.2).

    |E|  = sum_i [ min(T-1, i+r) - max(0, i-r) + 1 ]  <=  T (2r + 1)     sliding window of radius r, both sides
    dense T^2,  causal T (T+1) / 2,  reach after L layers: L r rows each way

    recurrent n d^2,  attention n^2 d,  convolution k n d^2,  restricted m n d (m memory rows a query)

A term counts multiply-accumulates of one selected part up to a constant. It is not the work of a layer and not time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MAX_ROWS, MAX_LAYERS, MAX_SIZE = 1_048_576, 1_024, 1_048_576


@dataclass(frozen=True)
class Pairs:
    """Allowed pairs of T rows under each graph. `bound` is T (2r + 1) and T (2r + 1) + 2 g T with global rows;
    `without_global` is the window alone."""

    window: int
    bound: int
    without_global: int
    dense: int
    causal: int

    @property
    def share(self) -> float:
        """Of the dense pairs."""
        return self.window / self.dense


def pairs(rows: int, radius: int, global_rows: Sequence[int] = (), causal: bool = False) -> Pairs:
    """Counts for `rows` rows, window radius, and the places of global rows. causal: nobody reads a later row.

    Exact, by each row's own count, without building the matrix. Raises ValueError out of bounds.
    """
    _bounded("number of rows", rows, 1, MAX_ROWS)
    _bounded("radius", radius, 0, MAX_ROWS)
    chosen = np.unique(np.asarray(global_rows, dtype=np.int64))
    if len(chosen) and not 0 <= chosen[0] <= chosen[-1] < rows:
        raise ValueError(f"Global rows must be from 0 to {rows - 1:,}.")
    width = radius + 1 if causal else 2 * radius + 1
    return Pairs(
        window=int(_row_counts(rows, radius, chosen, causal).sum()),
        bound=rows * width + 2 * len(chosen) * rows,
        without_global=int(_row_counts(rows, radius, chosen[:0], causal).sum()),
        dense=rows * rows,
        causal=rows * (rows + 1) // 2,
    )


def _row_counts(rows: int, radius: int, chosen: np.ndarray, causal: bool) -> np.ndarray:
    """Memory rows of each query row, (rows,): its window, the global rows outside it, and all for a global row."""
    row = np.arange(rows)
    first, last = np.maximum(0, row - radius), row if causal else np.minimum(rows - 1, row + radius)
    visible = row if causal else np.full(rows, rows - 1)  # the last row that may be read at all
    readable = np.searchsorted(chosen, visible, side="right")
    inside = np.searchsorted(chosen, last, side="right") - np.searchsorted(chosen, first, side="left")
    counts = last - first + 1 + readable - inside
    counts[chosen] = visible[chosen] + 1
    return counts


def window_reach(rows: int, radius: int, layers: int) -> int:
    """Farthest distance one row can hear over after `layers` windows: L r, and never beyond the other end."""
    _bounded("number of rows", rows, 1, MAX_ROWS)
    _bounded("radius", radius, 0, MAX_ROWS)
    _bounded("number of layers", layers, 0, MAX_LAYERS)
    return min(rows - 1, radius * layers)


@dataclass(frozen=True)
class Work:
    """Leading terms of one layer: multiply-accumulates of the selected part, exact integers."""

    recurrent: int
    attention: int
    convolution: int
    restricted: int
    pairs: int

    @property
    def attention_is_smaller(self) -> bool:
        """n^2 d < n d^2, which is n < d: a comparison of two terms, not of two layers."""
        return self.attention < self.recurrent


def work(rows: int, width: int, kernel: int, memory: int) -> Work:
    """Terms for n rows of width d, kernel k, and `memory` rows a restricted query may read (at most n are counted).

    Raises ValueError out of bounds.
    """
    for name, value in (("number of rows", rows), ("width", width), ("kernel", kernel), ("memory", memory)):
        _bounded(name, value, 1, MAX_SIZE)
    n, d, seen = rows, width, min(memory, rows)
    return Work(n * d * d, n * n * d, kernel * n * d * d, seen * n * d, n * n)


def crossing(width: int, kernel: int = 1) -> int:
    """The n at which n^2 d meets k n d^2: n = k d; with k = 1 the recurrent term's n = d."""
    _bounded("width", width, 1, MAX_SIZE)
    _bounded("kernel", kernel, 1, MAX_SIZE)
    return kernel * width


def _bounded(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValueError(f"The {name} must be from {least} to {most:,}, not {value:,}.")
