"""The checks beside a picture turn red for a system that breaks them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from models.analysis import invariants
from models.catalog import entry
from models.interface import Read, Rows
from models.systems.rnn_search import RNNSearch
from tests.models.small import config, source, target


class Leaky(RNNSearch):
    """Every row sees a little of the last target token and of the padding: two bugs."""

    def features(self, source: Rows, target_in: Tensor, *, read: Read | None = None) -> tuple[Tensor, Any]:
        rows, trace = super().features(source, target_in, read=read)
        leaked = self.embedding(target_in[:, -1:]) + source.embed(self.embedding).mean(dim=1, keepdim=True)
        return rows + leaked, trace


def system(kind: type[RNNSearch]) -> RNNSearch:
    torch.manual_seed(0)
    return kind(config(entry("rnn_search"))).double().eval().requires_grad_(False)


@pytest.mark.parametrize(("kind", "holds"), [(RNNSearch, True), (Leaky, False)])
def test_a_leak_from_the_future_or_from_padding_is_seen(kind: type[RNNSearch], holds: bool) -> None:
    model, rows, target_in = system(kind), source(5), target(6)
    logits = model.score(rows, target_in).logits
    future = invariants.future_difference(model, rows, target_in, logits)
    padding = invariants.padding_difference(model, rows, target_in, logits)
    assert (future < invariants.TOLERANCE) is holds
    assert (padding < invariants.TOLERANCE) is holds
    assert invariants.future_difference(model, rows, target_in[:, :1], logits[:, :1]) == 0


def test_a_step_that_differs_from_its_score_is_seen() -> None:
    logits = torch.randn(4, 9)
    assert invariants.step_difference(logits, logits) == 0
    moved = logits.clone()
    moved[2, 3] += 0.25
    assert invariants.step_difference(moved, logits) == pytest.approx(0.25, abs=1e-6)


def test_lost_and_hidden_mass_are_seen() -> None:
    weights, visible = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[True, True, False]])
    assert invariants.row_sum_difference(weights) == 0
    assert invariants.masked_mass(weights, visible) == 0
    assert invariants.row_sum_difference(weights * 0.5) == pytest.approx(0.5)
    assert invariants.row_sum_difference(weights * 0.5, torch.tensor([0.5])) == pytest.approx(0)
    assert invariants.masked_mass(torch.tensor([[0.5, 0.3, 0.2]]), visible) == pytest.approx(0.2)


@pytest.mark.parametrize(("kind", "holds"), [(RNNSearch, True), (Leaky, False)])
def test_one_pass_finds_both_disturbances(kind: type[RNNSearch], holds: bool) -> None:
    model, rows, target_in = system(kind), source(5), target(6)
    logits = model.score(rows, target_in).logits
    future, padding = invariants.disturbances(model, rows, target_in, logits)
    assert (future < invariants.TOLERANCE) is holds
    assert (padding < invariants.TOLERANCE) is holds
    alone = invariants.padding_difference(model, rows, target_in, logits)
    assert padding == pytest.approx(alone, abs=1e-10)
    assert invariants.disturbances(model, rows, target_in[:, :1], logits[:, :1])[0] == 0
