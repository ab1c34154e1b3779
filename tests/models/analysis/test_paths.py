"""Shortest ways and longest waits of each family, searched in its graph, against the orders of 0x06F and 0x07E."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.analysis.paths import distances, families, route, waiting
from models.analysis.receptive import fewest

NAMES = [one.name for one in families()]


def found(rows: int, **sizes: int) -> dict[str, tuple[int, int, int]]:
    routes = [route(one, rows) for one in families(**sizes)]
    return {one.name: (one.edges, one.layers, one.waiting) for one in routes}


@pytest.mark.parametrize("rows", [2, 9, 64])
def test_ways_between_the_farthest_rows(rows: int) -> None:
    ways = found(rows, radius=2, width=3)
    chain = (rows, 1, rows)  # one edge in, then a transition for every row between
    assert ways["Recurrence"] == ways["State space as recurrence"] == chain
    contiguous, doubling, powers = (
        fewest(rule, rows - 1, 3) for rule in ("contiguous", "doubling", "powers of k")
    )
    assert ways["Contiguous convolution"] == (contiguous, contiguous, 1)
    assert ways["Doubling dilation"] == (doubling, doubling, 1)
    assert ways["Dilation by powers of k"] == (powers, powers, 1)
    for name in ("Self-attention", "Causal self-attention", "State space as convolution"):
        assert ways[name] == (1, 1, 1)
    local = math.ceil((rows - 1) / 2)
    assert ways["Sliding window"] == (local, local, 1)
    assert ways["Window and global rows"] == (1, 1, 1)  # row 0 is global itself: everyone reads it


def test_a_global_row_makes_every_way_two_layers() -> None:
    windowed = families(radius=1)[NAMES.index("Window and global rows")]
    edges, layers = distances(windowed, 40, 20)
    assert edges.max() == layers.max() == 2
    assert edges[[0, 19, 20, 21]].tolist() == [1, 1, 1, 1]


def test_a_recurrence_passes_on_a_row_at_a_time_and_never_back() -> None:
    edges, layers = distances(families()[0], 6, 2)
    assert edges.tolist() == [-1, -1, 1, 2, 3, 4]
    assert layers.tolist() == [-1, -1, 1, 1, 1, 1]
    one = route(families()[0], 6)
    assert (one.transitions, one.sequential) == (5, 6)


def test_waiting_is_the_longest_chain() -> None:
    own = np.zeros((5, 5), dtype=bool)
    own[1, 0], own[3, 1], own[4, 2] = True, True, True
    assert waiting(own) == 3
    assert waiting(np.zeros((4, 4), dtype=bool)) == 1


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"radius": 0}, "radius must be from 1"),
        ({"width": 1}, "width must be"),
        ({"global_rows": 9}, "1 to 8 global"),
    ],
)
def test_sizes_out_of_bounds_are_told(sizes: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        families(**sizes)
    with pytest.raises(ValueError, match="2 to 512 rows, not 1"):
        route(families()[0], 1)
