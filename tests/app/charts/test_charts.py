from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as some

from app import charts
from app.charts._figure import text
from app.charts.importance import ranks

WORDS = ["The", "report", "<b>was</b>", "The", ""]
FIVE = np.arange(5.0)

FIGURES: dict[str, Callable[[], go.Figure]] = {
    "quality": lambda: charts.quality_by_length(
        ["1-10", "11-20"], [120, 1500], [charts.Line("a", [30, 20], [1, 2]), charts.Line("b", [40, np.nan])]
    ),
    "travel": lambda: charts.state_travel(WORDS, {"forward": FIVE, "backward": FIVE[::-1]}, edited=[1]),
    "channels": lambda: charts.channel_difference(np.ones((5, 3)), WORDS),
    "bytes": lambda: charts.state_bytes([8, 16], {"fixed": [512, 512], "attention": [4096, 8192]}),
    "scatter": lambda: charts.importance_scatter(
        WORDS, FIVE, {"gradient": FIVE * 2}, correlations={"gradient": 0.5}
    ),
    "ranks": lambda: charts.rank_comparison(WORDS, {"weight": FIVE, "gradient": -FIVE}),
    "training": lambda: charts.training_curve(
        [charts.Curve("loss", [1, 2], [3, 2]), charts.Curve("v", [2], [2], True)]
    ),
}


def traces(chart: go.Figure) -> list[Any]:
    return list(chart.select_traces())


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_transparent_and_does_not_catch_fingers(name: str) -> None:
    chart = FIGURES[name]()
    assert traces(chart)
    layout = chart.to_plotly_json()["layout"]
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert layout["xaxis"]["fixedrange"] and layout["yaxis"]["fixedrange"] and layout["dragmode"] is False
    assert "<b>" not in str(chart.to_plotly_json())


def test_quality_shows_each_value_and_n() -> None:
    chart = FIGURES["quality"]()
    first = traces(chart)[0]
    assert list(first.y) == [30, 20]
    assert list(first.error_y.array) == [1, 2]
    assert list(chart.layout.xaxis.ticktext) == ["1-10<br>n = 120", "11-20<br>n = 1,500"]


def test_equal_words_keep_their_own_place() -> None:
    axis = FIGURES["travel"]().layout.xaxis
    assert list(axis.tickvals) == [0, 1, 2, 3, 4]
    assert list(axis.ticktext) == ["The", "report", "&lt;b&gt;was&lt;/b&gt;", "The", "␣"]


def test_channels_are_centred_on_zero() -> None:
    heat = traces(charts.channel_difference(np.array([[0.5, -2.0]]), ["a"]))[0]
    assert (heat.zmin, heat.zmax) == (-2.0, 2.0)
    same = traces(charts.channel_difference(np.zeros((1, 2)), ["a"]))[0]
    assert (same.zmin, same.zmax) == (0.0, 1.0)


def test_importance_is_scaled_but_keeps_its_raw_values() -> None:
    points = traces(FIGURES["scatter"]())[0]
    assert list(points.y) == [0, 0.25, 0.5, 0.75, 1]
    assert list(points.customdata) == [0, 2, 4, 6, 8]
    assert "0.50" in points.name


@pytest.mark.parametrize(
    "make",
    [
        lambda: charts.quality_by_length(["a"], [1, 2], []),
        lambda: charts.quality_by_length(["a"], [1], [charts.Line("x", [1, 2])]),
        lambda: charts.state_travel(["a"], {"x": [1, 2]}),
        lambda: charts.channel_difference(np.ones((2, 2)), ["a"]),
        lambda: charts.state_bytes([1], {"x": [1, 2]}),
        lambda: charts.importance_scatter(["a"], [1, 2], {}),
        lambda: charts.training_curve([charts.Curve("x", [1], [1, 2])]),
    ],
)
def test_lengths_must_agree(make: Callable[[], go.Figure]) -> None:
    with pytest.raises(ValueError, match="shape"):
        make()


@given(some.lists(some.integers(-3, 3), min_size=1, max_size=12))
def test_ranks_sum_as_places_do(values: list[int]) -> None:
    found = ranks(np.array(values, dtype=float))
    assert found.sum() == len(values) * (len(values) + 1) / 2
    best = int(np.argmax(values))
    assert found[best] == found.min()


@given(some.text(max_size=40))
def test_words_carry_no_markup(word: str) -> None:
    shown = text(word)
    assert "<" not in shown and ">" not in shown
    assert shown.strip()
