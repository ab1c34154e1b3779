from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from app.components import Selection, _payload
from app.components._build import FOLDER, script


def unpack(packed: dict[str, Any]) -> np.ndarray:
    raw = base64.b64decode(packed["b"])
    if packed["type"] == "f4":
        return np.frombuffer(raw, dtype="<f4")
    low, high = packed["range"]
    return low + np.frombuffer(raw, dtype=np.uint8) / 255 * (high - low)


@given(arrays.arrays(np.float32, (3, 5), elements=some.floats(-9, 9, width=32)))
def test_exact_numbers_survive_to_the_bit(values: np.ndarray) -> None:
    assert np.array_equal(unpack(_payload.pack_numbers(values)), values.ravel())


@given(arrays.arrays(np.float32, (4, 6), elements=some.floats(0, 1, width=32)))
def test_one_byte_a_weight_is_precise_to_half_a_step(values: np.ndarray) -> None:
    packed = _payload.pack_numbers(values, (0.0, 1.0))
    assert len(base64.b64decode(packed["b"])) == values.size
    assert np.abs(unpack(packed) - values.ravel()).max() <= 0.5 / 255 + 1e-6


@given(arrays.arrays(bool, some.tuples(some.integers(1, 9), some.integers(1, 9))))
def test_a_mask_crosses_as_bits(mask: np.ndarray) -> None:
    packed = _payload.pack_bits(mask)
    raw = np.frombuffer(base64.b64decode(packed["b"]), dtype=np.uint8)
    assert len(raw) == -(-mask.size // 8)
    assert np.array_equal(np.unpackbits(raw)[: packed["n"]].astype(bool), mask.ravel())


def test_infinite_values_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        _payload.pack_numbers(np.array([[0.5, np.nan]]))


def test_lone_surrogates_become_something_json_and_svg_can_hold() -> None:
    assert _payload.words("target", ["a\ud800b"]) == ["a?b"]


@pytest.mark.parametrize("labels", ["word", [], ()])
def test_labels_must_be_a_sequence_of_words(labels: Any) -> None:
    with pytest.raises(ValueError, match="non-empty"):
        _payload.words("target", labels)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state: dict[str, Any] = {}
    monkeypatch.setattr(_payload, "st", SimpleNamespace(session_state=state))
    return state


def commit(session: dict[str, Any], number: int, cell: list[int] | None) -> None:
    session["map"] = {"selection": {"commit": number, "cell": cell}}


def test_the_hand_outlasts_reruns(session: dict[str, Any]) -> None:
    assert _payload.resolve("map", None, "a", (4, 4)) == (None, 0)
    commit(session, 1, [2, 3])
    assert _payload.resolve("map", None, "a", (4, 4)) == (Selection(2, 3), 1)
    assert _payload.resolve("map", None, "a", (4, 4)) == (Selection(2, 3), 1)
    commit(session, 2, None)
    assert _payload.resolve("map", None, "a", (4, 4)) == (None, 2)


def test_another_request_of_the_caller_outranks_an_older_commit(session: dict[str, Any]) -> None:
    _payload.resolve("map", Selection(0), "a", (4, 4))
    commit(session, 1, [2, -1])
    assert _payload.resolve("map", Selection(0), "a", (4, 4)) == (Selection(2), 1)
    assert _payload.resolve("map", Selection(1), "a", (4, 4)) == (Selection(1), 1)
    commit(session, 2, [3, -1])
    assert _payload.resolve("map", Selection(1), "a", (4, 4)) == (Selection(3), 2)


def test_other_rows_and_columns_forget_the_selection(session: dict[str, Any]) -> None:
    _payload.resolve("map", None, "a", (4, 4))
    commit(session, 1, [2, 3])
    assert _payload.resolve("map", None, "b", (4, 4)) == (None, 1)


def test_a_selection_outside_the_picture_is_none(session: dict[str, Any]) -> None:
    assert _payload.resolve("map", Selection(9), "a", (4, 4)) == (None, 0)


def test_on_select_hears_the_committed_cell(session: dict[str, Any]) -> None:
    heard: list[Selection | None] = []
    commit(session, 1, [1, -1])
    _payload.notify("map", heard.append)()
    commit(session, 2, None)
    _payload.notify("map", heard.append)()
    assert heard == [Selection(1), None]


def test_no_script_writes_markup() -> None:
    """Visitors' words reach the document only as text."""
    for path in FOLDER.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser"):
            assert way not in text, f"{path.name} uses {way}"


@pytest.mark.parametrize(
    "own", ["heatmap_hand.js", "mask_grid.js", "heads.js", "ribbon.js", "strip.js", "player_hand.js"]
)
def test_a_module_is_small_and_exports_once(own: str) -> None:
    text = script(own)
    assert text.count("export default") == 1
    assert len(text) < 40_000  # Streamlit sends it at every rerun
