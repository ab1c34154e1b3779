"""What the mask grid and the heads hand over, and what they take from a browser that may send anything."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
import streamlit as st

from app.components import heads as heads_module
from app.components import mask_grid as grid_module
from app.components._payload import pack_bits
from app.components.heads import heads
from app.components.mask_grid import mask_grid

LABELS = ["a", "b", "c"]
CAUSAL = np.tri(3, dtype=bool)


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is handed to Streamlit, newest last; the session is a plain dictionary."""
    calls: list[dict[str, Any]] = []
    for module in (grid_module, heads_module):
        monkeypatch.setattr(module, "_mount", lambda **kwargs: calls.append(kwargs))
    monkeypatch.setattr(st, "session_state", {})
    return calls


def bits(mask: np.ndarray) -> str:
    return pack_bits(mask)["b"]


def test_a_mask_crosses_as_bits_and_its_own_relation_beside_it(mounted: list[dict[str, Any]]) -> None:
    mask_grid(np.ones((3, 3), dtype=bool), LABELS, LABELS, key="k", title="t", own=CAUSAL)
    data = mounted[-1]["data"]
    assert data["mask"] == {"n": 9, "b": bits(np.ones(9, dtype=bool))}
    assert data["own"] == {"n": 9, "b": bits(CAUSAL)}
    assert len(base64.b64decode(data["mask"]["b"])) == 2


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"rows": 3, "columns": 3, "bits": bits(CAUSAL)}, True),
        ({"rows": 3, "columns": 2, "bits": bits(CAUSAL)}, False),
        ({"rows": 2, "columns": 2, "bits": bits(CAUSAL[:2, :2])}, False),
        ({"rows": 3, "columns": 3, "bits": bits(CAUSAL)[:2]}, False),
        ({"rows": 3, "columns": 3, "bits": "<script>"}, False),
        ({"rows": 3, "columns": 3, "bits": 7}, False),
        ({}, False),
    ],
)
def test_only_bits_for_this_grid_are_taken(
    mounted: list[dict[str, Any]], sent: dict[str, Any], taken: bool
) -> None:
    heard: list[np.ndarray] = []
    mask_grid(~CAUSAL, LABELS, LABELS, key="k", title="t", on_paint=heard.append)
    st.session_state["k"] = {"selection": {"commit": 1, **sent}}
    mounted[-1]["on_selection_change"]()
    assert len(heard) == int(taken)
    assert all(np.array_equal(mask, CAUSAL) for mask in heard)


def test_the_newest_commit_goes_back_to_the_browser(mounted: list[dict[str, Any]]) -> None:
    st.session_state["k"] = {"selection": {"commit": 9}}
    mask_grid(CAUSAL, LABELS, LABELS, key="k", title="t")
    assert mounted[-1]["data"]["commit"] == 9


def test_shapes_must_agree(mounted: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="mask has shape"):
        mask_grid(CAUSAL, LABELS, LABELS[:2], key="k", title="t")
    with pytest.raises(ValueError, match="own has shape"):
        mask_grid(CAUSAL, LABELS, LABELS, key="k", title="t", own=CAUSAL[:2])
    with pytest.raises(ValueError, match="weights has shape"):
        heads(np.zeros((2, 3, 2)), LABELS, LABELS, key="k", title="t")
    assert not mounted


def test_a_head_is_a_byte_a_weight_and_only_a_real_one_can_be_chosen(mounted: list[dict[str, Any]]) -> None:
    chosen: list[int] = []
    weights = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 3))
    heads(weights, LABELS, LABELS, key="k", title="t", chosen=2, on_choose=chosen.append)
    data = mounted[-1]["data"]
    raw = np.frombuffer(base64.b64decode(data["weights"]["b"]), dtype=np.uint8)
    assert raw.shape == (36,) and np.abs(raw / 255 - weights.ravel()).max() <= 0.5 / 255 + 1e-9
    assert data["chosen"] == 2 and data["names"] == ["Head 1", "Head 2", "Head 3", "Head 4"]
    for n in (1, 9):
        st.session_state["k"] = {"selection": {"commit": 1, "cell": [n, -1]}}
        mounted[-1]["on_selection_change"]()
    assert chosen == [1]
