"""What crosses to the browser: arrays as base64 bytes, masks as bits, and the number of the hand's last commit."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st


@dataclass(frozen=True)
class Selection:
    """What the reader chose: a row (target position) and, unless a whole row was chosen, a column."""

    row: int
    column: int | None = None


def pack_numbers(values: np.ndarray, limits: tuple[float, float] | None = None) -> dict[str, Any]:
    """Float32 bytes; with `limits`, one byte a value (precise to 1/255 of the range).

    Raises ValueError when a value is not finite.
    """
    array = np.asarray(values, dtype=np.float32)
    if not np.isfinite(array).all():
        raise ValueError("values must be finite; hide cells with a mask instead")
    if limits is None:
        return {"type": "f4", "b": _base64(array.astype("<f4"))}
    low, high = limits
    scaled = np.clip((array - low) / (high - low), 0, 1) * 255
    return {"type": "u1", "range": [low, high], "b": _base64(np.rint(scaled).astype(np.uint8))}


def pack_bits(mask: np.ndarray) -> dict[str, Any]:
    """Boolean array, row by row, eight a byte (most significant bit first)."""
    flat = np.asarray(mask, dtype=bool).ravel()
    return {"n": int(flat.size), "b": _base64(np.packbits(flat))}


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def matrix(name: str, values: np.ndarray | Sequence[bool], shape: tuple[int, ...]) -> np.ndarray:
    """`values` as an array; ValueError unless it has `shape`."""
    array = np.asarray(values)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    return array


def words(name: str, labels: Sequence[str]) -> list[str]:
    """`labels` as a list of strings without lone surrogates (JSON and SVG hold none); ValueError when empty."""
    if isinstance(labels, str) or not labels:
        raise ValueError(f"{name} must be a non-empty sequence of words")
    return [str(label).encode("utf-8", "replace").decode("utf-8") for label in labels]


def digest(payload: dict[str, Any]) -> str:
    """Twelve hexadecimal digits that name a payload: the `data-version` of a picture unless the caller gives one."""
    return hashlib.sha1(json.dumps(payload, sort_keys=True).encode()).hexdigest()[:12]


def committed(key: str) -> dict[str, Any]:
    """What the hand committed last in the component `key`; empty before the first commit."""
    state = st.session_state.get(key)
    value = state.get("selection") if isinstance(state, dict) else None
    return value if isinstance(value, dict) else {}


def _selection(cell: Sequence[int] | None) -> Selection | None:
    if not cell:
        return None
    row, column = cell
    return Selection(int(row), int(column) if column >= 0 else None)


def resolve(
    key: str, selected: Selection | None, identity: str, shape: tuple[int, int]
) -> tuple[Selection | None, int]:
    """The selection to show, and the number of the newest commit known here.

    The hand's last commit holds until the caller passes another `selected` or shows other rows and columns
    (`identity`); then the caller's value does.
    """
    state = committed(key)
    commit = int(state.get("commit", 0))
    memory = st.session_state.setdefault(f"{key}:memory", {"asked": (selected, identity), "until": 0})
    if memory["asked"] != (selected, identity):
        memory = st.session_state[f"{key}:memory"] = {"asked": (selected, identity), "until": commit}
    chosen = _selection(state.get("cell")) if commit > memory["until"] else selected
    inside = chosen is None or (chosen.row < shape[0] and (chosen.column or 0) < shape[1])
    return (chosen if inside else None), commit


def notify(key: str, on_select: Callable[[Selection | None], None] | None) -> Callable[[], None]:
    """A Streamlit callback that hands `on_select` the committed selection, before the rerun starts."""

    def changed() -> None:
        if on_select is not None:
            on_select(_selection(committed(key).get("cell")))

    return changed


def as_cell(selection: Selection | None) -> list[int] | None:
    """[row, column], column -1 for a whole row; None for no selection."""
    if selection is None:
        return None
    return [selection.row, -1 if selection.column is None else selection.column]
