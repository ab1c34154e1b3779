"""How far apart two rows are in each family's graph, and how much of it must wait (0x06F, 0x07E, 0x07G).

    edges    least number of edges from an input row to an output row, over layers and along a layer's own chain
    layers   how many of them go up a layer; edges - layers are recurrent transitions
    waiting  longest chain of rows of one layer that need each other: 1 where all known rows run together

Both come from boolean relations and a breadth-first search, never from the formula that they illustrate: a graph
says what may be read and what must come first, not what a device takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from models.analysis import receptive
from models.layers import visibility

MAX_ROWS, MAX_RADIUS, MAX_GLOBAL = 512, 512, 8

Relation = np.ndarray  # (N, N) bool: row reads column


@dataclass(frozen=True)
class Family:
    """reads(level, N): which rows of the level below a row reads, level from 0. waits(N): which rows of its own level
    it needs first. Levels repeat until the farthest rows meet."""

    name: str
    reads: Callable[[int, int], Relation]
    waits: Callable[[int], Relation]


@dataclass(frozen=True)
class Route:
    """The shortest way between the two farthest rows, and the longest wait, of one family over N rows."""

    name: str
    edges: int
    layers: int
    waiting: int

    @property
    def transitions(self) -> int:
        """Edges along a layer's own chain."""
        return self.edges - self.layers

    @property
    def sequential(self) -> int:
        """Rows on the longest chain of the route's layers: one waits for its own layer's past and the layer below."""
        return self.layers + self.waiting - 1


def families(radius: int = 2, width: int = 3, global_rows: int = 1) -> tuple[Family, ...]:
    """The families of 0x06F and 0x07E. Raises ValueError for sizes out of bounds.

    radius: rows a restricted read sees on each side; width: of the convolutions; global_rows: how many, from row 0.
    """
    if not 1 <= radius <= MAX_RADIUS:
        raise ValueError(f"The window's radius must be from 1 to {MAX_RADIUS}, not {radius}.")
    if not 2 <= width <= receptive.MAX_WIDTH:
        raise ValueError(f"The width must be from 2 to {receptive.MAX_WIDTH}, not {width}.")
    if not 1 <= global_rows <= MAX_GLOBAL:
        raise ValueError(f"There must be 1 to {MAX_GLOBAL} global rows, not {global_rows}.")
    chosen = list(range(global_rows))

    def local(level: int, rows: int) -> Relation:
        return _array(visibility.window(rows, radius))

    def with_global(level: int, rows: int) -> Relation:
        return local(level, rows) | _array(visibility.global_rows(rows, chosen[:rows]))

    return (
        Family("Recurrence", lambda level, rows: np.eye(rows, dtype=bool), _chain),
        Family("Contiguous convolution", lambda level, rows: _convolved(rows, width, 1), _free),
        Family("Doubling dilation", lambda level, rows: _convolved(rows, width, 2**level), _free),
        Family("Dilation by powers of k", lambda level, rows: _convolved(rows, width, width**level), _free),
        Family("Causal self-attention", lambda level, rows: _array(visibility.causal(rows)), _free),
        Family("Self-attention", lambda level, rows: _array(visibility.full(rows)), _free),
        Family("Sliding window", local, _free),
        Family("Window and global rows", with_global, _free),
        Family("State space as recurrence", lambda level, rows: np.eye(rows, dtype=bool), _chain),
        Family("State space as convolution", lambda level, rows: _convolved(rows, rows, 1), _free),
    )


def route(family: Family, rows: int) -> Route:
    """From row 0 to the row that takes longest to hear of it, later rows all included. 2 to MAX_ROWS rows."""
    if not 2 <= rows <= MAX_ROWS:
        raise ValueError(f"There must be 2 to {MAX_ROWS} rows, not {rows}.")
    edges, layers = distances(family, rows, 0)
    farthest = int(edges.argmax())
    return Route(family.name, int(edges[farthest]), int(layers[farthest]), waiting(family.waits(rows)))


def distances(family: Family, rows: int, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges and layers of the shortest way from input row `start` to each row's output, -1 where there is none.

    Levels are added until every later row has heard of it; all families here read their own row, so none is lost.
    """
    own, far = family.waits(rows), rows * rows + 1
    now, best = np.full(rows, far), np.full(rows, far)
    now[start], layers = 0, np.full(rows, -1)
    for level in range(rows):
        now = _along(own, _up(family.reads(level, rows), now, far), far)
        better = now < best
        best, layers = np.minimum(best, now), np.where(better, level + 1, layers)
        if (best < far)[start:].all():
            break
    return np.where(best < far, best, -1), layers


def waiting(own: Relation) -> int:
    """Rows of the longest chain in which each needs the one before it (own is lower triangular): at least 1."""
    depth = np.ones(len(own), dtype=int)
    for row in range(len(own)):
        if own[row].any():
            depth[row] = depth[own[row]].max() + 1
    return int(depth.max())


def _up(reads: Relation, below: np.ndarray, far: int) -> np.ndarray:
    """One level higher: one edge more than the nearest row that is read."""
    return np.minimum(np.where(reads, below, far).min(axis=1) + 1, far)


def _along(own: Relation, level: np.ndarray, far: int) -> np.ndarray:
    """Ways that go on along the level's own chain, earlier rows first."""
    found = level.copy()
    for row in np.flatnonzero(own.any(axis=1)):
        found[row] = min(found[row], found[own[row]].min() + 1, far)
    return found


def _chain(rows: int) -> Relation:
    return np.eye(rows, k=-1, dtype=bool)


def _free(rows: int) -> Relation:
    return np.zeros((rows, rows), dtype=bool)


def _convolved(rows: int, width: int, dilation: int) -> Relation:
    """Row t reads t, t - d, .. t - (k-1) d where they exist."""
    back = np.subtract.outer(np.arange(rows), np.arange(rows))
    return (back >= 0) & (back % dilation == 0) & (back <= (width - 1) * dilation)


def _array(relation: torch.Tensor) -> Relation:
    return relation.numpy()
