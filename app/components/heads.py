"""Heads: the weights of all heads of one layer as small maps on one canvas, one of them chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from app.components import _payload
from app.components._build import register
from app.components._payload import Selection, matrix, pack_bits, pack_numbers, words

_mount = register("heads", ("heads.js",))


def heads(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    key: str,
    title: str,
    mask: np.ndarray | None = None,
    names: Sequence[str] | None = None,
    group: str | None = None,
    chosen: int | None = None,
    on_choose: Callable[[int], None] | None = None,
    version: str | None = None,
) -> None:
    """Draw `weights` (H, R, C), each from 0 to 1, a byte a weight.

    queries, keys: the R row and C column labels. mask (R, C) True = may not be read. names: H titles (default: head 1
    ..). group links the cell under the pointer with the other pictures of the group. on_choose(head) hears which map
    was clicked, before the rerun. Raises ValueError on shapes that do not agree.
    """
    rows, columns = words("queries", queries), words("keys", keys)
    count = len(weights)
    titles = words("names", names or [f"Head {n + 1}" for n in range(count)])
    matrix("names", np.zeros(len(titles)), (count,))
    shape = (count, len(rows), len(columns))
    data = {
        "rows": rows,
        "columns": columns,
        "heads": count,
        "names": titles,
        "weights": pack_numbers(matrix("weights", weights, shape), (0.0, 1.0)),
        "mask": None if mask is None else pack_bits(matrix("mask", mask, shape[1:])),
        "title": title,
        "group": group,
    }
    at = None if chosen is None else Selection(chosen)
    known, commit = _payload.resolve(key, at, _payload.digest({"names": titles}), (count, 1))
    data |= {"version": version or _payload.digest(data)}
    data |= {"chosen": None if known is None else known.row, "commit": commit}

    def heard(selection: Selection | None) -> None:
        if on_choose is not None and selection is not None and 0 <= selection.row < count:
            on_choose(selection.row)

    _mount(key=key, data=data, on_selection_change=_payload.notify(key, heard))
