"""The page "Receptive fields" without a browser: links, bounds, and what was typed."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.models.conftest import assets as assets
from tests.models.conftest import untrained as untrained

PAGE = Path(__file__).parents[3] / "app/labs/receptive.py"


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


def test_the_page_is_painted_and_every_check_holds() -> None:
    app = opened()
    assert not app.exception and not app.error and not app.info
    made = html_of(app)
    assert "The lattice" in made and 'class="bad"' not in made
    assert "= 16" in made and "1 + (2−1)·1 + (2−1)·2 + (2−1)·4 + (2−1)·8" in made


def test_the_articles_example_of_six_layers_of_width_five() -> None:
    made = html_of(opened(v="1", k=",".join(["5x1"] * 6)))
    assert "= 25" in made
    assert "<dd>6<small>layers" in made and "<dd>3<small>layers" in made


def test_a_link_opens_its_schedule_and_its_output() -> None:
    app = opened(v="1", k="2x1,2x4", n="16", o="9")
    made = html_of(app)
    assert "4 of 6 reached, 2 holes" in made
    assert app.query_params["k"] == "2x1,2x4" and app.query_params["o"] == "9"
    assert app.session_state["receptive_fields-presets"] == "With holes"


def test_a_schedule_out_of_bounds_says_so_and_leaves_a_picture() -> None:
    app = opened(v="1", k="2x1,99x1")
    assert not app.exception and not app.error
    made = html_of(app)
    assert "Layer 2: the width must be from 1 to 64, not 99." in made
    assert "= 16" in made  # the page's own schedule stays drawn
    assert app.query_params["k"] == "2x1,99x1"


@pytest.mark.parametrize(
    "raw", ["hello", "<script>alert(1)</script>", "2x1" + ",2x1" * 60, "2x1,", "x" * 470]
)
def test_a_text_that_is_no_schedule_is_taken_calmly(raw: str) -> None:
    app = opened(v="1", k=raw)
    assert not app.exception and not app.error
    made = html_of(app)
    assert "<script" not in made
    assert "cannot be read" in made or "1 to 40 layers" in made


@pytest.mark.parametrize("params", [{"n": "17"}, {"o": "99999"}, {"q": "0"}, {"w": "1"}, {"k": "2x1," * 200}])
def test_a_value_out_of_bounds_is_named(params: dict[str, str]) -> None:
    app = opened(v="1", **params)
    assert not app.exception and not app.error
    assert "Part of this link was ignored" in app.info[0].value


def test_a_preset_brings_room_for_its_span() -> None:
    app = opened()
    app.button_group(key="receptive_fields-presets").set_value("WaveNet, one cycle 1 to 512").run()
    assert not app.exception
    assert app.query_params["n"] == "1024"
    assert "= 1,024" in html_of(app)
