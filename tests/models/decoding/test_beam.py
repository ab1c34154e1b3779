"""Beam search against greedy decoding and against every sequence there is."""

from __future__ import annotations

import itertools

import pytest
import torch

from models.catalog import TRANSLATORS, Entry, entry
from models.decoding.beam import Ranking, Request, beam_search
from models.decoding.greedy import greedy
from models.interface import Rows, System
from models.training.tokenizer import BOS, EOS
from tests.models.small import small, source

LENGTH, V = 4, 6


def tiny(item: Entry, seed: int = 0) -> tuple[System, Rows]:
    """A vocabulary of six, the control tokens among them: few enough sequences to look at all."""
    rows = Rows(torch.tensor([[3, 5, 4, EOS]]), torch.ones(1, 4, dtype=torch.bool))
    return small(item, seed=seed, vocab_size=V), rows


def log_probs(system: System, rows: Rows, sequences: list[tuple[int, ...]]) -> list[float]:
    """log p of sequences of one length, scored as one batch."""
    count, labels = len(sequences), torch.tensor(sequences)
    target_in = torch.cat([torch.full((count, 1), BOS), labels[:, :-1]], dim=1)
    many = Rows(rows.ids.expand(count, -1), rows.valid.expand(count, -1))
    rows_p = torch.log_softmax(system.score(many, target_in).logits, -1)
    return rows_p.gather(2, labels.unsqueeze(2)).sum((1, 2)).tolist()


def every_sequence(system: System, rows: Rows) -> dict[tuple[int, ...], float]:
    """log p of every finished sequence of at most LENGTH decisions, and of every unfinished one of LENGTH."""
    others = [t for t in range(V) if t != EOS]
    groups: list[list[tuple[int, ...]]] = [
        [(*s, EOS) for s in itertools.product(others, repeat=n)] for n in range(LENGTH)
    ]
    groups.append(list(itertools.product(others, repeat=LENGTH)))
    return {s: p for group in groups for s, p in zip(group, log_probs(system, rows, group), strict=True)}


@pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)
def test_a_beam_of_one_is_greedy(item: Entry) -> None:
    system, rows = small(item, seed=1), source(6)
    plain = greedy(system, system.read(rows), 9)
    (best,) = beam_search(system, rows, width=1, max_length=9)[0]
    assert best.tokens == [t for t in plain.tokens if t != EOS]
    assert best.finished is (plain.ended == "eos")
    chosen = torch.log_softmax(plain.logits, -1).gather(1, torch.tensor(plain.tokens).unsqueeze(1))
    assert best.log_prob == pytest.approx(float(chosen.sum()), abs=1e-5)


@pytest.mark.parametrize("slug", ["rnn_search", "transformer", "lstm_seq2seq"])
def test_a_wide_beam_finds_the_best_of_all_sequences(slug: str) -> None:
    """Wide enough to prune nothing: what it returns first is the argmax of log p / length^penalty."""
    system, rows = tiny(entry(slug))
    everything = every_sequence(system, rows)
    for penalty in (0.0, 1.0):
        found = beam_search(system, rows, width=len(everything), max_length=LENGTH, penalty=penalty)[0]
        assert len(found) == len(everything)
        for hypothesis in found:
            tokens = tuple(hypothesis.tokens) + ((EOS,) if hypothesis.finished else ())
            assert hypothesis.log_prob == pytest.approx(everything[tokens], abs=1e-5)
            assert hypothesis.score == pytest.approx(everything[tokens] / len(tokens) ** penalty, abs=1e-5)
        best = max(everything, key=lambda s: everything[s] / len(s) ** penalty)
        assert tuple(found[0].tokens) == tuple(t for t in best if t != EOS)
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


def test_a_beam_may_beat_greedy_and_greedy_is_not_the_most_probable() -> None:
    """0x01B: somewhere among random systems the locally best first token is not the best beginning."""
    better = 0
    for seed in range(12):
        system, rows = tiny(entry("rnn_search"), seed)
        one = beam_search(system, rows, width=1, max_length=LENGTH, penalty=0)[0][0]
        four = beam_search(system, rows, width=40, max_length=LENGTH, penalty=0)[0][0]
        assert four.log_prob >= one.log_prob - 1e-6
        better += four.log_prob > one.log_prob + 1e-3
    assert better > 0


@pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)
def test_a_batch_of_requests_is_searched_as_each_alone(item: Entry) -> None:
    system, lengths = small(item, seed=3), (3, 8, 5)
    system.output_table()[1][EOS] += 1.0
    rows = source(*lengths)
    together = beam_search(system, rows, width=3, max_length=6)
    for b, n in enumerate(lengths):
        alone = beam_search(system, Rows(rows.ids[b : b + 1, :n], rows.valid[b : b + 1, :n]), 3, 6)[0]
        assert [(h.tokens, h.finished) for h in alone] == [(h.tokens, h.finished) for h in together[b]]
        assert [h.log_prob for h in alone] == pytest.approx([h.log_prob for h in together[b]], abs=1e-5)


def test_hypotheses_differ_and_are_no_more_than_the_width() -> None:
    system, rows = small(entry("luong")), source(5)
    found = beam_search(system, rows, width=5, max_length=4)[0]
    assert len(found) == 5
    assert len({(tuple(h.tokens), h.finished) for h in found}) == 5
    assert all(len(h.tokens) <= 4 and EOS not in h.tokens for h in found)


def test_a_length_that_is_over_still_gives_a_hypothesis() -> None:
    system, rows = small(entry("transformer")), source(5)
    system.output_table()[1][EOS] = -60.0
    found = beam_search(system, rows, width=3, max_length=1)[0]
    assert [len(h.tokens) for h in found] == [1, 1, 1]
    assert not any(h.finished for h in found)


def test_an_end_below_the_width_does_not_finish() -> None:
    request = Request(Ranking(width=2))
    request.extend([-0.1, -0.2, -0.3], [0, 0, 0], [7, 8, EOS])
    assert (request.live, request.found) == ([[7], [8]], [])
    request.extend([-0.2, -0.3, -0.9, -1.0], [1, 0, 1, 0], [EOS, 9, 9, 9])
    assert [h.tokens for h in request.found] == [[8]]
    assert request.found[0].score == pytest.approx(-0.1)
    assert request.live == [[7, 9], [8, 9]]
    assert request.parents == [0, 1]
