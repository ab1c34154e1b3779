"""Greedy decoding is stepping by hand."""

from __future__ import annotations

import pytest
import torch

from models.catalog import TRANSLATORS, Entry, entry
from models.decoding.greedy import greedy, greedy_batch
from models.interface import Read, Rows, System
from models.training.tokenizer import BOS, EOS
from tests.models.small import VOCABULARY, small, source

EACH = pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)


def by_hand(system: System, rows: Rows, length: int) -> list[int]:
    state, token, tokens = system.read(rows), BOS, []
    for _ in range(length):
        stepped = system.step(state, torch.tensor([token]))
        state, token = stepped.state, int(stepped.logits.argmax())
        tokens.append(token)
        if token == EOS:
            break
    return tokens


@EACH
def test_greedy_is_stepping_by_hand(item: Entry) -> None:
    system, rows = small(item), source(5)
    found = greedy(system, system.read(rows), 12)
    assert found.tokens == by_hand(system, rows, 12)
    assert len(found.tokens) == len(found.logits) == len(found.traces) == len(found.seconds)
    assert found.logits.shape[1] == VOCABULARY
    assert [int(row.argmax()) for row in found.logits] == found.tokens
    target_in = torch.tensor([[BOS, *found.tokens[:-1]]])
    torch.testing.assert_close(found.logits, system.score(rows, target_in).logits[0], rtol=0, atol=1e-10)


def test_the_end_counts_as_a_decision_and_stops() -> None:
    rows = source(5)
    system = small(entry("rnn_search"))
    system.output_table()[1][EOS] = 60.0
    found = greedy(system, system.read(rows), 12)
    assert (found.tokens, found.ended) == ([EOS], "eos")
    system.output_table()[1][EOS] = -60.0
    found = greedy(system, system.read(rows), 3)
    assert (len(found.tokens), found.ended) == (3, "length")
    assert EOS not in found.tokens


def test_an_end_at_the_last_decision_is_an_end() -> None:
    system = small(entry("luong"))
    rows = source(4)
    found = greedy(system, system.read(rows), 1, prefix=[EOS])
    assert (found.tokens, found.ended) == ([EOS], "eos")


@EACH
def test_a_forced_beginning_is_kept_and_continued(item: Entry) -> None:
    system, rows = small(item), source(5)
    system.output_table()[1][EOS] = -60.0
    plain = greedy(system, system.read(rows), 8).tokens
    prefix = [9, 30, 11]
    found = greedy(system, system.read(rows), 8, prefix=prefix)
    assert found.tokens[:3] == prefix
    again = torch.tensor([[BOS, *found.tokens[:-1]]])
    assert system.score(rows, again).logits[0, 3:].argmax(-1).tolist() == found.tokens[3:]
    assert greedy(system, system.read(rows), 8, prefix=plain[:4]).tokens == plain


def test_a_forced_end_ends() -> None:
    system, rows = small(entry("transformer")), source(5)
    found = greedy(system, system.read(rows), 8, prefix=[9, 30, EOS])
    assert (found.tokens, found.ended) == ([9, 30, EOS], "eos")
    assert len(found.traces) == 3


def test_a_read_may_be_changed_at_one_decision() -> None:
    system, rows = small(entry("rnn_search")), source(5)
    system.output_table()[1][EOS] = -60.0
    bias = torch.zeros(1, 5).double()
    bias[0, 3] = 40.0
    plain = greedy(system, system.read(rows), 4)
    forced = greedy(system, system.read(rows), 4, read=lambda t: Read(bias=bias) if t == 2 else None)
    assert forced.tokens[:2] == plain.tokens[:2]
    weights = [trace.attention.weights[0, 3] for trace in forced.traces]
    assert weights[2] > 0.99
    assert torch.equal(forced.traces[1].attention.weights, plain.traces[1].attention.weights)


@EACH
def test_a_batch_decodes_each_request_as_alone(item: Entry) -> None:
    system, lengths = small(item, seed=2), (3, 9, 1, 6)
    rows = source(*lengths)
    system.output_table()[1][EOS] += 1.0
    found = greedy_batch(system, rows, 7)
    for b, n in enumerate(lengths):
        alone = by_hand(system, Rows(rows.ids[b : b + 1, :n], rows.valid[b : b + 1, :n]), 7)
        assert found[b] == [t for t in alone if t != EOS]


def test_a_request_that_has_ended_stays_ended_while_others_go_on() -> None:
    rows = source(7, 3)
    alone = [Rows(rows.ids[b : b + 1, :n], rows.valid[b : b + 1, :n]) for b, n in enumerate((7, 3))]
    for seed in range(20):
        system = small(entry("rnn_encoder_decoder"), seed=seed)
        system.output_table()[1][EOS] += 1.0
        lengths = {len(by_hand(system, one, 8)) for one in alone}
        if len(lengths) == 2:
            break
    assert len(lengths) == 2
    assert greedy_batch(system, rows, 8) == [
        [t for t in by_hand(system, one, 8) if t != EOS] for one in alone
    ]
