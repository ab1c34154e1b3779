"""The page "State space" without a browser: links, broken links, and a system that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.models.conftest import assets as assets
from tests.models.conftest import untrained as untrained

PAGE = Path(__file__).parents[3] / "app/labs/state_space.py"


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


def test_three_panels_are_painted_and_every_check_holds() -> None:
    app = opened()
    assert not app.exception and not app.error and not app.info
    made = html_of(app)
    for title in ("One layer, two schedules", "A selective update", "State against length"):
        assert title in made
    assert 'class="bad"' not in made
    assert "One kernel exists." in made


def test_a_link_opens_its_layer_and_a_varying_one_says_why_it_has_no_kernel() -> None:
    app = opened(v="1", w="60", m="zoh", e="0.1")
    made = html_of(app)
    assert "No kernel exists." in made
    assert made.count('class="bad"') == 1
    assert app.slider(key="state_space.delta").value == 0.1


@pytest.mark.parametrize(
    "params",
    [
        {"a": "1,2"}, {"u": "5"}, {"a": "99999"}, {"e": "0"}, {"m": "euler"}, {"l": "99"}, {"k": "126"},
        {"y": "nothing"}, {"n": "17"}, {"zz": "<script>"},
    ],
)  # fmt: skip
def test_a_broken_link_opens_the_page_with_a_sentence(params: dict[str, str]) -> None:
    app = opened(v="1", **params)
    assert not app.exception and not app.error
    assert "One layer, two schedules" in html_of(app)
    if params.keys() & {"e", "m", "y", "n", "zz"}:
        assert "Part of this link was ignored" in app.info[0].value


@pytest.mark.parametrize("sentence", ["", "   ", "x" * 10_000])
def test_a_sentence_that_cannot_be_read_leaves_the_other_panels(sentence: str) -> None:
    app = opened(v="1", s=sentence)
    assert not app.exception
    assert "One layer, two schedules" in html_of(app)


def test_states_are_weighed_and_the_constant_ones_say_so(assets: Path) -> None:
    app = opened(v="1", t="1", n="16,64", y="rnn_encoder_decoder,rnn_search,mamba")
    assert not app.exception and not app.error
    frame = next(table.value for table in app.table if "One more row" in table.value.columns)
    summary, annotations, selective = frame["One more row"]
    assert summary == selective == "0 B" != annotations


def test_a_missing_checkpoint_is_told_in_its_panel_alone(assets: Path) -> None:
    (assets / "checkpoints/mamba/weights.safetensors").unlink()
    app = opened()
    assert not app.exception
    made = html_of(app) + "".join(one.value for one in app.error) + "".join(one.value for one in app.warning)
    assert "One kernel exists." in made
    assert "missing" in made
