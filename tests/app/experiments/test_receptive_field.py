"""The text of a schedule, its bounds, and the lattice against torchscan's cases and the article's numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.experiments.receptive import field, schedule
from app.experiments.receptive.schedule import RawLayer
from models.analysis.receptive import Layer, Schedule

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = json.loads((GOLDEN / "05_receptive_field/cases.json").read_text())["cases"]
NUMBERS = {e["name"]: e for e in json.loads((GOLDEN / "seed_numbers.json").read_text())["entries"]}


def of(case: dict) -> Schedule:
    sizes = zip(case["kernels"], case["dilations"], case["strides"], strict=True)
    return tuple(Layer(k, d, True, s) for k, d, s in sizes)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_lattice_agrees_with_torchscan_and_autograd(case: dict) -> None:
    positions = 2048
    found = field.lattice(of(case), positions, None)
    assert found.last.span == case["span"]
    assert found.last.reached == case["n_reachable"]
    assert bool(found.last.holes) == case["has_holes"]
    if "span_per_layer" in case:
        assert [one.span for one in found.layers] == case["span_per_layer"]
    if case["reachable_positions"] is not None:
        first = found.place + found.oldest
        assert (np.flatnonzero(found.reached) - first).tolist() == case["reachable_positions"]
    assert all(check.passed for check in found.checks)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("contiguous_layer_bound", "contiguous"), ("dilated_layer_bound_same_case", "doubling")],
)
def test_layers_for_a_distance_are_the_articles(name: str, rule: str) -> None:
    given = NUMBERS[name]
    found = field.least(schedule.known("5x1"), given["inputs"]["delta"], given["inputs"]["k"])
    assert found.rules[rule] == given["expected"]


def test_a_distance_in_a_hole_is_told_from_one_beyond_the_span() -> None:
    holes = schedule.known("2x1,2x4")
    assert field.least(holes, 1, 2).own == 1
    assert field.least(holes, 4, 2).own == 2
    inside, beyond = field.least(holes, 2, 2), field.least(holes, 6, 2)
    assert (inside.own, inside.misses) == (None, True)
    assert (beyond.own, beyond.misses) == (None, False)


def test_holes_are_those_between_reached_rows_and_the_edge_is_told() -> None:
    found = field.lattice(schedule.known("2x1,2x4"), 16, None)
    assert found.output == 15 and found.holes.tolist() == [12, 13]
    assert not found.cut
    early = field.lattice(schedule.known("2x1,2x4"), 16, 2)
    assert early.cut and np.flatnonzero(early.reached).tolist() == [1, 2]


def test_an_output_that_is_not_there_gives_the_last_row_or_the_middle_one() -> None:
    assert field.lattice(schedule.known("3x1s2"), 16, 99).output == 7
    assert field.lattice(schedule.known("3c1,3c1"), 16, None).output == 8


@pytest.mark.parametrize("text", list(schedule.PRESETS.values()))
def test_a_preset_survives_its_text(text: str) -> None:
    found = schedule.read(text)
    assert found.problem is None and found.schedule is not None
    assert schedule.write(found.schedule) == text == schedule.write(found.rows)
    assert len(text) <= schedule.LONGEST


@pytest.mark.parametrize(
    ("text", "bad", "sentence"),
    [
        ("2x1,99x1", 1, "Layer 2: the width must be from 1 to 64, not 99."),
        ("2x1,2x2,2x0", 2, "Layer 3: the dilation must be from 1 to 1,024, not 0."),
        ("x1", 0, "Layer 1: width, dilation and stride are whole numbers from 1."),
        ("2x1s9", 0, "Layer 1: the stride must be from 1 to 8, not 9."),
        ("2c1", 0, "Layer 1: a centred layer needs an odd width"),
        ("64x1,64x64,64x1024", 2, "at most 4,096 are drawn"),
        (",".join(["2x1"] * 41), 40, "1 to 40 layers"),
    ],
)
def test_bounds_are_told_in_a_sentence_and_what_was_typed_is_kept(text: str, bad: int, sentence: str) -> None:
    found = schedule.read(text)
    assert found.schedule is None and found.bad == bad
    assert sentence in (found.problem or "")
    assert schedule.write(found.rows) == text


@pytest.mark.parametrize("text", ["", "hello", "2x1,", "2x1;drop", "2x-1", "2y1", "999999999x1", "²x1"])
def test_a_text_that_is_no_schedule_is_told(text: str) -> None:
    found = schedule.read(text)
    assert found.schedule is None and found.rows == ()
    assert "cannot be read" in (found.problem or "")
    with pytest.raises(ValueError, match="cannot be read"):
        schedule.known(text)


def test_what_is_no_digit_stays_out_of_the_text() -> None:
    assert schedule.write([RawLayer("3<", "two", True), RawLayer("", "1", False, "2")]) == "3x,c1s2"


def test_a_preset_is_shown_with_room() -> None:
    lengths = (16, 64, 1024)
    assert schedule.fitting("2x1,2x2,2x4,2x8", lengths) == 16
    assert schedule.fitting(schedule.PRESETS["WaveNet, one cycle 1 to 512"], lengths) == 1024
    assert schedule.fitting(schedule.PRESETS["WaveNet, three cycles"], lengths) == 1024
