"""Spans, fields, holes and least depths against torchscan's and autograd's, the article's, and each other."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from models.analysis import receptive
from models.analysis.receptive import (
    PRESETS,
    RULES,
    Layer,
    check,
    cone,
    effective,
    fewest,
    field,
    fields,
    reach,
    shadow,
)
from tests.models.golden import GOLDEN, article

FILE = json.loads((GOLDEN / "05_receptive_field" / "cases.json").read_text(encoding="utf-8"))
CASES = pytest.mark.parametrize("found", FILE["cases"], ids=lambda case: case["name"])


def schedule_of(found: dict[str, Any]) -> tuple[Layer, ...]:
    strides = found.get("strides", [1] * len(found["kernels"]))
    rows = zip(found["kernels"], found["dilations"], strides, strict=True)
    return tuple(Layer(k, d, stride=s) for k, d, s in rows)


@some.composite
def schedules(draw: some.DrawFn, most: int = 4, strided: bool = True) -> tuple[Layer, ...]:
    """Small mixed schedules: causal and centred, dilated, strided."""
    layers = []
    for _ in range(draw(some.integers(1, most))):
        causal = draw(some.booleans())
        width = draw(some.integers(1, 4)) if causal else draw(some.sampled_from([1, 3, 5]))
        stride = draw(some.integers(1, 3)) if strided else 1
        layers.append(Layer(width, draw(some.integers(1, 5)), causal, stride))
    return tuple(layers)


@CASES
def test_spans_and_reached_rows_are_the_measured_ones(found: dict[str, Any]) -> None:
    layers = schedule_of(found)
    assert receptive.span(layers) == found["span"]
    per_layer = found.get("span_per_layer") or found["torchscan_rf"]
    assert receptive.spans(layers) == [1, *per_layer]
    ours = field(layers)
    assert ours.span == found["span"]
    assert ours.reached.sum() == found["n_reachable"]
    assert bool(len(ours.holes)) is found["has_holes"]
    if found["reachable_positions"] is not None:
        assert (ours.offsets - ours.oldest).tolist() == found["reachable_positions"]


@pytest.mark.parametrize("found", FILE["pytorch_tcn"])
def test_two_convolutions_a_dilation_are_two_layers(found: dict[str, Any]) -> None:
    once = [Layer(found["kernel"], d) for d in found["dilations"]]
    twice = [Layer(found["kernel"], d) for d in found["dilations"] for _ in range(2)]
    assert receptive.span(once) == found["one_conv_per_dilation_formula"]
    assert field(twice).span == found["measured_span"]


@pytest.mark.parametrize(
    "name", ["receptive_field_6x5", "receptive_field_k2_1_2_4_8", "receptive_field_wavenet_cycle"]
)
def test_the_articles_fields(name: str) -> None:
    assert receptive.span(schedule_of(article()[name]["inputs"])) == article()[name]["expected"]


def test_the_articles_closed_forms() -> None:
    def expected(name: str) -> int:
        return article()[name]["expected"]

    assert receptive.span(receptive.doubling(4, 2)) == expected("doubling_closed_form")
    assert receptive.span(receptive.contiguous(4, 3)) == expected("contiguous_span_value")
    assert receptive.span(receptive.powers(3, 2)) == expected("power_dilation_k2_n8")
    assert receptive.span(receptive.powers(3, 3)) == expected("power_dilation_general")
    assert fewest("contiguous", 24, 5) == expected("contiguous_layer_bound")
    assert fewest("doubling", 24, 5) == expected("dilated_layer_bound_same_case")
    assert fewest("contiguous", 9 - 1, 3) == expected("contiguous_span_n9_k3")
    assert fewest("powers of k", 8 - 1, 2) == 3


@given(distance=some.integers(0, 600), width=some.integers(2, 7))
def test_the_least_depth_is_where_the_graph_first_reaches(distance: int, width: int) -> None:
    for name, rule in RULES.items():
        layers = fewest(name, distance, width)
        if layers > 20:
            continue  # contiguous over a long way: the same code, slower
        reached = field(rule(layers, width)).offsets if layers else np.array([0])
        assert -distance in reached
        assert layers == 0 or receptive.span(rule(layers - 1, width)) - 1 < distance


@given(schedules())
def test_the_recurrence_is_the_span_of_the_field(layers: tuple[Layer, ...]) -> None:
    levels = fields(layers)
    assert [one.span for one in levels] == receptive.spans(layers)
    for one in levels:
        assert one.reached[0] and one.reached[-1]
        assert one.oldest <= 0 <= one.newest
        assert len(one.holes) + len(one.offsets) == one.span
        assert one.coverage == pytest.approx(1 - len(one.holes) / one.span)


@given(schedules(), some.integers(1, 40), some.data())
def test_cones_and_shadows_are_rows_and_columns_of_reach(
    layers: tuple[Layer, ...], rows: int, data: some.DataObject
) -> None:
    matrix = reach(layers, rows)
    output = data.draw(some.integers(0, len(matrix) - 1))
    place = data.draw(some.integers(0, rows - 1))
    down, up = cone(layers, rows, output), shadow(layers, rows, place)
    assert [len(level) for level in down] == [len(level) for level in up] == receptive.lengths(layers, rows)
    assert np.array_equal(down[0], matrix[output])
    assert np.array_equal(up[-1], matrix[:, place])


@given(schedules(strided=False), some.integers(0, 30))
def test_far_from_the_edges_a_cone_is_the_field(layers: tuple[Layer, ...], extra: int) -> None:
    whole = field(layers)
    output = -whole.oldest + extra
    seen = cone(layers, output + whole.newest + 1 + extra, output)[0]
    assert (np.flatnonzero(seen) - output).tolist() == whole.offsets.tolist()


def test_holes_are_told_by_their_places() -> None:
    ours = field(PRESETS["With holes"])
    assert ours.holes.tolist() == [-3, -2]
    assert ours.coverage == pytest.approx(4 / 6)
    assert len(field(receptive.powers(4, 3)).holes) == 0


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_within_bounds(name: str) -> None:
    assert check(PRESETS[name]) == PRESETS[name]


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        ([], "1 to 40 layers; this one has 0"),
        ([Layer(1)] * 41, "this one has 41"),
        ([Layer(2), Layer(65)], "Layer 2: the width must be from 1 to 64, not 65"),
        ([Layer(2, 0)], "the dilation must be from 1 to 1,024, not 0"),
        ([Layer(2, stride=9)], "the stride must be from 1 to 8, not 9"),
        ([Layer(4, causal=False)], "a centred layer needs an odd width"),
        ([Layer(6, 1_000)], "spans 5,001 input rows; at most 4,096"),
    ],
)
def test_sizes_out_of_bounds_are_told(layers: list[Layer], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check(layers)


def test_rows_that_are_not_there_are_told() -> None:
    with pytest.raises(ValueError, match="output row must be from 0 to 4, not 5"):
        cone([Layer(2)], 5, 5)
    with pytest.raises(ValueError, match="1 to 4,096 rows, not 0"):
        reach([Layer(2)], 0)
    with pytest.raises(ValueError, match="reaches no other"):
        fewest("doubling", 3, 1)
    with pytest.raises(ValueError, match="distance must be from 0"):
        fewest("doubling", -1, 2)


def test_the_effective_field_holds_its_share() -> None:
    mass = np.array([0.0, 0.04, 0.06, 0.3, 0.6])
    assert effective(mass, 4) == 1
    assert effective(mass, 4, 0.91) == 2
    assert effective(mass, 4, 1.0) == 3
    assert effective(np.array([0.0, 1.0, 0.0]), 1) == 0
    with pytest.raises(ValueError, match="no gradient mass"):
        effective(np.zeros(3), 1)
