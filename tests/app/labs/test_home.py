"""The home page run in one process: cards, choices, the pinned copy, and every bad input it must survive."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.experiments import home
from models.catalog import entry
from tests.app.toys import flip_a_byte, shared_assets, using

PAGE = Path(__file__).parents[3] / "app/labs/home.py"
PLAIN, NEGATED = "The report was convincing.", "The report was not convincing."
TWO = "rnn_encoder_decoder,rnn_search"


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = shared_assets(tmp_path_factory)
    with using(folder):
        yield folder


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """Every (system, sentence, beam) that is really computed."""
    st.cache_resource.clear()
    seen: list[tuple[str, str, int]] = []
    compute = home.compute
    monkeypatch.setattr(home, "compute", lambda *given: seen.append(given) or compute(*given))
    return seen


def visit(**params: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=300)
    for name, raw in ({"v": "1", "m": TWO} | params).items():
        app.query_params[name] = raw
    return app.run()


def html_of(app: AppTest) -> str:
    return "\n".join(one.proto.body for one in app.get("html"))


def data_of(app: AppTest, kind: str) -> list[dict[str, Any]]:
    """What was sent to the browser's components of one kind."""
    found = [one.proto for one in app.get("bidi_component")]
    return [json.loads(one.json) for one in found if one.component_name.endswith(kind)]


def test_each_chosen_system_has_a_card_with_output_checks_and_answers(assets: Path) -> None:
    app = visit()
    made = html_of(app)
    for slug in TWO.split(","):
        assert entry(slug).title in made and entry(slug).paper in made
    assert made.count('class="se-output"') == 2
    assert made.count("rapport n&#x27;était pas convaincant.") == 2
    assert made.count('class="se-checks"') == 2 and 'class="bad"' not in made
    assert made.count('class="se-four"') == 2
    assert "No alignment exists here" in made and "1 × 32" in made and "128 B" in made
    assert not app.warning and not app.error and not app.exception


def test_a_card_without_a_system_chosen_is_asked_for(assets: Path) -> None:
    app = visit(m="")
    assert [one.value for one in app.info] == ["Choose at least one system above."]
    assert not app.exception


def test_an_unknown_system_in_a_link_opens_the_default_with_one_sentence(assets: Path) -> None:
    app = visit(m="rnn_search,gpt9")
    assert len(app.info) == 1 and "systems names something this app does not have" in app.info[0].value
    assert entry("transformer").title in html_of(app)
    assert not app.exception


