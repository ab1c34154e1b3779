"""The page "Masks and families" without a browser: grids, presets, links, empty rows, and missing checkpoints."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.experiments.masks import grids, options
from app.labs.masks_parts.settings import Settings
from app.ui import url
from tests.models.conftest import assets as assets
from tests.models.conftest import untrained as untrained

PAGE = Path(__file__).parents[3] / "app/labs/masks.py"


@pytest.fixture(autouse=True)
def fresh(assets: Path) -> None:
    st.cache_resource.clear()


def opened(**params: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=200)
    for name, raw in params.items():
        app.query_params[name] = raw
    return app.run()


def html_of(app: AppTest) -> str:
    return "\n".join(one.proto.body for one in app.get("html"))


def grids_of(app: AppTest) -> list[str]:
    return [
        name for name in options.RELATIONS if any(f"masks.preset.{name}.own" == b.key for b in app.button)
    ]


@pytest.mark.parametrize("slug", options.FAMILIES)
def test_every_family_opens_with_its_grids_and_every_check_holds(slug: str) -> None:
    app = opened(v="1", m=slug)
    assert not app.exception and not app.error and not app.info and not app.warning
    assert grids_of(app) in (["stream"], ["source_self"], ["source_self", "target_self", "cross"])
    made = html_of(app)
    assert made.count("✓") >= 4 and 'class="bad"' not in made
    assert "Before and after are the same." in made


def test_a_preset_runs_the_model_and_travels_in_the_link() -> None:
    app = opened(v="1", m="gpt")
    app.button(key="masks.preset.stream.full").click().run()
    assert not app.exception and not app.error
    assert app.query_params["ms"] == "full"
    assert 'class="bad"' in html_of(app)  # the future leaks
    app.button(key="masks.preset.stream.own").click().run()
    assert "ms" not in app.query_params
    assert 'class="bad"' not in html_of(app)


def test_a_preset_with_a_number_has_a_slider() -> None:
    app = opened(v="1", m="gpt")
    app.button(key="masks.preset.stream.prefix").click().run()
    source = app.query_params["ms"]
    assert source == f"prefix.{app.slider[0].value}"
    app.slider(key="masks.number.stream.prefix").set_value(3).run()
    assert app.query_params["ms"] == "prefix.3"
    assert not app.exception


def test_one_layer_alone_is_painted_and_told() -> None:
    app = opened(v="1", m="gpt", l="2", a="one")
    app.button(key="masks.preset.stream.full").click().run()
    assert app.query_params["ms"] == "2:full"
    app = opened(v="1", m="gpt", ms="2:full")
    assert "A relation of its own in layer 2." in html_of(app)


def test_a_row_that_may_read_nothing_stops_the_run_until_it_may_output_zero() -> None:
    app = opened(v="1", m="transformer", mc="padding.40")
    made = html_of(app)
    assert "The model was not run." in made and "of the cross relation has no visible key in layer 1" in made
    assert "What is decided" not in made
    app.toggle(key="masks.empty").set_value(True).run()
    made = html_of(app)
    assert not app.exception and not app.error
    assert "It outputs zero." in made and "What is decided" in made
    assert app.query_params["z"] == "1"


def test_a_painted_matrix_opens_from_its_link() -> None:
    app = opened(v="1", m="gpt")
    before = html_of(app)
    assert "Before and after are the same." in before
    settings = Settings(stream=grids.pack(np.ones((3, 3), dtype=bool)))
    assert url.decode(Settings, url.encode(settings)) == (settings, [])
    app = opened(v="1", m="gpt", ms="3x3._4A")
    assert "Left out." in html_of(app) and "The painted relation is 3×3" in html_of(app)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"ms": "3x3.AAAA"}, "stream has cells for another size than 3 by 3"),
        ({"mc": "<script>"}, "cross has a part that is no relation"),
        ({"ms": "99:full"}, "stream names a layer beyond 12"),
        ({"ms": "1" * 3000}, "stream is longer than 2000 characters"),
        ({"m": "mamba"}, "family names something this app does not have"),
        ({"l": "0"}, "layer is not a whole number from 1 to 12"),
        ({"h": "x"}, "head is not a whole number from 1 to 16"),
    ],
)
def test_a_broken_link_opens_the_page_with_a_sentence(params: dict[str, str], told: str) -> None:
    app = opened(v="1", **params)
    assert not app.exception and not app.error
    assert told in app.info[0].value
    assert "Who may read whom" in html_of(app)


@pytest.mark.parametrize("params", [{"l": "12"}, {"h": "16"}, {"k": "39"}, {"r": "cross"}, {"q": "100"}])
def test_what_another_family_has_more_of_is_brought_inside(params: dict[str, str]) -> None:
    for slug in ("gpt", "bert"):
        app = opened(v="1", m=slug, **params)
        assert not app.exception and not app.error and not app.info


def test_a_long_sentence_is_refused_in_a_sentence() -> None:
    app = opened(v="1", s="The report was not convincing, " * 5)
    assert not app.exception and not app.error
    assert "rows with its EOS" in app.warning[0].value


def test_a_family_without_a_checkpoint_is_not_offered(assets: Path) -> None:
    shutil.rmtree(assets / "checkpoints/gpt")
    app = opened(v="1", m="gpt")
    assert not app.exception and not app.error
    assert "gpt" not in app.query_params.get("m", "")
    shutil.rmtree(assets / "checkpoints")
    app = opened(v="1", m="gpt")
    assert not app.exception and "is missing" in app.warning[0].value


@pytest.mark.parametrize("slug", options.FAMILIES)
def test_influence_stays_inside_reach_and_the_export_has_the_run(slug: str) -> None:
    app = opened(v="1", m=slug)
    made = html_of(app)
    assert "no influence outside reach" in made and 'class="bad"' not in made
    lines = next(one.value for one in app.code if "system.score" in one.value)
    scope: dict[str, object] = {}
    exec(lines, scope)  # the lines that the page prints must run
    assert scope["masks"] == {}
    app = opened(v="1", m=slug, ms="full", me="window.1", mt="full")
    lines = next(one.value for one in app.code if "system.score" in one.value)
    exec(lines, scope)
    assert scope["masks"] != {}
