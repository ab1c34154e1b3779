"""One policy object over every system: what must hold between the kinds of choice."""

from __future__ import annotations

import math

import pytest
import torch

from models.catalog import TRANSLATORS, Entry, entry
from models.decoding.filters import REMOVED, Filters
from models.decoding.policy import KINDS, Kind, Policy, decode
from models.interface import Rows, System
from models.training.tokenizer import BOS, EOS
from tests.models.decoding.test_beam import LENGTH, every_sequence, tiny
from tests.models.decoding.test_decoding_golden import NOTHING, Table
from tests.models.small import small, source

EACH = pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)


def scored(system: System, rows: Rows, tokens: tuple[int, ...]) -> list[float]:
    """log p of each token, teacher-forced together."""
    target_in = torch.tensor([[BOS, *tokens[:-1]]])
    log_probs = system.score(rows, target_in).logits[0].log_softmax(-1)
    return log_probs.gather(-1, torch.tensor(tokens).unsqueeze(-1)).squeeze(-1).tolist()


@EACH
@pytest.mark.parametrize("kind", KINDS)
def test_every_outcome_carries_the_models_own_log_probability(item: Entry, kind: Kind) -> None:
    """Whatever chose it, and whatever was filtered: the sum of one decision at a time is what `score` says."""
    system, rows = small(item, seed=4), source(6)
    system.output_table()[1][EOS] += 1.0
    filters = Filters(temperature=1.4, top_k=9, top_p=0.9, repetition=1.2, no_repeat=2)
    found = decode(system, rows, Policy(kind, filters, (9, 30), 7, seed=3, count=3, width=3, budget=64))
    for outcome in found.outcomes:
        assert outcome.tokens[:2] == (9, 30)
        assert outcome.ended == ("eos" if outcome.tokens[-1] == EOS else "length")
        assert outcome.log_prob == pytest.approx(sum(scored(system, rows, outcome.tokens)), abs=1e-6)
    first = found.outcomes[0]
    assert [step.token for step in found.steps] == list(first.tokens)
    assert sum(step.log_prob for step in found.steps) == pytest.approx(first.log_prob, abs=1e-6)


@EACH
def test_one_choice_left_is_greedy(item: Entry) -> None:
    system, rows = small(item, seed=5), source(5)
    plain = decode(system, rows, Policy(max_length=8)).outcomes[0]
    others = (
        Policy("sample", Filters(top_k=1), max_length=8, seed=11),
        Policy("sample", Filters(temperature=1e-4), max_length=8, seed=12),
        Policy("beam", width=1, max_length=8),
        Policy("contrastive", alpha=0.0, max_length=8),
        Policy("contrastive", among=1, max_length=8),
    )
    for policy in others:
        assert decode(system, rows, policy).outcomes[0].tokens == plain.tokens, policy.kind


@EACH
def test_a_seed_gives_its_text_whatever_is_drawn_beside_it(item: Entry) -> None:
    system, rows = small(item, seed=6), source(5)
    three, five = (
        [o.tokens for o in decode(system, rows, Policy("sample", seed=8, count=n, max_length=6)).outcomes]
        for n in (3, 5)
    )
    other = decode(system, rows, Policy("sample", seed=9, count=3, max_length=6)).outcomes
    assert five[:3] == three
    assert len(set(five)) > 1
    assert [o.tokens for o in other] != three


def test_samples_come_as_often_as_they_are_probable() -> None:
    """First tokens of 3,000 draws against the model's first row: within four standard errors, every one of six."""
    system, rows = tiny(entry("rnn_search"), seed=2)
    found = decode(system, rows, Policy("sample", count=3000, max_length=1)).outcomes
    p = decode(system, rows, Policy()).steps[0].logits.softmax(-1)
    for token, mass in enumerate(p.tolist()):
        share = sum(o.tokens == (token,) for o in found) / 3000
        assert abs(share - mass) < 4 * math.sqrt(mass * (1 - mass) / 3000) + 1e-9


def test_nothing_that_was_removed_is_drawn() -> None:
    system, rows = small(entry("transformer"), seed=1), source(5)
    policy = Policy("sample", Filters(top_k=3, no_repeat=1), max_length=6, count=20)
    for outcome in decode(system, rows, policy).outcomes:
        assert len(set(outcome.tokens)) == len(outcome.tokens)
    for step in decode(system, rows, policy).steps:
        assert step.stages[-1].name == "top-k"
        assert step.stages[-1].logits[step.token] != REMOVED


@EACH
def test_a_beam_wide_enough_is_exhaustive_and_agrees_with_the_exact_search(item: Entry) -> None:
    system, rows = tiny(item, seed=7)
    everything = every_sequence(system, rows)
    wide = Policy("beam", max_length=LENGTH, width=len(everything), count=len(everything), penalty=0.0)
    beam = decode(system, rows, wide).outcomes
    assert {o.tokens for o in beam} == set(everything)
    assert [o.log_prob for o in beam] == pytest.approx(sorted(everything.values(), reverse=True), abs=1e-6)
    proved = decode(system, rows, Policy("exact", max_length=LENGTH, count=2, width=2))
    assert proved.proof is not None
    assert proved.proof.proved
    assert [o.tokens for o in proved.outcomes] == [o.tokens for o in beam if o.ended == "eos"][:2]