def test_a_damaged_and_a_missing_checkpoint_leave_the_other_systems_alone(
    assets: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "assets"
    shutil.copytree(assets, copied)
    flip_a_byte(copied / "checkpoints/rnn_search/weights.safetensors")
    shutil.rmtree(copied / "checkpoints/transformer")
    with using(copied):
        app = visit(m=f"{TWO},luong_concat,transformer")
    assert [one.value for one in app.warning] == [
        r"The checkpoint of RNNsearch is damaged \(weights\.safetensors does not match its sha256\)\. "
        r"Restore it with git\.",
        r"Luong concat has no entry in assets/manifest\.json\. Train it or restore the file\.",
        r"The checkpoint of Transformer is missing \(weights\.safetensors\)\. Restore it with git\.",
    ]
    assert html_of(app).count("rapport n&#x27;était pas convaincant.") == 1
    assert not app.error and not app.exception


def test_nothing_is_computed_twice(assets: Path, calls: list[tuple[str, str, int]]) -> None:
    app = visit(s=PLAIN)
    first = len(calls)
    app.run()
    assert len(calls) == first
    app.text_input(key="home.sentence").set_value("Thank you.").run()
    assert calls[first:] == [(slug, "Thank you.", 1) for slug in TWO.split(",")]
    app.segmented_control(key="home.show").set_value("pieces").run()
    assert len(calls) == first + 2
    app.segmented_control(key="home.decoding").set_value("beam4").run()
    assert calls[first + 2 :] == [(slug, "Thank you.", 4) for slug in TWO.split(",")]


@pytest.mark.parametrize("raw", ["", "   ", "\x00\x07", "x" * 10_000, "报告" * 90])
def test_a_sentence_that_cannot_be_used_computes_nothing(
    raw: str, assets: Path, calls: list[tuple[str, str, int]]
) -> None:
    app = visit(s=PLAIN)
    before = len(calls)
    app.text_input(key="home.sentence").set_value(raw).run()
    assert len(calls) == before
    assert 'class="se-limit"' in html_of(app) and "<b>" in html_of(app)
    assert "se-output" not in html_of(app)
    assert not app.exception and not app.error


@pytest.mark.parametrize(
    "raw", ["🍎🍐", "تقرير", "报告不可信。", "<script>alert(1)</script>", "a\x00b\u202ec", "**x** $y$"]
)
def test_an_odd_sentence_is_translated_and_shown_as_text(raw: str, assets: Path) -> None:
    app = visit()
    app.text_input(key="home.sentence").set_value(raw).run()
    assert html_of(app).count('class="se-output"') == 2
    assert "<script" not in html_of(app)
    assert not app.exception and not app.error and not app.warning


def test_pinning_stores_the_sentence_in_the_link_and_marks_the_copy(assets: Path) -> None:
    app = visit(s=PLAIN)
    app.button(key="home-pin").click().run()
    assert app.query_params["p"] == PLAIN
    assert "Edit the sentence above" in html_of(app)
    app.text_input(key="home.sentence").set_value(NEGATED).run()
    made = html_of(app)
    assert '<ins class="inserted" title="inserted">not</ins>' in made
    assert made.count('<b>Pinned:</b> <span lang="fr">Le rapport était convaincant.</span>') == 2
    assert made.count(">pas</ins>") == 2
    (picture,) = data_of(app, "heatmap")
    assert picture["changed_rows"] is not None and picture["changed"] is not None
    app.button(key="home-unpin").click().run()
    assert "p" not in app.query_params
    assert "Pinned" not in html_of(app)
    assert data_of(app, "heatmap")[0]["changed"] is None


def test_a_link_brings_the_pinned_sentence_along(assets: Path) -> None:
    app = visit(s=NEGATED, p=PLAIN)
    assert html_of(app).count("<b>Pinned:</b>") == 2
    assert not app.info and not app.exception


def test_a_pinned_sentence_that_cannot_be_used_is_said(assets: Path) -> None:
    app = visit(p="𒀀" * 40)
    assert len(app.info) == 1 and "pinned sentence of this link cannot be used" in app.info[0].value
    assert html_of(app).count('class="se-output"') == 2
    assert not app.exception


def test_a_sentence_that_cannot_be_used_is_not_pinned(assets: Path) -> None:
    app = visit()
    app.text_input(key="home.sentence").set_value("  ").run()
    app.button(key="home-pin").click().run()
    assert "p" not in app.query_params
    assert not app.exception


def test_words_or_pieces_are_shown(assets: Path) -> None:
    app = visit(s="The zyxwvut was convincing.")
    words = data_of(app, "heatmap")[0]["columns"]
    app.segmented_control(key="home.show").set_value("pieces").run()
    pieces = data_of(app, "heatmap")[0]["columns"]
    assert "zyxwvut" in words and "zyxwvut" not in pieces
    assert "".join(pieces).replace("␣", "") == "".join(words)
    assert app.query_params["w"] == "pieces"


def test_a_transformer_offers_its_layers_and_heads(assets: Path) -> None:
    app = visit(m="transformer")
    assert app.selectbox(key="home.layer").options == ["Transformer layer 2", "Transformer layer 1"]
    assert len(app.selectbox(key="home.head").options) == 4
    assert data_of(app, "heatmap")[0]["title"] == "Cross attention, layer 2 of 2, mean of 3 heads"
    first = data_of(app, "heatmap")[0]["weights"]
    app.selectbox(key="home.layer").set_value(1).run()
    app.selectbox(key="home.head").set_value(2).run()
    assert data_of(app, "heatmap")[0]["title"] == "Cross attention, layer 1 of 2, head 2 of 3"
    assert data_of(app, "heatmap")[0]["weights"] != first
    assert (app.query_params["l"], app.query_params["h"]) == ("1", "2")


def test_a_link_to_a_head_that_is_not_there_shows_the_mean(assets: Path) -> None:
    app = visit(m="transformer", l="9", h="16")
    assert data_of(app, "heatmap")[0]["title"] == "Cross attention, layer 2 of 2, mean of 3 heads"
    assert not app.exception and not app.error


def test_at_most_six_systems_stand_side_by_side(assets: Path) -> None:
    slugs = [item.slug for item in home.TRANSLATORS]
    six = [*slugs[:5], slugs[-1]]
    app = visit(m=",".join(six))
    app.pills(key="home.systems").set_value([*six, slugs[5]]).run()
    assert [one.value for one in app.toast] == ["At most 6 systems fit side by side. Take one away first."]
    assert app.query_params["m"].split(",") == six
    assert app.pills(key="home.systems").value == six
    assert not app.exception


def test_a_presenter_sees_the_sentence_though_the_box_is_folded(assets: Path) -> None:
    assert ">The report was convincing.</p>" in html_of(visit(s=PLAIN, present="1"))
    assert 'class="se-output se-presented"' not in html_of(visit(s=PLAIN))


def test_the_way_on_carries_the_sentence(assets: Path) -> None:
    made = html_of(visit(s="Thank you."))
    assert 'href="alignment?v=1&amp;s=Thank+you."' in made
    assert 'href="fixed_context?v=1&amp;s=Thank+you."' in made


def test_the_table_names_every_system_and_says_where_its_figures_come_from(assets: Path) -> None:
    app = visit()
    frame = app.dataframe[0].value
    assert list(frame.index) == [item.title for item in home.TRANSLATORS]
    assert any("fixed test split" in one.value and "not on your sentence" in one.value for one in app.caption)


def test_the_training_logs_open_from_the_link(assets: Path) -> None:
    assert "No training log" in "".join(one.value for one in visit(m="", tr="1").info)
    log = assets / "checkpoints" / "rnn_search" / "log.jsonl"
    log.write_text('{"step": 100, "valid_loss": 2.5, "seconds": 60.0}\n')
    app = visit(m="", tr="1")
    assert not app.exception
    assert "Validation loss" in app.dataframe[-1].value.columns
