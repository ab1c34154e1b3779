"""The page "Fixed context" without a browser: links, the second box, grids, and systems that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import models
from app.experiments import fixed_context as lab
from models.interactive import Translator
from tests.app.experiments.test_fixed_context import A, B, untrained

PAGE = Path(__file__).parents[3] / "app/labs/fixed_context.py"
TIMEOUT = 200


@pytest.fixture(scope="module")
def systems() -> dict[str, Translator]:
    return {slug: untrained(slug) for slug in lab.SYSTEMS}


@pytest.fixture
def there(systems: dict[str, Translator], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Slugs with a checkpoint; a test may take some away."""
    found = set(systems)

    def load(slug: str) -> Translator:
        if slug not in found:
            raise models.CheckpointError(slug, f"The checkpoint of {slug} is missing (weights.safetensors).")
        return systems[slug]

    monkeypatch.setattr(models, "load", load)
    st.cache_resource.clear()
    return found


def opened(**params: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=TIMEOUT)
    for name, raw in params.items():
        app.query_params[name] = raw
    return app.run()


def html_of(app: AppTest) -> str:
    return "\n".join(one.proto.body for one in app.get("html"))


def test_all_five_panels_are_painted_and_every_check_holds(there: set[str]) -> None:
    app = opened()
    assert not app.exception and not app.error and not app.warning and not app.info
    made = html_of(app)
    for title in (
        "What crosses",
        "Two sentences, one edit",
        "Quality against length",
        "Transplant",
        "Try the numbers",
    ):
        assert title in made
    assert made.count('class="ok"') == 3 + 2 + 3 + 3
    assert 'class="bad"' not in made
    assert made.count("Does not show:") == 5
    assert app.text_input(key="fixed_context.other").value == B
    assert dict(app.query_params) == {}


def test_b_follows_a_until_it_is_edited(there: set[str]) -> None:
    app = opened()
    app.text_input(key="fixed_context.sentence").set_value("The proposal was accepted.").run()
    assert app.text_input(key="fixed_context.other").value == "The proposal was not accepted."
    assert "t" not in app.query_params
    app.text_input(key="fixed_context.other").set_value("The proposal was good.").run()
    assert app.query_params["t"] == "The proposal was good."
    app.text_input(key="fixed_context.sentence").set_value(A).run()
    assert app.text_input(key="fixed_context.other").value == "The proposal was good."
    app.text_input(key="fixed_context.other").set_value(" ").run()
    assert app.text_input(key="fixed_context.other").value == B
    assert "t" not in app.query_params
    assert not app.exception


def test_a_link_sets_every_control(there: set[str]) -> None:
    link = {
        "v": "1",
        "s": B,
        "t": "Thank you.",
        "m": "luong,rnn_search",
        "y": "linear",
        "w": "3072",
        "o": "difference",
    }
    link |= {
        "d": "luong",
        "p": "start",
        "q": "cell",
        "r": "1",
        "k": "2",
        "h": ",".join(["50"] * 12),
        "a": ",".join(["25"] * 12),
    }
    app = opened(**link)
    assert not app.exception and not app.error and not app.info
    assert dict(app.query_params) == link | {"m": "rnn_search,luong"}
    assert app.selectbox(key="fixed_context.row").value == 1
    assert app.selectbox(key="fixed_context.donor").value == 2
    assert "0.25·0.5 + 0.25·0.5 + 0.25·0.5 + 0.25·0.5 = 0.5" in html_of(app)
    assert "At 3,072 channels c is 12,288 bytes and 1 row." in html_of(app)


def test_a_row_that_the_sentence_does_not_have_falls_back_to_the_edit(there: set[str]) -> None:
    app = opened(v="1", d="luong", r="90", k="99")
    assert not app.exception and not app.error and not app.warning
    assert app.selectbox(key="fixed_context.row").value is None
    app.run()
    assert "r" not in app.query_params


def test_a_grid_of_the_wrong_size_is_said_and_replaced(there: set[str]) -> None:
    app = opened(v="1", a="10,20")
    assert any("2 numbers for a 3 × 4 grid" in one.value for one in app.caption)
    assert "= 0.67" in html_of(app)
    assert not app.exception


@pytest.mark.parametrize(
    "gone", [("rnn_encoder_decoder",), ("rnn_search", "luong", "transformer"), lab.SYSTEMS]
)
def test_a_system_without_checkpoint_says_so_and_nothing_else_breaks(
    gone: tuple[str, ...], there: set[str]
) -> None:
    there -= set(gone)
    app = opened()
    assert not app.exception and not app.error
    said = [one.value for one in (*app.caption, *app.warning)]
    for slug in gone:
        assert any(slug.replace("_", r"\_") in text and "is missing" in text for text in said), slug
    assert "Try the numbers" in html_of(app)


def test_no_system_chosen_is_said(there: set[str]) -> None:
    app = opened()
    app.button_group(key="fixed_context.systems").set_value([]).run()
    assert "Choose at least one system above." in html_of(app)
    assert not app.exception and not app.error


@pytest.mark.parametrize("slug", lab.SYSTEMS)
def test_each_host_offers_its_own_parts(slug: str, there: set[str]) -> None:
    app = opened(v="1", d=slug)
    assert not app.exception and not app.error and not app.warning
    rows = [one.key for one in app.selectbox if one.key and one.key.startswith("fixed_context.")]
    assert rows == ([] if slug in lab.FIXED else ["fixed_context.row", "fixed_context.donor"])


@pytest.mark.parametrize("raw", ["x" * 300, "مرحبا 报告 🍎", "<script>alert(1)</script>"])
def test_any_second_sentence_is_taken_calmly(raw: str, there: set[str]) -> None:
    app = opened()
    app.text_input(key="fixed_context.other").set_value(raw).run()
    assert not app.exception and not app.error
    assert "<script" not in html_of(app)
