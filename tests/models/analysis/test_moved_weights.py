"""Other weights in one decision: the function is the system's own, and the search keeps its promise."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.analysis.distances import jensen_shannon
from models.analysis.moved_weights import Decision, move, permute, reach
from models.catalog import entry
from models.interface import Rows
from models.training.tokenizer import BOS, EOS
from tests.models.small import ALIGNED, small, source, tokens

RECURRENT = [slug for slug in ALIGNED if entry(slug).family == "Attention"]  # one row of weights a step
TARGET = [*tokens(4, 7), EOS]
each_recurrent = pytest.mark.parametrize("slug", RECURRENT)


def decision(slug: str, t: int = 2, length: int = 7) -> Decision:
    return reach(small(entry(slug)), source(length), TARGET, t)


@each_recurrent
def test_the_systems_own_weights_give_its_own_output(slug: str) -> None:
    one = decision(slug)
    target_in = torch.tensor([[BOS, *TARGET[:-1]]])
    scored = one.system.score(source(7), target_in)
    assert torch.allclose(one.log_probs(one.weights.unsqueeze(0))[0], scored.logits[0, 2].log_softmax(-1))
    assert torch.allclose(one.weights, one.system.alignment(scored.trace)[0, 2])  # pyright: ignore[reportOptionalSubscript]


@each_recurrent
def test_permuted_weights_are_the_same_numbers_on_readable_rows(slug: str) -> None:
    one = decision(slug)
    rows = permute(one, 6, seed=1)
    assert torch.equal(rows.sort(-1).values, one.weights.sort().values.expand(6, -1))
    assert not rows[:, ~one.visible].any()
    assert torch.equal(rows, permute(one, 6, seed=1))
    assert not torch.equal(rows, permute(one, 6, seed=2))


@each_recurrent
@pytest.mark.parametrize("tolerance", [0.02, 0.2])
def test_searched_weights_stay_within_the_tolerance_and_go_as_far_as_any_candidate(
    slug: str, tolerance: float
) -> None:
    one = decision(slug)
    found = move(one, TARGET[2], tolerance, seed=3)
    hit = found.adversarial
    assert hit.tv[0] <= tolerance
    for part in (found.permuted, found.uniform, found.own):
        fitting = part.js[part.tv <= tolerance]
        assert hit.js[0] >= max(fitting, default=0.0) - 1e-9
    assert hit.js[0] > 0
    assert (hit.weights >= 0).all() and not hit.weights[0, ~one.visible.numpy()].any()
    assert hit.weights.sum() == pytest.approx(float(one.mass))


def test_measures_are_those_of_the_outputs_and_weights() -> None:
    one = decision("luong_local_p")
    found = move(one, TARGET[2], 0.1, permutations=3)
    own = one.log_probs(one.weights.unsqueeze(0)).exp()
    after = one.log_probs(torch.from_numpy(found.permuted.weights)).exp()
    assert found.permuted.tv == pytest.approx(((after - own).abs().sum(-1) / 2).numpy())
    assert found.permuted.chosen == pytest.approx(after[:, TARGET[2]].numpy())
    assert found.permuted.top.tolist() == after.argmax(-1).tolist()
    scaled = found.permuted.weights / found.permuted.weights.sum(-1, keepdims=True)
    assert found.permuted.js == pytest.approx(jensen_shannon(scaled, (one.weights / one.mass).numpy()))
    assert found.own.js == pytest.approx([0.0], abs=1e-6) and found.own.tv == pytest.approx([0.0])


def test_a_wider_tolerance_reaches_farther_and_a_seed_repeats() -> None:
    one = decision("rnn_search")
    near, far = (move(one, TARGET[2], tolerance).adversarial.js[0] for tolerance in (0.01, 0.6))
    assert far > near
    again = move(one, TARGET[2], 0.01)
    assert np.array_equal(again.adversarial.weights, move(one, TARGET[2], 0.01).adversarial.weights)


def test_a_shared_system_is_left_as_it_was_even_inside_inference_mode() -> None:
    system = small(entry("luong"))
    before = [p.clone() for p in system.parameters()]
    with torch.inference_mode():
        rows = source(5)
        one = reach(system, Rows(rows.ids, rows.valid), TARGET, 1)
        move(one, TARGET[1], 0.1)
    assert all(p.grad is None and not p.requires_grad for p in system.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, system.parameters(), strict=True))


def test_a_transformer_has_no_single_row_to_move() -> None:
    with pytest.raises(ValueError, match="one row of weights"):
        reach(small(entry("transformer")), source(5), TARGET, 1)
