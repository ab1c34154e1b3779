"""Mask grid: who may read whom, painted by hand; Python is reached when a stroke ends."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from app.components import _payload
from app.components._build import register
from app.components._payload import matrix, pack_bits, words

Role = Literal["source", "target"]

_mount = register("mask_grid", ("grid.js", "mask_grid.js"), ("mask_grid.css",))


def mask_grid(
    mask: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    key: str,
    title: str,
    own: np.ndarray | None = None,
    group: str | None = None,
    row_role: Role = "target",
    column_role: Role = "source",
    source_rows: int | None = None,
    source_columns: int | None = None,
    on_paint: Callable[[np.ndarray], None] | None = None,
    version: str | None = None,
) -> None:
    """Draw `mask` (R, C), True = the query row may read the key column, and let it be painted.

    queries, keys: the R row and C column labels. own (R, C): the relation to compare with (default: `mask`); cells that
    differ are marked. source_rows, source_columns: where source and target share an axis, how many of its labels are
    the source's. on_paint(mask) hears the whole matrix when a stroke has ended, before the rerun that it causes.

    Raises ValueError on shapes that do not agree or empty labels.
    """
    rows, columns = words("queries", queries), words("keys", keys)
    shape = (len(rows), len(columns))
    data = {
        "rows": rows,
        "columns": columns,
        "mask": pack_bits(matrix("mask", mask, shape)),
        "own": pack_bits(matrix("own", mask if own is None else own, shape)),
        "title": title,
        "group": group,
        "row_role": row_role,
        "column_role": column_role,
        "source_rows": source_rows,
        "source_columns": source_columns,
    }
    data |= {
        "version": version or _payload.digest(data),
        "commit": int(_payload.committed(key).get("commit", 0)),
    }
    _mount(key=key, data=data, on_selection_change=lambda: _hand_over(key, shape, on_paint))


def _hand_over(key: str, shape: tuple[int, int], on_paint: Callable[[np.ndarray], None] | None) -> None:
    painted = _received(_payload.committed(key), shape)
    if on_paint is not None and painted is not None:
        on_paint(painted)


def _received(value: dict[str, Any], shape: tuple[int, int]) -> np.ndarray | None:
    """The matrix that the browser sent; None unless it is bits for exactly this shape."""
    if (value.get("rows"), value.get("columns")) != shape or not isinstance(value.get("bits"), str):
        return None
    try:
        raw = base64.b64decode(value["bits"], validate=True)
    except (binascii.Error, ValueError):
        return None
    count = shape[0] * shape[1]
    if len(raw) != -(-count // 8):
        return None
    return np.unpackbits(np.frombuffer(raw, dtype=np.uint8))[:count].astype(bool).reshape(shape)
