"""Only combinations that can run are offered, and one without weights of its own says so."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from app.experiments.alignment.options import (
    CODES,
    SCORES,
    TRAINED,
    WINDOWS,
    Choice,
    Combination,
    available,
    choose,
    nearest,
    offered,
    runs_as,
)
from models.catalog import entry
from models.systems.luong import Luong
from tests.models.small import small

LUONG = {slug: made for slug, made in TRAINED.items() if entry(slug).builder.endswith("Luong")}
EVERY = [Combination(s, w, f) for s in SCORES for w in WINDOWS for f in (True, False)]


@pytest.mark.parametrize("slug", LUONG)
def test_what_is_offered_is_what_the_parameters_can_run(slug: str) -> None:
    system = cast(Luong, small(entry(slug)))
    for wanted in EVERY:
        if wanted.score in ("additive", "heads"):
            assert not runs_as(LUONG[slug], wanted)
            continue
        assert runs_as(LUONG[slug], wanted) == _runs(system, wanted), wanted


def _runs(system: Luong, wanted: Combination) -> bool:
    try:
        system.variant(score=wanted.score, window=wanted.window, input_feeding=wanted.feeding)
    except ValueError:
        return False
    return True


def test_trained_systems_come_first_and_carry_no_mark() -> None:
    for slug, made in TRAINED.items():
        one = choose(made, TRAINED, 4, 0)
        assert (one.slug, one.changes, one.notes) == (slug, (), ())
        assert one.title == entry(slug).title


def test_a_recombination_takes_the_closest_checkpoint_and_says_what_was_trained() -> None:
    one = choose(Combination("dot", "local_m"), TRAINED, 3, 2)
    assert one.slug == "luong_dot"
    assert dict(one.changes) == {"window": "local_m", "half_width": 3, "centre_shift": 2}
    assert one.notes == ("trained with the global window", "centre moved by +2")
    assert one.title == "Luong dot, local-m"
    fallback = choose(Combination("dot"), ["luong"], 4, 0)
    assert (fallback.slug, fallback.notes) == ("luong", ("trained with the general score",))


def test_another_width_is_marked_only_where_a_window_was_trained() -> None:
    assert choose(Combination("general", "local_p"), TRAINED, 2, 0).notes == ("trained with D = 4",)
    assert choose(Combination("general"), TRAINED, 2, 3).notes == ()


def test_the_nearest_combination_keeps_the_score() -> None:
    among = offered(TRAINED)
    assert nearest(Combination("additive", "local_p", False), among) == Combination("additive")
    assert nearest(Combination("general", "local_m"), among) == Combination("general", "local_m")
    assert nearest(Combination("concat", "local_p", False), among) == Combination("concat")
    assert nearest(Combination("additive"), offered(["luong"])) == Combination("general")
    assert nearest(Combination("additive"), {}) is None


def test_codes_name_every_combination_once_and_survive_a_link() -> None:
    assert set(CODES.values()) == set(offered(TRAINED))
    assert all("," not in code and code == one.code for code, one in CODES.items())


def test_without_any_checkpoint_every_system_may_be_asked(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    from models.execution import checkpoints

    monkeypatch.setattr(checkpoints, "CHECKPOINTS", tmp_path)
    assert available() == list(TRAINED)
    (tmp_path / "luong").mkdir()
    (tmp_path / "luong/weights.safetensors").touch()
    assert available() == ["luong"]


def test_a_choice_is_a_value() -> None:
    one = choose(Combination("general", "local_p"), TRAINED, 2, 1)
    assert isinstance(one, Choice)
    assert hash(one) == hash(replace(one))