def test_the_tree_holds_every_hypothesis_and_what_was_pruned() -> None:
    system, rows = small(entry("rnn_search"), seed=2), source(6)
    system.output_table()[1][EOS] += 3.5
    found = decode(system, rows, Policy("beam", width=3, count=3, max_length=6, prefix=(9,)))
    assert len(found.outcomes) == 3
    for outcome in found.outcomes:
        path, node = [], outcome.node
        assert node is not None
        assert found.tree[node].log_prob == pytest.approx(outcome.log_prob)
        while node != -1:
            assert found.tree[node].fate != "pruned"
            path.append(found.tree[node].token)
            node = found.tree[node].parent
        assert (9, *reversed(path)) == outcome.tokens
    assert all(node.parent < place for place, node in enumerate(found.tree))
    assert {node.fate for node in found.tree} == {"kept", "finished", "pruned"}
    opened = {node.parent for node in found.tree}
    assert not any(found.tree[k].fate == "pruned" for k in opened if k >= 0)


def test_a_beam_repeats_no_ngram_and_keeps_the_models_values() -> None:
    system, rows = small(entry("lstm_seq2seq"), seed=1), source(5)
    system.output_table()[1][EOS] = -60.0
    plain, never = (
        decode(system, rows, Policy("beam", Filters(no_repeat=n), width=3, count=3, max_length=12)).outcomes
        for n in (0, 1)
    )
    assert any(len(set(o.tokens)) < 12 for o in plain)
    assert all(len(set(o.tokens)) == 12 for o in never)


def test_the_most_probable_token_at_each_step_is_not_the_most_probable_sequence() -> None:
    """0x01B: among a dozen random systems, one at least where greedy, ended, is beaten."""
    beaten = 0
    for seed in range(12):
        system, rows = tiny(entry("rnn_search"), seed)
        best = decode(system, rows, Policy("exact", max_length=LENGTH))
        greedy = decode(system, rows, Policy(max_length=LENGTH)).outcomes[0]
        assert best.proof is not None
        assert best.proof.proved
        if greedy.ended == "eos":
            assert best.outcomes[0].log_prob >= greedy.log_prob - 1e-9
            beaten += best.outcomes[0].log_prob > greedy.log_prob + 1e-3
    assert beaten > 0


def test_without_the_stop_event_a_beginning_is_more_probable_than_the_text() -> None:
    """0x01A: p(Merci) counts every text that begins so; p(Merci, EOS) only the one that stops."""
    system, rows = tiny(entry("transformer"), seed=3)
    whole = decode(system, rows, Policy("forced", prefix=(3, EOS))).outcomes[0]
    begun = decode(system, rows, Policy("forced", prefix=(3,))).outcomes[0]
    assert (whole.ended, begun.ended) == ("eos", "length")
    every = every_sequence(system, rows)
    assert sum(math.exp(p) for s, p in every.items() if s[0] == 3) == pytest.approx(math.exp(begun.log_prob))
    assert math.exp(whole.log_prob) == pytest.approx(math.exp(every[(3, EOS)]))
    assert whole.log_prob < begun.log_prob


def test_a_text_that_is_given_whole_is_not_continued() -> None:
    system, rows = small(entry("gpt")), source(5)
    for kind in KINDS:
        found = decode(system, rows, Policy(kind, prefix=(9, EOS), max_length=5)).outcomes
        assert [o.tokens for o in found] == [(9, EOS)]
        full = decode(system, rows, Policy(kind, prefix=(9, 30), max_length=2)).outcomes
        assert [(o.tokens, o.ended) for o in full] == [((9, 30), "length")]


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "forced"}, {"width": 0}, {"max_length": 0}, {"prefix": (5, EOS, 5)}, {"prefix": (5, 6), "max_length": 1}],
)  # fmt: skip
def test_a_policy_that_means_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        Policy(**wrong)  # type: ignore[arg-type]


def test_by_hand_greedy_takes_the_better_step_and_the_worse_text() -> None:
    """p(3) = .5 and p(4) = .4, but after 3 the end has .4 and after 4 it has .9: .5 x .4 = .20 < .4 x .9 = .36."""
    p = torch.full((6, 6), 1e-9, dtype=torch.float64)
    p[5, [3, 4, 0]] = torch.tensor([0.5, 0.4, 0.1], dtype=torch.float64)
    p[3, [0, 3, 5]] = torch.tensor([0.4, 0.3, 0.3], dtype=torch.float64)
    p[4, [0, 5]] = torch.tensor([0.9, 0.1], dtype=torch.float64)
    system = Table(p.log().expand(6, 6, 6), prompt=5)
    greedy = decode(system, NOTHING, Policy(max_length=2)).outcomes[0]
    assert (greedy.tokens, math.exp(greedy.log_prob)) == ((3, EOS), pytest.approx(0.20, abs=1e-6))
    for policy in (Policy("beam", width=2, penalty=0, max_length=2), Policy("exact", max_length=2)):
        best = decode(system, NOTHING, policy).outcomes[0]
        assert (best.tokens, math.exp(best.log_prob)) == ((4, EOS), pytest.approx(0.36, abs=1e-6))
    stopless = decode(system, NOTHING, Policy("forced", prefix=(3,))).outcomes[0]
    assert math.exp(stopless.log_prob) == pytest.approx(0.5, abs=1e-6)
