"""The Alignment page run in one process: systems, panels, links, and checkpoints that are missing or damaged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.labs.alignment_parts.settings import PANELS
from tests.app.alignment_toys import SENTENCE, alignment_assets
from tests.app.toys import flip_a_byte, using

PAGE = Path(__file__).parents[3] / "app/labs/alignment.py"
FRENCH = "Le rapport n'était pas convaincant."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return alignment_assets(tmp_path_factory)


@pytest.fixture(scope="module", autouse=True)
def assets(folder: Path) -> Iterator[Path]:
    with using(folder):
        yield folder


def visit(**params: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=300)
    for name, raw in ({"v": "1"} | params).items():
        app.query_params[name] = raw
    return app.run()


def html_of(app: AppTest) -> str:
    return "\n".join(one.proto.body for one in app.get("html"))


def data_of(app: AppTest, kind: str) -> list[dict[str, Any]]:
    found = [one.proto for one in app.get("bidi_component")]
    return [json.loads(one.json) for one in found if one.component_name.endswith(kind)]


def calm(app: AppTest) -> AppTest:
    assert not app.exception and not app.error and not app.warning and not app.info
    return app


def test_the_page_opens_with_the_additive_score_its_picture_and_its_checks() -> None:
    app = calm(visit())
    (picture,), (arcs,), (strip,) = (data_of(app, kind) for kind in ("heatmap", "ribbon", "token_strip"))
    assert picture["rows"] == ["Le", "rapport", "n'", "était", "pas", "convaincant", ".", "EOS"]
    assert picture["columns"] == arcs["columns"] == ["The", "report", "was", "not", "convincing", ".", "EOS"]
    assert picture["group"] == arcs["group"] == strip["group"]
    made = html_of(app)
    assert "RNNsearch" in made and "trained as shown" in made
    assert 'class="bad"' not in made and "rows sum to 1" in made and "step = score" in made
    assert app.query_params == {}


@pytest.mark.parametrize("system", ["additive", "general", "concat", "heads"])
@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_opens_for_every_kind_of_system(panel: str, system: str) -> None:
    extra = {"j": "1", "sw": "proposal", "r": "3"} if panel in ("swap", "force") else {"r": "1"}
    app = calm(visit(sc=system, p=panel, **extra))
    assert len(data_of(app, "heatmap")) == (
        1 if panel in ("decision", "order") or (panel, system) == ("move", "heads") else 2
    )
    assert len(data_of(app, "step_player")) == (panel == "order")
    assert 'class="bad"' not in html_of(app)


@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_opens_for_local_p_over_pieces_with_a_moved_centre(panel: str) -> None:
    app = calm(visit(sc="general", wi="local_p", d="2", c="-1", w="pieces", p=panel, j="2", sw="very"))
    made = html_of(app)
    assert "trained with D = 4, centre moved by -1" in made
    assert "rows sum as Eq. 10 says" in made and 'class="bad"' not in made
    assert "nothing is normalised again" in made


def test_a_linear_concat_lets_one_discover_that_its_rows_are_equal() -> None:
    made = html_of(calm(visit(sc="concat")))
    assert "Discover:" in made and "Every output word reads the same mixture." in made
    assert "Discover:" not in html_of(calm(visit(sc="general")))


def test_a_recombination_is_marked_and_a_trained_system_is_not() -> None:
    assert "Weights trained for another setting: trained with the general score" in html_of(
        calm(visit(sc="dot"))
    )
    made = html_of(calm(visit(sc="general", k="dot-local_m")))
    assert made.count("Weights trained for another setting") == 1 and made.count("trained as shown") == 1


def test_two_systems_stand_side_by_side() -> None:
    app = calm(visit(k="heads-global", t="forced", f=FRENCH))
    first, second = data_of(app, "heatmap")
    assert first["rows"] == second["rows"]
    assert first["source_group"] == second["source_group"] and first["group"] != second["group"]
    assert html_of(app).count('class="se-checks"') == 2


def test_only_what_exists_is_offered_and_a_score_keeps_its_own_windows() -> None:
    app = visit()
    score = next(one for one in app.get("button_group") if one.key == "alignment.score")
    assert [one.content for one in score.proto.options] == [
        "additive",
        "dot",
        "general",
        "concat",
        "heads (Transformer)",
    ]
    app = visit(sc="additive", wi="local_p", fe="0")
    assert "RNNsearch" in html_of(app) and not app.warning
    assert "wi" not in app.query_params and "fe" not in app.query_params


def test_a_system_that_is_not_trained_here_is_said_and_replaced() -> None:
    app = calm(visit(sc="location"))
    assert "No system with the location score is trained on this server yet." in html_of(app)
    assert len(data_of(app, "heatmap")) == 1


def test_your_french_is_followed_and_an_empty_one_is_said() -> None:
    app = calm(visit(sc="general", t="forced", f="Merci."))
    assert data_of(app, "heatmap")[0]["rows"] == ["Merci", ".", "EOS"]
    assert "No French was typed" in html_of(calm(visit(sc="general", t="forced")))


def test_a_beam_and_a_head_live_in_the_link() -> None:
    app = calm(visit(sc="heads", l="1", h="2", t="beam", b="3"))
    assert app.selectbox(key="alignment.layer").value == 1
    assert app.selectbox(key="alignment.head").options == ["mean of 3", "1", "2", "3"]
    kept = {"v": "1", "sc": "heads", "l": "1", "h": "2", "t": "beam", "b": "3"}
    assert {name: app.query_params[name] for name in kept} == kept
    assert data_of(app, "heatmap")[0]["scores"] is not None


def test_a_cell_outside_the_picture_is_ignored() -> None:
    app = calm(visit(r="100", j="90", p="force"))
    assert "Choose a source row above" in html_of(app)


def test_going_on_with_a_changed_sentence_moves_it_into_the_box() -> None:
    app = visit(p="swap", j="1", sw="proposal")
    app.button[-1].click().run()
    assert app.text_input(key="alignment.sentence").value == "The proposal was not convincing."
    assert app.query_params["s"] == "The proposal was not convincing."
    assert "sw" not in app.query_params


def test_choosing_a_pair_makes_it_the_sentence() -> None:
    app = visit(p="gold", s="An unknown sentence.")
    assert "This sentence has no gold links." in html_of(app)
    app.selectbox(key="alignment-pair").set_value(SENTENCE).run()
    assert "s" not in app.query_params
    assert "AER of this pair" in html_of(app)
    assert data_of(app, "heatmap")[1]["sure"] is not None


def test_every_decision_can_be_searched() -> None:
    app = calm(visit(p="move", ev="1", s="Thank you.", e="0.1"))
    assert "Every decision" in html_of(app)


def test_a_damaged_checkpoint_says_so_and_leaves_the_other_system_alone(folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "assets"
    shutil.copytree(folder, copied)
    flip_a_byte(copied / "checkpoints/luong/weights.safetensors")
    with using(copied):
        broken = visit(sc="general", k="heads-global")
    assert [one.value for one in broken.warning] == [
        r"The checkpoint of Luong general is damaged \(weights\.safetensors does not match its sha256\)\. "
        r"Restore it with git\."
    ]
    assert len(data_of(broken, "heatmap")) == 1 and not broken.error and not broken.exception


def test_a_missing_checkpoint_opens_the_nearest_trained_system(folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "assets"
    shutil.copytree(folder, copied)
    shutil.rmtree(copied / "checkpoints/rnn_search")
    with using(copied):
        missing = calm(visit())
    assert "No system with the additive score is trained on this server yet." in html_of(missing)
    assert "Luong general" in html_of(missing) and "trained as shown" in html_of(missing)


def test_without_any_checkpoint_there_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    with using(tmp_path):
        app = visit()
    assert len(app.warning) == 1 and "RNNsearch" in app.warning[0].value
    assert not app.error and not app.exception


@pytest.mark.parametrize("raw", ["", "   ", "x" * 10_000, "日本語を読む人は誰ですか。" * 8])
def test_a_sentence_that_cannot_be_used_draws_nothing(raw: str) -> None:
    app = visit()
    app.text_input(key="alignment.sentence").set_value(raw).run()
    assert not app.exception and not app.error
    assert data_of(app, "heatmap") == []


@pytest.mark.parametrize(
    "raw", ["🍎🍐", "تقرير", "报告不可信。", "<script>alert(1)</script>", "**x** $y$ =1+1"]
)
@pytest.mark.parametrize("panel", ["swap", "force"])
def test_an_odd_sentence_is_read_and_shown_as_text(raw: str, panel: str) -> None:
    app = visit(p=panel, j="0", sw="<b>x</b>")
    app.text_input(key="alignment.sentence").set_value(raw).run()
    calm(app)
    assert "<script" not in html_of(app) and "<b>x</b>" not in html_of(app)


def test_forced_french_that_is_too_long_says_how_much_of_it_is_used() -> None:
    assert "the first 64 are used" in html_of(calm(visit(t="forced", f="le " * 66)))
    assert "are used" not in html_of(calm(visit(t="forced", f=FRENCH)))
