"""Prefill, cached decode, recomputation and continuous batching give one answer, for every generating system."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from models.catalog import TRANSLATORS, Entry, entry
from models.execution.calls import Call, Meter, Streams, measure
from models.execution.joining import join
from models.execution.phases import Requests, cached, continuous, last_valid, readable_rows, recomputed
from models.execution.update import learner, training, update
from models.interface import Rows, System
from models.training.corpus import Batch, pad
from models.training.tokenizer import BOS, EOS
from tests.models.small import small, tokens

EACH = pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)
CANNOT_JOIN = {"transformer", "t5"}  # no mask over the cache's own target rows


def ragged(ends: bool = True) -> Requests:
    """Three requests whose sources, forced beginnings and bounds all differ."""
    sources = tuple((*tokens(n - 1, n), EOS) for n in (6, 2, 4))
    prefixes = (tuple(tokens(1, 50)), (), tuple(tokens(3, 51)))
    return Requests(sources, prefixes, (5, 7, 3), ends)


def alone(asked: Requests, b: int) -> Requests:
    return Requests(asked.sources[b : b + 1], asked.prefixes[b : b + 1], asked.most[b : b + 1], asked.ends)


def operations(call: Call) -> int:
    assert call.flops is not None
    return call.flops


def run(schedule: Any) -> Streams:
    return schedule(Meter(counting=False))


@EACH
def test_cached_recomputed_and_continuous_decide_what_each_request_decides_alone(item: Entry) -> None:
    system, asked = small(item), ragged(ends=False)
    expected = [run(recomputed(system, alone(asked, b))).tokens[0] for b in range(3)]
    assert [len(e) for e in expected] == [6 + 1 + 1 + 5, 2 + 1 + 7, 4 + 1 + 3 + 3]
    for schedule in (
        cached(system, asked),
        recomputed(system, asked),
        continuous(system, asked, 1),
        continuous(system, asked, 2),
        continuous(system, asked, 3),
    ):
        assert list(run(schedule).tokens) == expected


@EACH
def test_cached_logits_are_the_recomputed_ones_at_each_requests_last_valid_row(item: Entry) -> None:
    system, asked = small(item), ragged()
    rows = asked.rows(torch.device("cpu"))
    targets = [[BOS, *tokens(n, n)] for n in (2, 5, 3)]
    target = Rows(*pad(targets))
    features, _ = system.features(rows, target)
    recomputed_logits = system.project(last_valid(features, target))
    for b, own in enumerate(targets):
        state = system.read(Rows(*pad([asked.sources[b]])))
        for token in own:
            stepped = system.step(state, torch.tensor([token]))
            state = stepped.state
        torch.testing.assert_close(recomputed_logits[b], stepped.logits[0], rtol=0, atol=1e-10)
    wrong = system.project(features[:, -1])
    assert (wrong[0] - recomputed_logits[0]).abs().max() > 1e-3  # the padded row decides something else
    torch.testing.assert_close(
        wrong[1], recomputed_logits[1], rtol=0, atol=1e-10
    )  # the longest has no padding


@EACH
def test_which_states_can_share_a_batch(item: Entry) -> None:
    system = small(item)
    first = system.read(Rows(*pad([[*tokens(6, 1), EOS]])))
    first = system.step(first, torch.tensor([BOS])).state
    second = system.read(Rows(*pad([[*tokens(3, 2), EOS]])))
    if item.slug in CANNOT_JOIN:
        with pytest.raises(ValueError, match="no mask"):
            join(first, second)
        return
    both = system.step(join(first, second), torch.tensor([7, BOS])).logits
    apart = [system.step(first, torch.tensor([7])).logits, system.step(second, torch.tensor([BOS])).logits]
    torch.testing.assert_close(both, torch.cat(apart), rtol=0, atol=1e-10)


def test_an_end_of_sequence_gives_its_place_to_the_next_in_line() -> None:
    system, asked = small(entry("gpt")), ragged(ends=False)
    found = measure("served", continuous(system, asked, 2), repeats=1, warm_up=1)
    phases = [c.facts.phase for c in found.calls]
    assert phases.count("prefill") == 3
    assert phases[:2] == ["prefill", "prefill"] and phases.index("prefill", 2) > 4
    widths = [c.facts.computed for c in found.calls if c.facts.phase == "decode"]
    assert max(widths) == 2 and 1 in widths
    assert sum(c.facts.decided for c in found.calls) == 5 + 7 + 3


@EACH
def test_what_each_call_is_handed_reads_and_keeps(item: Entry) -> None:
    system, asked = small(item), ragged(ends=False)
    streams = run(cached(system, asked))
    told = readable_rows(system, asked, streams)
    kept = measure("kept", cached(system, asked, told), repeats=1, warm_up=0)
    again = measure("again", recomputed(system, asked, told), repeats=1, warm_up=0)
    first, *rest = kept.calls
    assert first.facts.phase == "prefill" and first.facts.supplied == 12 and first.facts.computed == 18
    assert first.facts.decided == 0 and first.facts.after > first.facts.before == 0
    assert all(c.facts.computed == 3 and c.facts.supplied <= 3 for c in rest)
    assert sum(c.facts.decided for c in rest) == sum(c.facts.decided for c in again.calls) == 15
    assert all(a.facts.after == b.facts.before for a, b in zip(kept.calls, kept.calls[1:], strict=False))
    assert all(c.facts.before == c.facts.after == 0 for c in again.calls)
    assert operations(again.calls[-1]) > operations(rest[-1]) > 0
    for call in (*rest, *again.calls):
        for share in call.facts.shares:
            assert (
                share.readable and share.readable[-1][1] == share.supplied[1]
            )  # it reads itself, and nothing later
            assert share.known >= share.supplied[1]


def test_readable_rows_are_those_of_the_mechanism() -> None:
    asked = Requests.one([*tokens(4, 1), EOS], 6, ends=False)
    expected = {
        "rnn_encoder_decoder": ((8, 9),),  # everything else comes through the state
        "rnn_search": ((0, 5), (8, 9)),
        "transformer": ((0, 9),),
        "gpt": ((0, 9),),
        "mamba": ((5, 9),),  # a window of four rows
        "s4": ((8, 9),),
        "convs2s": ((0, 5), (6, 9)),  # the source, and a window of three
    }
    for slug, rows in expected.items():
        system = small(entry(slug))
        told = readable_rows(system, asked, run(cached(system, asked)))
        assert told(0, 3) == rows, slug


def batch() -> Batch:
    targets = [tokens(n, n) for n in (5, 3)]
    target_in, known = pad([[BOS, *t] for t in targets])
    labels, _ = pad([[*t, EOS] for t in targets])
    return Batch(Rows(*pad([[*tokens(4, 1), EOS], [*tokens(2, 2), EOS]])), target_in, labels, known)


@EACH
def test_a_training_step_has_four_phases_and_leaves_the_shipped_weights(item: Entry) -> None:
    system = small(item)
    before = [p.clone() for p in system.parameters()]
    found = measure("step", training(system, batch()), repeats=1, warm_up=0)
    forward, loss, backward, change = found.calls
    assert [c.facts.phase for c in found.calls] == ["forward", "loss", "backward", "update"]
    assert forward.facts.supplied == 5 + 3 + 6 + 4 and forward.facts.decided == 0
    assert forward.facts.after > 0 and loss.facts.before == forward.facts.after
    parameters = sum(p.nbytes for p in system.parameters())
    assert 0 < backward.facts.after <= parameters
    assert change.facts.after > 2.9 * backward.facts.after  # two moments beside each gradient
    assert operations(backward) > operations(forward) > 0
    assert all(torch.equal(a, b) for a, b in zip(before, system.parameters(), strict=True))
    assert not any(p.requires_grad or p.grad is not None for p in system.parameters())


@EACH
def test_an_update_on_a_copy_lowers_the_loss_of_its_own_batch(item: Entry) -> None:
    system: System = small(item)
    before = [p.clone() for p in system.parameters()]
    started, ended = update(system, batch(), rate=1e-3)
    assert ended < started
    assert all(torch.equal(a, b) for a, b in zip(before, system.parameters(), strict=True))
    assert learner(system) is not system
