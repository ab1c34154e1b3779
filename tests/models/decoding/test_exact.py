"""The exact search against every sequence there is, and what it says when it was stopped."""

from __future__ import annotations

import math

import pytest

from models.catalog import TRANSLATORS, Entry, entry
from models.decoding.beam import Ranking, search
from models.decoding.exact import exact
from models.training.tokenizer import EOS
from tests.models.decoding.test_beam import LENGTH, every_sequence, tiny


@pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)
def test_the_most_probable_finished_sequences_are_found(item: Entry) -> None:
    system, rows = tiny(item, seed=3)
    finished = {s: p for s, p in every_sequence(system, rows).items() if s[-1] == EOS}
    best = sorted(finished, key=lambda s: -finished[s])[:5]
    found = exact(system, rows, returned=5, max_length=LENGTH)
    assert found.proved
    assert [(*one.tokens, EOS) for one in found.best] == best
    assert [one.log_prob for one in found.best] == pytest.approx([finished[s] for s in best], abs=1e-6)
    assert found.opened < 1 + 5 + 25 + 125  # prefixes that could not hold a better one were left alone


def test_a_floor_spares_work_and_changes_nothing_above_it() -> None:
    system, rows = tiny(entry("rnn_search"), seed=1)
    free = exact(system, rows, max_length=LENGTH)
    beam = search(system, rows, Ranking(1, 0.0), LENGTH)[0].hypotheses
    floor = max((h.log_prob for h in beam if h.finished), default=-30.0) - 1e-3
    helped = exact(system, rows, max_length=LENGTH, floor=floor)
    assert helped.best[0].tokens == free.best[0].tokens
    assert helped.proved
    assert helped.opened <= free.opened
    above = exact(system, rows, max_length=LENGTH, floor=-1e-9)
    assert above.proved
    assert above.opened == 1


def test_a_search_that_was_stopped_says_what_could_still_be() -> None:
    system, rows = tiny(entry("luong"), seed=2)
    free, stopped = (exact(system, rows, max_length=LENGTH, budget=n) for n in (5000, 1))
    assert free.proved
    assert not stopped.proved
    assert stopped.opened == 1
    assert free.best[0].log_prob <= max(stopped.open_log_prob, stopped.best[0].log_prob)
    assert stopped.best[0].tokens == []  # the root alone was opened: nothing but the end can be finished


def test_a_given_beginning_is_kept_and_counted() -> None:
    system, rows = tiny(entry("transformer"), seed=5)
    finished = {s: p for s, p in every_sequence(system, rows).items() if s[-1] == EOS and s[:2] == (3, 4)}
    best = max(finished, key=lambda s: finished[s])
    found = exact(system, rows, max_length=LENGTH, prefix=(3, 4))
    assert (*found.best[0].tokens, EOS) == best
    assert found.best[0].log_prob == pytest.approx(finished[best], abs=1e-6)


def test_a_beginning_without_room_for_an_end_finishes_nothing() -> None:
    system, rows = tiny(entry("gpt"))
    found = exact(system, rows, max_length=2, prefix=(3, 4))
    assert (found.best, found.open_log_prob) == ([], -math.inf)


def test_progress_is_told() -> None:
    shares: list[float] = []
    system, rows = tiny(entry("convs2s"))
    exact(system, rows, max_length=LENGTH, budget=80, report=shares.append)
    assert shares
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1
