"""Distances and rank correlations against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from models.analysis.distances import (
    LN2,
    jensen_shannon,
    jensen_shannon_divergence,
    kendall,
    ranks,
    spearman,
    total_variation,
)

HALF, SURE = np.array([0.5, 0.5]), np.array([1.0, 0.0])
rows = arrays(float, 5, elements=some.floats(0.001, 1)).map(lambda a: a / a.sum())


def test_total_variation_is_half_the_sum_of_differences() -> None:
    assert total_variation(HALF, SURE) == pytest.approx(0.5)
    assert total_variation(np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2])) == pytest.approx(0.3)
    assert total_variation(np.stack([HALF, SURE]), SURE).tolist() == pytest.approx([0.5, 0.0])


def test_jensen_shannon_by_hand() -> None:
    # mixture (3/4, 1/4): KL(half) = ln(2/3)/2 + ln(2)/2, KL(sure) = ln(4/3)
    by_hand = ((np.log(2 / 3) + np.log(2)) / 2 + np.log(4 / 3)) / 2
    assert by_hand == pytest.approx(0.215762, abs=1e-6)
    assert jensen_shannon_divergence(HALF, SURE) == pytest.approx(by_hand)
    assert jensen_shannon(HALF, SURE) == pytest.approx(np.sqrt(by_hand / LN2))


def test_rows_with_nothing_in_common_are_at_distance_one() -> None:
    assert jensen_shannon(SURE, SURE[::-1]) == pytest.approx(1.0)
    assert jensen_shannon_divergence(SURE, SURE[::-1]) == pytest.approx(LN2)
    assert total_variation(SURE, SURE[::-1]) == pytest.approx(1.0)


@given(rows, rows, rows)
def test_the_distance_is_a_metric(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> None:
    assert jensen_shannon(p, p) == pytest.approx(0.0, abs=1e-7)
    assert jensen_shannon(p, q) == pytest.approx(jensen_shannon(q, p))
    assert jensen_shannon(p, r) <= jensen_shannon(p, q) + jensen_shannon(q, r) + 1e-9


def test_kendall_counts_pairs() -> None:
    assert kendall(np.array([1, 2, 3, 4]), np.array([1, 3, 2, 4])) == pytest.approx(4 / 6)
    assert kendall(np.array([1, 1, 2]), np.array([1, 2, 3])) == pytest.approx(2 / np.sqrt(6))
    assert kendall(np.array([1, 2, 3]), np.array([3, 2, 1])) == pytest.approx(-1.0)


def test_spearman_correlates_ranks() -> None:
    assert spearman(np.array([1, 2, 3, 4]), np.array([10, 30, 20, 400])) == pytest.approx(0.8)
    assert spearman(np.array([1, 2, 3]), np.array([-1, -2, -3])) == pytest.approx(-1.0)


def test_equal_values_share_their_mean_rank() -> None:
    assert ranks(np.array([5.0, 1.0, 5.0, 9.0])).tolist() == [2.5, 1.0, 2.5, 4.0]


@pytest.mark.parametrize("measure", [kendall, spearman])
def test_a_constant_ranks_nothing(measure) -> None:
    assert measure(np.ones(4), np.arange(4)) is None
    assert measure(np.array([1.0]), np.array([2.0])) is None
