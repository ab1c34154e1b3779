"""Alignment error rate against independent numbers, and piece weights turned into word links."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from models.training.align_metrics import AlignmentCounts, argmax_links, count_links, parse_links, to_words

ROOT = Path(__file__).resolve().parents[3]
CASES = json.loads((ROOT / "tests" / "golden" / "14_aer" / "cases.json").read_text(encoding="utf-8"))["cases"]


@dataclass(frozen=True)
class Piece:
    start: int
    stop: int


def pairs(links: list[list[int]] | None) -> list[tuple[int, int]]:
    return [(a, b) for a, b in links or []]


@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_golden_error_rate(case: dict) -> None:
    counts = count_links(pairs(case["hypothesis"]), pairs(case["sure"]), pairs(case["possible"]))
    assert counts.error_rate == pytest.approx(case["aer"], abs=1e-12)
    assert counts.precision == (None if case["precision"] is None else pytest.approx(case["precision"]))
    assert counts.recall == pytest.approx(case["recall"])


def test_possible_links_help_precision_and_never_recall() -> None:
    # A = {00, 11, 12}, S = {00, 21}, P adds {12}: 1 sure hit, 2 possible hits -> 1 - 3/5.
    counts = count_links([(0, 0), (1, 1), (1, 2)], [(0, 0), (2, 1)], [(1, 2)])
    assert counts == AlignmentCounts(proposed=3, sure=2, proposed_and_sure=1, proposed_and_possible=2)
    assert (counts.error_rate, counts.precision, counts.recall) == pytest.approx((0.4, 2 / 3, 0.5))


def test_a_set_pools_counts_and_does_not_average_rates() -> None:
    right = count_links([(0, 0)], [(0, 0)])
    wrong = count_links([(0, 1), (1, 0), (2, 0)], [(0, 0), (1, 1), (2, 2)])
    assert (right.error_rate, wrong.error_rate) == (0, 1)
    assert (right + wrong).error_rate == pytest.approx(1 - 2 / 8)
    assert sum([right, wrong], AlignmentCounts()) == right + wrong


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(ValueError, match="undefined"):
        _ = count_links([], []).error_rate


def test_words_sum_over_source_and_average_over_target() -> None:
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [0.0, 0.6, 0.4, 0.0]])
    words = to_words(weights, [Piece(0, 2), Piece(2, 3)], [Piece(0, 1), Piece(1, 3)])
    np.testing.assert_allclose(words, [[0.3, 0.35], [0.0, 1.0]])  # the fourth source piece is the end sign


def test_rows_still_sum_to_one_where_words_cover_the_source() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(7), size=5)
    words = to_words(weights, [Piece(0, 3), Piece(3, 5)], [Piece(0, 2), Piece(2, 6), Piece(6, 7)])
    np.testing.assert_allclose(words.sum(axis=1), 1)


@pytest.mark.parametrize("span", [Piece(0, 5), Piece(2, 2), Piece(-1, 1)])
def test_a_word_outside_the_matrix_is_refused(span: Piece) -> None:
    with pytest.raises(ValueError, match="covers pieces"):
        to_words(np.ones((4, 4)), [Piece(0, 1)], [span])
    with pytest.raises(ValueError, match="covers pieces"):
        to_words(np.ones((4, 4)), [span], [Piece(0, 1)])


def test_heads_must_be_chosen_before() -> None:
    with pytest.raises(ValueError, match="two axes"):
        to_words(np.ones((2, 4, 4)), [Piece(0, 1)], [Piece(0, 1)])
    with pytest.raises(ValueError, match="two axes"):
        argmax_links(np.ones((2, 4, 4)))


def test_argmax_links_point_from_source_to_target() -> None:
    weights = np.array([[0.1, 0.9, 0.0], [0.4, 0.4, 0.2], [0.0, 0.0, 0.0]])
    assert argmax_links(weights) == {(1, 0), (0, 1)}
    assert argmax_links(np.zeros((0, 3))) == frozenset()


def test_weights_to_error_rate_end_to_end() -> None:
    """was n't -> n' était pas: était right, ne and pas both on n't."""
    weights = np.array([[0.2, 0.8], [0.7, 0.3], [0.1, 0.9]])
    sure, possible = parse_links("0-1 1-0 1-2 0p0")
    links = argmax_links(to_words(weights, [Piece(t, t + 1) for t in range(3)], [Piece(0, 1), Piece(1, 2)]))
    assert count_links(links, sure, possible).error_rate == 0


def test_links_are_read_as_the_data_writes_them() -> None:
    sure, possible = parse_links("0-0 1p2 10-11")
    assert sure == {(0, 0), (10, 11)}
    assert possible == {(0, 0), (10, 11), (1, 2)}
