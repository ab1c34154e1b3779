"""Exports keep every number and start no formula."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.ui.export import matrix, to_csv, to_json


def _cells(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))


def test_a_matrix_keeps_numbers_accents_and_repeated_words_apart() -> None:
    frame = matrix(np.array([[0.25, 0.5, 0.25]]), ["était"], ["the", "dog", "the"])
    assert _cells(to_csv(frame)) == [["", "the (1)", "dog", "the (3)"], ["était", "0.25", "0.5", "0.25"]]


def test_a_word_that_looks_like_a_formula_is_defused_and_a_bare_sign_kept() -> None:
    frame = matrix(np.array([[-0.5, 1.0]]), ["=1+1"], ["-", "@x"])
    assert _cells(to_csv(frame)) == [["", "-", "'@x"], ["'=1+1", "-0.5", "1.0"]]


@dataclass(frozen=True)
class Result:
    weights: np.ndarray
    words: tuple[str, ...]


def test_results_become_json() -> None:
    made = to_json({"run": Result(np.array([[0.5]], dtype=np.float32), ("é",)), "count": np.int64(3)})
    assert json.loads(made) == {"run": {"weights": [[0.5]], "words": ["é"]}, "count": 3}


def test_what_has_no_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        to_json({"x": object()})


def panel() -> None:
    import numpy as np

    from app.ui.export import export_panel, matrix, table_view

    frame = matrix(np.full((3, 2), 0.123456), ["a", "b", "c"], ["x", "y"])
    export_panel(
        "alignment", tables={"Weights": frame}, numbers={"w": frame.to_numpy()}, python="import models\n"
    )
    table_view(frame, "weights")


def test_the_panel_offers_each_table_all_numbers_and_the_python_lines() -> None:
    app = AppTest.from_function(panel).run()
    assert not app.exception
    assert [one.proto.label for one in app.get("download_button")] == ["Weights (CSV)", "All numbers (JSON)"]
    assert [one.value for one in app.code] == ["import models"]


def test_the_table_view_is_a_real_table_with_rounded_numbers() -> None:
    app = AppTest.from_function(panel).run()
    assert [one.label for one in app.expander] == ["Table: weights"]
    assert set(app.table[0].value.to_numpy().ravel()) == {"0.123"}
