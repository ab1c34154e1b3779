"""Heatmap of a (target x source) matrix on a canvas: linked hover, keyboard, table, SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from app.components import _payload
from app.components._build import register
from app.components._payload import Selection, as_cell, matrix, pack_bits, pack_numbers, words

Role = Literal["source", "target", "state", "decision"]

_mount = register("heatmap", ("grid.js", "heatmap.js", "heatmap_hand.js"))


def heatmap(
    weights: np.ndarray,
    target: Sequence[str],
    source: Sequence[str],
    *,
    key: str,
    title: str = "",
    group: str | None = None,
    source_group: str | None = None,
    scores: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    gold: np.ndarray | None = None,
    changed: np.ndarray | None = None,
    changed_rows: np.ndarray | Sequence[bool] | None = None,
    selected: Selection | None = None,
    select: Literal["cell", "row", "none"] = "cell",
    on_select: Callable[[Selection | None], None] | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
    scale: Literal["sequential", "diverging"] = "sequential",
    value: str = "weight",
    row_role: Role = "target",
    column_role: Role = "source",
    source_rows: int | None = None,
    source_columns: int | None = None,
    print_from: float = 0.05,
    exact: bool = True,
    version: str | None = None,
) -> Selection | None:
    """Draw `weights` (T, S) and return what the reader selected (None: nothing).

    target, source: the T row and S column labels. scores (T, S): shown in the tooltip. mask (T, S) True = the
    row may not read that column (hatched). gold (T, S): 2 sure link, 1 possible link, 0 none. changed (T, S) and
    changed_rows (T,): True = differs from the pinned run. limits: the values at the two ends of the colour scale;
    with scale="diverging" give limits symmetric around zero. print_from: smaller magnitudes are printed only in
    the row under the pointer. exact=False sends one byte a value instead of float32.
    group: pictures on the page with the same group point at the same (row, column); source_group links columns only.
    source_rows, source_columns: where source and target share an axis, how many of its labels are the source's.
    version: becomes `data-version` on the picture once it is drawn (default: a digest of the data).
    on_select(selection) runs before the rerun that a selection causes.

    Raises ValueError on shapes that do not agree, values that are not finite, or empty labels.
    """
    rows, columns = words("target", target), words("source", source)
    shape = (len(rows), len(columns))
    data = {
        "rows": rows,
        "columns": columns,
        "weights": pack_numbers(matrix("weights", weights, shape), None if exact else limits),
        "scores": None if scores is None else pack_numbers(matrix("scores", scores, shape)),
        **_marks(shape, mask, gold, changed, changed_rows),
        "limits": _limits(limits),
        "scale": scale,
    }
    looks = {"title": title, "value": value, "row_role": row_role, "column_role": column_role}
    looks |= {"source_rows": source_rows, "source_columns": source_columns}
    links = {"group": group, "source_group": source_group, "select": select, "print_from": print_from}
    identity = _payload.digest({"rows": rows, "columns": columns})
    chosen, commit = _payload.resolve(key, selected, identity, shape)
    data |= looks | links | {"version": version or _payload.digest(data | looks)}
    data |= {"selected": as_cell(chosen), "commit": commit}
    _mount(key=key, data=data, on_selection_change=_payload.notify(key, on_select))
    return chosen


def _marks(
    shape: tuple[int, int],
    mask: np.ndarray | None,
    gold: np.ndarray | None,
    changed: np.ndarray | None,
    changed_rows: np.ndarray | Sequence[bool] | None,
) -> dict[str, Any]:
    links = None if gold is None else matrix("gold", gold, shape)
    return {
        "mask": None if mask is None else pack_bits(matrix("mask", mask, shape)),
        "sure": None if links is None else pack_bits(links == 2),
        "possible": None if links is None else pack_bits(links == 1),
        "changed": None if changed is None else pack_bits(matrix("changed", changed, shape)),
        "changed_rows": None
        if changed_rows is None
        else pack_bits(matrix("changed_rows", changed_rows, shape[:1])),
    }


def _limits(limits: tuple[float, float]) -> list[float]:
    low, high = float(limits[0]), float(limits[1])
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"limits must be two finite numbers, the smaller first, not {limits}")
    return [low, high]
