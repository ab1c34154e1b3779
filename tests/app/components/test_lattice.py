"""What the bindings of the lattice and of its table hand over, and what they take from a browser."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import streamlit as st

from app.components.lattice import LatticeLayer, lattice, rows_of
from app.components.layer_table import LayerRow, layer_table

LAYERS = [LatticeLayer("k=2 d=1", (-1, 0)), LatticeLayer("k=2 d=2 s=2", (-2, 0), 2)]
LIMITS = {"width": 64, "dilation": 1024, "stride": 8}


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is handed to Streamlit, newest last; the session is a plain dictionary."""
    calls: list[dict[str, Any]] = []
    for name in ("lattice", "layer_table"):
        monkeypatch.setattr(
            sys.modules[f"app.components.{name}"], "_mount", lambda **kwargs: calls.append(kwargs)
        )
    monkeypatch.setattr(st, "session_state", {})
    return calls


def test_a_stride_thins_the_rows_above(mounted: list[dict[str, Any]]) -> None:
    assert rows_of(LAYERS, 7) == [7, 7, 4]
    lattice(LAYERS, 7, key="k", title="t")
    assert mounted[-1]["data"]["counts"] == [7, 7, 4]
    assert mounted[-1]["data"]["output"] == 3


@pytest.mark.parametrize(
    ("layers", "positions", "output"),
    [
        ([], 4, None),
        (LAYERS, 0, None),
        (LAYERS, 7, 4),
        (LAYERS, 7, -1),
        ([LatticeLayer("", (0,), 0)], 4, None),
    ],
)
def test_what_is_not_there_is_refused(
    layers: list[LatticeLayer], positions: int, output: int | None, mounted: list[dict[str, Any]]
) -> None:
    with pytest.raises(ValueError):
        lattice(layers, positions, key="k", title="t", output=output)
    assert not mounted


@pytest.mark.parametrize(
    ("sent", "heard"),
    [(2, 2), (0, 0), (4, None), (-1, None), ("1", None), (1.5, None), (True, None), (None, None)],
)
def test_only_a_row_of_the_last_layer_is_taken(
    sent: Any, heard: int | None, mounted: list[dict[str, Any]]
) -> None:
    told: list[int] = []
    lattice(LAYERS, 7, key="k", title="t", on_choose=told.append)
    st.session_state["k"] = {"selection": {"commit": 1, "output": sent}}
    mounted[-1]["on_selection_change"]()
    assert told == ([] if heard is None else [heard])


def test_the_newest_commit_goes_back(mounted: list[dict[str, Any]]) -> None:
    st.session_state["k"] = {"selection": {"commit": 7}}
    lattice(LAYERS, 7, key="k", title="t")
    layer_table([LayerRow("2", "1")], key="k", limits=LIMITS, most=4, on_edit=lambda rows: None)
    assert [call["data"]["commit"] for call in mounted] == [7, 7]


GOOD = {"width": "2", "dilation": "4", "causal": False, "stride": "1"}


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        ([GOOD], (LayerRow("2", "4", False),)),
        ([{**GOOD, "width": ""}], (LayerRow("", "4", False),)),
        ([GOOD] * 3, None),
        ([], None),
        ([{**GOOD, "width": 2}], None),
        ([{**GOOD, "causal": "yes"}], None),
        ([{**GOOD, "stride": "1" * 9}], None),
        ([{"width": "2"}], None),
        (["2x4"], None),
        ("2x4", None),
        (None, None),
    ],
)
def test_only_rows_of_short_texts_are_taken(sent: Any, heard: Any, mounted: list[dict[str, Any]]) -> None:
    told: list[tuple[LayerRow, ...]] = []
    layer_table([LayerRow("2", "1")], key="k", limits=LIMITS, most=2, on_edit=told.append)
    st.session_state["k"] = {"selection": {"commit": 1, "rows": sent}}
    mounted[-1]["on_selection_change"]()
    assert told == ([] if heard is None else [heard])


def test_a_table_needs_a_layer() -> None:
    with pytest.raises(ValueError, match="needs a layer"):
        layer_table([], key="k", limits=LIMITS, most=2, on_edit=lambda rows: None)
