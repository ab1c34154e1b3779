"""Barcode: two vectors and their difference, one thin stripe a channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.components import _payload
from app.components._build import register
from app.components._payload import matrix, pack_numbers

_mount = register("barcode", ("barcode.js",))


def barcode(
    a: np.ndarray,
    b: np.ndarray,
    *,
    key: str,
    title: str,
    parts: Sequence[tuple[str, int, int]],
    names: tuple[str, str] = ("A", "B"),
    by_difference: bool = False,
    version: str | None = None,
) -> None:
    """Draw vectors a and b (C,) and b - a on one scale symmetric around zero.

    parts: (symbol, first channel, one past the last), in order without gaps; each is drawn on a line of its own.
    by_difference: within a part, the largest |b - a| comes first instead of the channel's own order.
    Raises ValueError when lengths do not agree or the parts leave a gap.
    """
    edges = [0, *(stop for _, _, stop in parts)]
    if [start for _, start, _ in parts] != edges[:-1] or edges[-1] != len(a):
        raise ValueError(f"parts must cover channels 0 to {len(a)} in order without gaps")
    first, second = np.asarray(a), matrix("b", b, (len(a),))
    order = [int(k) for _, start, stop in parts for k in _order(first, second, start, stop, by_difference)]
    most = float(max(np.abs(first).max(), np.abs(second).max(), np.abs(second - first).max())) or 1.0
    data = {"a": pack_numbers(first), "b": pack_numbers(second), "parts": [list(part) for part in parts]}
    data |= {"title": title, "names": list(names), "order": order, "most": most}
    _mount(key=key, data=data | {"version": version or _payload.digest(data)})


def _order(a: np.ndarray, b: np.ndarray, start: int, stop: int, by_difference: bool) -> np.ndarray:
    channels = np.arange(start, stop)
    return channels[np.argsort(-np.abs((b - a)[start:stop]), kind="stable")] if by_difference else channels
