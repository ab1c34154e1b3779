from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.components import Stage, heatmap, ribbon, step_player, token_strip

GALLERY = Path(__file__).parents[2] / "browser" / "gallery_app.py"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the bindings hand to Streamlit, newest last."""
    data: list[dict[str, Any]] = []
    for name in ("heatmap", "ribbon", "step_player", "token_strip"):
        module = sys.modules[f"app.components.{name}"]
        monkeypatch.setattr(module, "_mount", lambda **kwargs: data.append(kwargs["data"]))
    return data


def test_the_gallery_runs() -> None:
    app = AppTest.from_file(GALLERY, default_timeout=30).run()
    assert not app.exception


def test_the_version_names_the_numbers(sent: list[dict[str, Any]]) -> None:
    for weights in ([[0.5, 0.5]], [[0.5, 0.5]], [[0.25, 0.75]]):
        heatmap(np.array(weights), ["a"], ["b", "c"], key="k")
    versions = [data["version"] for data in sent]
    assert versions[0] == versions[1] != versions[2]
    heatmap(np.array([[1.0]]), ["a"], ["b"], key="k", version="run 7")
    assert sent[-1]["version"] == "run 7"


def test_gold_links_are_split_into_sure_and_possible(sent: list[dict[str, Any]]) -> None:
    heatmap(np.ones((1, 3)), ["a"], ["b", "c", "d"], key="k", gold=np.array([[2, 1, 0]]))
    assert sent[-1]["sure"] == {"n": 3, "b": "gA=="}  # 100
    assert sent[-1]["possible"] == {"n": 3, "b": "QA=="}  # 010


@pytest.mark.parametrize("name", ["mask", "gold", "scores", "changed"])
def test_arrays_must_match_the_labels(name: str) -> None:
    wrong: dict[str, Any] = {name: np.zeros((2, 2))}
    with pytest.raises(ValueError, match=name):
        heatmap(np.ones((1, 2)), ["a"], ["b", "c"], key="k", **wrong)


def test_limits_must_be_in_order() -> None:
    with pytest.raises(ValueError, match="limits"):
        heatmap(np.ones((1, 1)), ["a"], ["b"], key="k", limits=(1.0, 0.0))


def test_a_ribbon_refuses_negative_weights() -> None:
    with pytest.raises(ValueError, match="negative"):
        ribbon(np.array([[-0.1]]), ["a"], ["b"], key="k")


def test_a_word_sums_the_log_probabilities_of_its_pieces(sent: list[dict[str, Any]]) -> None:
    spans = [("non", 0, 1), ("convaincant", 1, 3)]
    token_strip(["non", "con", "vaincant"], [-0.1, -0.2, -0.3], key="k", spans=spans, changed=[False, True])
    word = sent[-1]["words"][1]
    assert word["log_prob"] == pytest.approx(-0.5)
    assert [piece["text"] for piece in word["pieces"]] == ["con", "vaincant"]
    assert word["changed"] is True


@pytest.mark.parametrize("spans", [[("a", 0, 1)], [("a", 0, 1), ("b", 2, 3)], [("a", 0, 3), ("b", 3, 3)]])
def test_spans_must_cover_the_pieces(spans: list[tuple[str, int, int]]) -> None:
    with pytest.raises(ValueError, match="without gaps"):
        token_strip(["x", "y", "z"], [-1.0, -1.0, -1.0], key="k", spans=spans)


@pytest.mark.parametrize("log_prob", [0.5, float("nan"), float("-inf")])
def test_log_probabilities_are_checked(log_prob: float) -> None:
    with pytest.raises(ValueError, match="log_probs"):
        token_strip(["x"], [log_prob], key="k")


def play(*stages: Stage, **more: Any) -> None:
    step_player(stages, ["a", "b"], ["c"], key="k", weights=np.ones((2, 1)), log_probs=[-1.0, -2.0], **more)


def test_a_player_sends_one_preview_a_step(sent: list[dict[str, Any]]) -> None:
    play(Stage("s", "s_t", "state", inputs=("H",), preview=np.zeros((2, 4)), norm=np.ones(2)))
    assert [stage["inputs"] for stage in sent[-1]["stages"]] == [["H"]]
    with pytest.raises(ValueError, match="preview"):
        play(Stage("s", "s_t", "state", inputs=("H",), preview=np.zeros((3, 4))))


def test_a_stage_reads_only_what_is_there() -> None:
    with pytest.raises(ValueError, match="no earlier stage"):
        play(Stage("c", "c_t", "context", inputs=("weights",)))
    with pytest.raises(ValueError, match="twice"):
        play(Stage("c", "c_t", "context", inputs=("H",)), Stage("c", "c_t", "again"))
    with pytest.raises(ValueError, match="at least one"):
        play(Stage("c", "c_t", "context"))
