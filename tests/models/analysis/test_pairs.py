"""Exact pair counts against the relations themselves, and the article's counts and work terms."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from models.analysis.pairs import crossing, pairs, window_reach, work
from models.analysis.reachability import reach
from models.layers import visibility
from tests.models.golden import article


@given(
    some.integers(1, 30), some.integers(0, 35), some.lists(some.integers(0, 29), max_size=4), some.booleans()
)
def test_counts_are_those_of_the_matrix(rows: int, radius: int, chosen: list[int], causal: bool) -> None:
    chosen = [place for place in chosen if place < rows]
    past = visibility.causal(rows) if causal else visibility.full(rows)
    local = visibility.window(rows, radius) & past
    matrix = local | visibility.global_rows(rows, chosen) & past
    counted = pairs(rows, radius, chosen, causal)
    assert counted.window == int(matrix.sum()) <= counted.bound
    assert counted.without_global == int(local.sum())
    assert counted.dense == rows * rows
    assert counted.causal == int(visibility.causal(rows).sum())
    assert counted.share == pytest.approx(float(matrix.double().mean()))


@pytest.mark.parametrize("name", ["sparse_edges_T5_r1", "sparse_edges_T9_r2", "sparse_edges_T4_r7"])
def test_the_articles_windows(name: str) -> None:
    given_, expected = article()[name]["inputs"], article()[name]["expected"]
    counted = pairs(given_["T"], given_["r"])
    assert counted.window == expected
    assert counted.bound == given_["T"] * (2 * given_["r"] + 1)


@pytest.mark.parametrize("name", ["causal_pairs_1", "causal_pairs_5", "causal_pairs_128"])
def test_the_articles_causal_pairs(name: str) -> None:
    assert pairs(article()[name]["inputs"]["n"], 0).causal == article()[name]["expected"]


@pytest.mark.parametrize("name", ["crossover_n128", "crossover_n2048"])
def test_the_articles_terms(name: str) -> None:
    n, d = article()[name]["inputs"]["n"], article()[name]["inputs"]["d"]
    found = work(n, d, 3, 64)
    assert [found.pairs, found.attention, found.recurrent] == article()[name]["expected"]
    assert found.attention_is_smaller is (n < crossing(d))
    assert found.convolution == 3 * found.recurrent
    assert found.restricted == n * 64 * d


def test_terms_meet_where_they_are_said_to() -> None:
    at = work(crossing(24), 24, 1, 5)
    assert at.attention == at.recurrent
    at = work(crossing(24, 5), 24, 5, 5)
    assert at.attention == at.convolution
    assert work(8, 4, 1, 100).restricted == work(8, 4, 1, 8).restricted == work(8, 4, 1, 1).attention


@pytest.mark.parametrize(("rows", "radius", "layers"), [(12, 2, 3), (12, 5, 4), (7, 0, 3), (9, 1, 0)])
def test_a_window_reaches_as_far_as_its_graph(rows: int, radius: int, layers: int) -> None:
    seen = reach([visibility.window(rows, radius)] * layers) if layers else torch.eye(rows).bool()
    assert window_reach(rows, radius, layers) == int(seen[0].nonzero().max())


def test_sizes_out_of_bounds_are_told() -> None:
    with pytest.raises(ValueError, match="number of rows must be from 1"):
        pairs(0, 1)
    with pytest.raises(ValueError, match="radius must be from 0"):
        pairs(4, -1)
    with pytest.raises(ValueError, match="Global rows must be from 0 to 3"):
        pairs(4, 1, [4])
    with pytest.raises(ValueError, match="width must be from 1"):
        work(4, 0, 1, 1)
