"""Measured influence against hand-computed Jacobians, and against what a system cannot read."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from models.analysis.influence import influence, jacobian_norms
from models.catalog import TRANSLATORS, Entry
from models.interface import Rows
from tests.models.small import small, source, target


def test_the_exact_norm_of_a_linear_map_is_its_coefficient() -> None:
    weights = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]).double()
    rows = torch.randn(3, 4).double()

    def mixed(vectors: Tensor) -> Tensor:
        return weights @ vectors

    expected = weights.abs() * 4**0.5  # the Frobenius norm of c I is c sqrt(d)
    torch.testing.assert_close(jacobian_norms(mixed, rows, None), expected)
    torch.testing.assert_close(jacobian_norms(mixed, rows, 3), expected)  # signs square to one


def test_probes_estimate_the_exact_norm() -> None:
    torch.manual_seed(0)
    table = torch.randn(6, 6).double()
    rows = torch.randn(5, 6).double()

    def bent(vectors: Tensor) -> Tensor:
        return torch.tanh(vectors @ table).cumsum(1)

    exact = jacobian_norms(bent, rows, None)
    assert (jacobian_norms(bent, rows, 400) / exact.clamp(min=1e-12) - 1)[exact > 0].abs().max() < 0.15
    assert torch.equal(exact == 0, torch.ones(5, 5).triu(1).bool())


@pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)
def test_a_decision_is_moved_by_the_source_and_by_no_later_target_row(item: Entry) -> None:
    system, rows, given = small(item), source(5), target(4)
    found = influence(system, Rows(rows.ids, rows.valid), given)
    assert found.shape == (4, 9)
    assert found[:, :5].min() > 0
    later = torch.ones(4, 4).triu(1).bool()
    assert found[:, 5:][later].eq(0).all()
    assert found[:, 5:].diagonal().min() > 0
