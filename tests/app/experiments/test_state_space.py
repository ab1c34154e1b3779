"""The small layer under both schedules, and what is told about a selective layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.experiments.state_space import options, selective
from app.experiments.state_space.schedules import Ask, Schedules, schedules
from tests.models.conftest import assets as assets
from tests.models.conftest import untrained as untrained


def ask(preset: str, vary: int = 0, method: str = "bilinear", u: str = "Two pulses") -> Ask:
    p = options.PRESETS[preset]
    return Ask(p.a, p.b, p.c, p.d, p.delta, method, options.INPUTS[u], vary)


@pytest.mark.parametrize("method", options.METHODS)
@pytest.mark.parametrize("preset", options.PRESETS)
def test_both_schedules_agree_while_nothing_varies(preset: str, method: str) -> None:
    found = schedules(ask(preset, method=method))
    assert [c.label for c in found.checks if not c.passed] == []
    assert found.spread < 1e-9
    np.testing.assert_allclose(found.response @ found.u, found.recurrent, atol=1e-9)


def test_a_varying_layer_fails_the_check_of_one_kernel_and_no_other() -> None:
    found = schedules(ask("ring", vary=60))
    assert {c.label: c.passed for c in found.checks} == {
        "convolution = recurrence": False,
        "linear": True,
        "no later input": True,
    }
    assert found.spread > 0.01
    assert found.mismatch > 0.01


def test_d_passes_the_input_straight_through() -> None:
    plain = ask("fade", u="Impulse")
    direct = Ask(plain.a, plain.b, (0, 0), 150, plain.delta, plain.method, plain.u)
    found: Schedules = schedules(direct)
    np.testing.assert_allclose(found.recurrent, 1.5 * found.u)
    assert found.response.diagonal().tolist() == [1.5] * options.STEPS


def test_a_growing_layer_is_outside_the_unit_circle() -> None:
    assert schedules(ask("grow")).radius > 1 > schedules(ask("ring")).radius


def test_every_row_of_the_stream_is_told_and_its_checks_hold(assets: Path) -> None:
    found = selective.selection("The report was not convincing.")
    n, decisions = len(found.tokens), len(found.decisions)
    assert n == found.source + decisions
    assert found.influence.shape == (decisions, n)
    assert all(c.passed for c in found.checks)
    for view in found.layers:
        assert view.survival.shape == (n, n)
        assert np.all(view.survival[np.triu_indices(n, 1)] == 0)
        assert np.all(
            np.diff(view.survival, axis=0)[np.tril_indices(n - 1)] <= 1e-6
        )  # what fades does not come back
        assert np.all(view.delta > 0)
    later = np.triu(np.ones((decisions, decisions), dtype=bool), 1)
    assert np.all(found.influence[:, found.source :][later] == 0)


def test_an_edit_moves_the_states_and_impossible_ones_are_told(assets: Path) -> None:
    sentence = "The report was not convincing."
    removed, twice = (selective.edited(sentence, 3, edit) for edit in ("remove", "duplicate"))
    assert len(twice.tokens) == len(removed.tokens) + 2
    assert min(removed.moved) > 0
    assert min(twice.moved) > 0
    with pytest.raises(ValueError, match="no such piece"):
        selective.edited(sentence, 90, "remove")
    with pytest.raises(ValueError, match="nothing is left"):
        selective.edited("the", 0, "remove")
