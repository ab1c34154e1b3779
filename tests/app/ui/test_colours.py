"""The colour language: readable in both themes, monotone scales, one set of names for theme and style sheet."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

from app.ui import colours
from app.ui.colours import Theme

ROOT = Path(__file__).parents[3]
THEMES = get_args(Theme)
TEXT = ("source", "target", "state", "decision", "bad", "ink", "mute")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", TEXT)
def test_text_colours_read_on_their_backgrounds(name: str, theme: Theme) -> None:
    assert colours.contrast(colours.role(name, theme), colours.role("page", theme)) >= 4.5
    assert colours.contrast(colours.role(name, theme), colours.role("card", theme)) >= 4.5
    soft = f"{name}-soft"
    if soft in colours.ROLES:
        assert colours.contrast(colours.role(name, theme), colours.role(soft, theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_more_weight_always_stands_out_more_from_the_page(theme: Theme) -> None:
    page = colours.role("page", theme)
    steps = [colours.contrast(stop, page) for stop in colours.sequential(theme)]
    assert all(low < high for low, high in pairwise(steps))


@pytest.mark.parametrize("theme", THEMES)
def test_a_difference_stands_out_more_on_either_side_of_none(theme: Theme) -> None:
    page = colours.role("page", theme)
    steps = [colours.contrast(stop, page) for stop in colours.diverging(theme)]
    assert all(high > low for high, low in pairwise(steps[:5]))
    assert all(low < high for low, high in pairwise(steps[4:]))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("value", [0.0, 0.1, 0.35, 0.5, 0.62, 0.8, 1.0])
def test_numbers_read_on_every_cell(value: float, theme: Theme) -> None:
    cell = colours.at(colours.sequential(theme), value)
    assert colours.contrast(colours.ink_on(cell), cell) >= 3.6


def test_a_scale_is_clipped_and_meets_its_stops() -> None:
    stops = colours.sequential()
    assert (colours.at(stops, -1), colours.at(stops, 2), colours.at(stops, 0.5)) == (
        stops[0],
        stops[8],
        stops[4],
    )


def test_the_style_sheet_defines_each_variable_for_both_themes() -> None:
    css = colours.css()
    assert "--se-source:light-dark(#2360c5,#82b4ff);" in css
    assert all(
        f"--se-{name}:light-dark({light},{dark})" in css for name, (light, dark) in colours.ROLES.items()
    )
    assert not re.search(r"<[/\w!]", css), (
        "the browser's sanitiser drops a style sheet that looks like markup"
    )


def test_every_variable_that_the_style_sheets_use_is_defined() -> None:
    defined = set(re.findall(r"(--se-[\w-]+):", colours.css()))
    for sheet in (ROOT / "app/ui").glob("*.css"):
        assert set(re.findall(r"var\((--se-[\w-]+)", sheet.read_text(encoding="utf-8"))) <= defined


@pytest.mark.parametrize("theme", THEMES)
def test_the_streamlit_theme_speaks_the_same_language(theme: Theme) -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))["theme"][theme]
    wanted = {
        "primaryColor": "source",
        "backgroundColor": "page",
        "textColor": "ink",
        "borderColor": "line",
        "blueColor": "source",
        "orangeColor": "target",
        "violetColor": "state",
        "greenColor": "decision",
        "redColor": "bad",
        "grayColor": "mute",
    }
    assert {key: config[key] for key in wanted} == {
        key: colours.role(name, theme) for key, name in wanted.items()
    }
    assert config["chartCategoricalColors"] == colours.series(theme)
