"""Filters against hand-computed numbers, and what each must leave alone."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from models.decoding import filters
from models.decoding.filters import REMOVED, Filters, banned, entropy

LOGITS = torch.tensor([[0.5, 0.25, 0.15, 0.1]], dtype=torch.float64).log()


def kept(logits: Tensor) -> list[int]:
    return (logits[0] != REMOVED).nonzero().squeeze(-1).tolist()


def test_temperature_squares_and_roots_the_odds() -> None:
    cold, hot = (filters.temperature(LOGITS, t).softmax(-1)[0] for t in (0.5, 2.0))
    assert float(cold[0] / cold[1]) == pytest.approx(4.0)
    assert float(hot[0] / hot[3]) == pytest.approx(math.sqrt(5))


@pytest.mark.parametrize(
    ("p", "left"), [(0.49, [0]), (0.51, [0, 1]), (0.76, [0, 1, 2]), (0.95, [0, 1, 2, 3])]
)
def test_top_p_keeps_the_token_that_crosses(p: float, left: list[int]) -> None:
    assert kept(filters.top_p(LOGITS, p)) == left


def test_top_k_keeps_ties_and_min_p_counts_from_the_largest() -> None:
    assert kept(filters.top_k(torch.tensor([[3.0, 1.0, 1.0, 0.0]]), 2)) == [0, 1, 2]
    assert kept(filters.top_k(LOGITS, 99)) == [0, 1, 2, 3]
    assert kept(filters.min_p(LOGITS, 0.29)) == [0, 1, 2]


def test_typical_may_drop_the_likeliest() -> None:
    """H = 1.2080; surprises 0.693, 1.386, 1.897, 2.303, so the distances are 0.515, 0.178, 0.689, 1.095."""
    assert float(entropy(LOGITS)) == pytest.approx(1.2080, abs=1e-4)
    assert kept(filters.typical(LOGITS, 0.2)) == [1]
    assert kept(filters.typical(LOGITS, 0.6)) == [0, 1]


def test_repetition_acts_once_for_each_token() -> None:
    logits = torch.tensor([[2.0, -2.0, 1.0], [2.0, -2.0, 1.0]])
    found = filters.repetition(logits, [[0, 1, 0], []], 2.0)
    assert found.tolist() == [[1.0, -4.0, 1.0], [2.0, -2.0, 1.0]]


@pytest.mark.parametrize(
    ("said", "n", "left_out"),
    [([7, 8, 7], 2, {8}), ([7, 8, 9, 7, 8], 3, {9}), ([7, 8, 7], 3, set()), ([7, 8], 1, {7, 8}), ([], 2, set()),
     ([7, 7], 2, {7})],
)  # fmt: skip
def test_what_would_complete_a_repeated_ngram(said: list[int], n: int, left_out: set[int]) -> None:
    assert banned(said, n) == left_out
    logits = filters.no_repeat(torch.zeros(1, 12), [said], n)
    assert set(range(12)) - set(kept(logits)) == left_out


def test_entropy_of_certainty_is_zero_and_of_a_uniform_row_the_logarithm() -> None:
    assert float(entropy(torch.tensor([[0.0, REMOVED, REMOVED]]))) == 0.0
    assert float(entropy(torch.zeros(1, 8))) == pytest.approx(math.log(8))


def test_stages_come_in_order_and_only_those_that_are_on() -> None:
    assert Filters().stages(LOGITS, [[]]) == []
    assert torch.equal(Filters().apply(LOGITS, [[]]), LOGITS)
    every = Filters(1.3, 2, 0.7, 3, 0.9, 0.05, 0.95)
    names = [stage.name for stage in every.stages(LOGITS, [[0, 1]])]
    assert names == [
        "repetition penalty", "no-repeat n-gram", "temperature", "top-k", "top-p", "min-p", "typical",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": 0}, {"repetition": -1}, {"top_k": -1}, {"no_repeat": -2}, {"top_p": 0}, {"top_p": 1.1},
     {"min_p": -0.1}, {"typical": 0}],
)  # fmt: skip
def test_values_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        Filters(**wrong)  # type: ignore[arg-type]


rows = st.lists(st.floats(-8, 8), min_size=4, max_size=9)


@settings(max_examples=150, deadline=None)
@given(rows, st.integers(1, 9), st.floats(0.05, 1), st.floats(0, 1), st.floats(0.05, 1), st.floats(0.2, 3))
def test_something_always_stays_and_what_stays_keeps_its_odds(
    row: list[float], k: int, p: float, share: float, mass: float, t: float
) -> None:
    logits = torch.tensor([row], dtype=torch.float64)
    for removing in (Filters(top_k=k), Filters(top_p=p), Filters(min_p=share), Filters(typical=mass)):
        found = removing.apply(logits, [[]])
        left = found != REMOVED
        assert left.any()
        assert torch.equal(found[left], logits[left])
    every = Filters(temperature=t, top_k=k, top_p=p, min_p=share)
    assert int(every.apply(logits, [[]]).argmax()) in (logits[0] == logits.max()).nonzero().squeeze(-1)
