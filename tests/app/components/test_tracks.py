"""What the binding of the tracks hands over, and what it takes from a browser that may send anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import streamlit as st

from app.components import tracks as module
from app.components.tracks import Curve, Track, tracks

DRAWN = Track("u", (Curve("u", np.zeros(3)),), (-1.0, 1.0), drawn=True)


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is handed to Streamlit, newest last; the session is a plain dictionary."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(module, "_mount", lambda **kwargs: calls.append(kwargs))
    monkeypatch.setattr(st, "session_state", {})
    return calls


def test_limits_hold_zero_and_every_value(mounted: list[dict[str, Any]]) -> None:
    tracks(
        [Track("y", (Curve("a", np.array([1.0, 3.0])), Curve("b", np.array([2.0, -5.0]))))],
        key="k",
        title="t",
    )
    low, high = mounted[-1]["data"]["tracks"][0]["limits"]
    assert low < -5 < 0 < 3 < high
    tracks([Track("y", (Curve("flat", np.zeros(2)),))], key="k", title="t")
    low, high = mounted[-1]["data"]["tracks"][0]["limits"]
    assert low < 0 < high


def test_what_does_not_fit_is_refused(mounted: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="b has shape"):
        tracks([Track("y", (Curve("a", np.zeros(2)), Curve("b", np.zeros(3))))], key="k", title="t")
    with pytest.raises(ValueError, match="at most one"):
        tracks([DRAWN, DRAWN], key="k", title="t")
    with pytest.raises(ValueError, match="at most one"):
        tracks([Track("u", (Curve("u", np.zeros(2)),), drawn=True)], key="k", title="t")
    with pytest.raises(ValueError, match="finite"):
        tracks([Track("y", (Curve("a", np.array([np.nan])),))], key="k", title="t")
    assert not mounted


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        ([10, -20, 30], (10, -20, 30)),
        ([1e9, -1e9, 0.4], (100, -100, 0)),
        ([1, 2], None),
        ([1, 2, "3"], None),
        ([1, 2, float("nan")], None),
        ("123", None),
        (None, None),
    ],
)
def test_only_as_many_numbers_as_positions_are_taken(
    mounted: list[dict[str, Any]], sent: Any, heard: tuple[int, ...] | None
) -> None:
    told: list[tuple[int, ...]] = []
    tracks([DRAWN], key="k", title="t", on_draw=told.append)
    st.session_state["k"] = {"selection": {"commit": 1, "values": sent}}
    mounted[-1]["on_selection_change"]()
    assert told == ([] if heard is None else [heard])


def test_the_newest_commit_goes_back_to_the_browser(mounted: list[dict[str, Any]]) -> None:
    st.session_state["k"] = {"selection": {"commit": 7, "values": []}}
    tracks([DRAWN], key="k", title="t")
    assert mounted[-1]["data"]["commit"] == 7
