"""Ribbon: source tokens above, target tokens below, arcs as wide as the weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.components import _payload
from app.components._build import register
from app.components._payload import matrix, pack_bits, pack_numbers, words

_mount = register("ribbon", ("ribbon.js",))


def ribbon(
    weights: np.ndarray,
    target: Sequence[str],
    source: Sequence[str],
    *,
    key: str,
    title: str = "",
    group: str | None = None,
    source_group: str | None = None,
    changed_rows: np.ndarray | Sequence[bool] | None = None,
    value: str = "weight",
    least: float = 0.02,
    version: str | None = None,
) -> None:
    """Draw `weights` (T, S), all >= 0, as arcs; those under `least` are left out of the picture, not of the table.

    group, source_group, changed_rows (T,), version: as for `heatmap`, with which it links by the same group.
    Raises ValueError on shapes that do not agree, negative or infinite weights, or empty labels.
    """
    rows, columns = words("target", target), words("source", source)
    array = matrix("weights", weights, (len(rows), len(columns)))
    if (array < 0).any():
        raise ValueError("weights of a ribbon must not be negative")
    marks = None if changed_rows is None else pack_bits(matrix("changed_rows", changed_rows, (len(rows),)))
    data = {"rows": rows, "columns": columns, "weights": pack_numbers(array), "changed_rows": marks}
    data |= {"title": title, "value": value, "least": least}
    links = {"group": group, "source_group": source_group, "version": version or _payload.digest(data)}
    _mount(key=key, data=data | links)
