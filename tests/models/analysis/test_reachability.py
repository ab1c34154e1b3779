"""Boolean reachability by hand, and measured influence inside it under random relations."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from models.analysis.influence import influence
from models.analysis.reachability import outside, reach, reach_source, reachable
from models.catalog import TRANSLATORS, Entry
from models.interface import Masked
from models.layers.visibility import causal, cross_full, full, window
from tests.models.small import small, source, target

MASKED = [item for item in TRANSLATORS if issubclass(item.system_class(), Masked)]


def test_a_window_widens_by_its_radius_a_layer() -> None:
    assert torch.equal(reach([window(9, 1)] * 3), window(9, 3))
    assert torch.equal(reach([window(9, 2) & causal(9)] * 2), window(9, 4) & causal(9))


def test_a_row_that_reads_nothing_keeps_itself() -> None:
    nothing = torch.zeros(3, 3, dtype=torch.bool)
    assert torch.equal(reach([nothing, nothing]), torch.eye(3, dtype=torch.bool))


def test_two_layers_compose_in_their_order() -> None:
    first, second = torch.zeros(3, 3, dtype=torch.bool), torch.zeros(3, 3, dtype=torch.bool)
    first[1, 0], second[2, 1] = True, True
    assert reach([first, second])[2, 0]
    assert not reach([second, first])[2, 0]


def test_a_target_row_reaches_source_rows_through_memory_and_through_its_past() -> None:
    cross = torch.zeros(3, 4, dtype=torch.bool)
    cross[0, 1] = True
    one = reach_source([window(4, 1)], [causal(3)], [cross])
    assert one.int().tolist() == [[1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    two = reach_source([window(4, 1)] * 2, [causal(3)] * 2, [cross] * 2)
    assert two.int().tolist() == [[1, 1, 1, 1]] * 3


def layers_of(relations: dict[str, Tensor]) -> dict[str, list[Tensor]]:
    """One relation a layer, from (L, R, C)."""
    return {name: list(given) for name, given in relations.items()}


def random_relations(system: Masked, seen: dict[str, Tensor], share: float, seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    depth: int = system.config.n_layers  # type: ignore[assignment, union-attr]
    return {
        name: torch.rand(depth, *one.shape[-2:], generator=generator) < share for name, one in seen.items()
    }


@pytest.mark.parametrize("item", MASKED, ids=lambda e: e.slug)
def test_influence_stays_inside_reachability_and_fills_it(item: Entry) -> None:
    system, rows, tokens = small(item), source(5), target(4)
    assert isinstance(system, Masked)
    seen = system.visibility(rows, tokens)
    for seed, share in enumerate((0.08, 0.2, 0.4)):
        masks = random_relations(system, seen, share, seed)
        measured = influence(system, rows, tokens, probes=None, masks=masks, empty="zero")
        allowed = reachable(layers_of(masks))[-4:]
        assert allowed.shape == measured.shape == (4, 9)
        assert not allowed.all()
        assert outside(measured, allowed).max() == 0
        assert (measured > 0).sum() >= 0.9 * allowed.sum()


def test_a_leak_is_measured_outside() -> None:
    """The real relation is causal; a run under an opened one influences what that relation does not allow."""
    system, rows, tokens = small(MASKED[0]), source(3), target(4)
    opened: dict[str, Any] = {"target_self": full(4)}
    measured = influence(system, rows, tokens, masks=opened)
    honest = {"source_self": [full(3)] * 2, "target_self": [causal(4)] * 2, "cross": [cross_full(4, 3)] * 2}
    assert outside(measured, reachable(honest)).max() > 1e-3
