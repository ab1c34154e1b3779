"""Tracks: several curves over the same positions, one above the other, linked on hover; one of them may be drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from app.components import _payload
from app.components._build import register
from app.components._payload import matrix, pack_numbers, words

Role = Literal["source", "target", "state", "decision", "change", "muted"]
Style = Literal["line", "stem", "dot"]

_mount = register("tracks", ("tracks.js",))


@dataclass(frozen=True)
class Curve:
    """One line of a track: values (N,), and whether it is joined, drawn as stems from zero, or as rings."""

    name: str
    values: np.ndarray
    role: Role = "state"
    style: Style = "line"


@dataclass(frozen=True)
class Track:
    """Curves on one axis. limits None: what the curves need, zero included; a drawn track needs its own."""

    title: str
    curves: tuple[Curve, ...]
    limits: tuple[float, float] | None = None
    drawn: bool = False


def tracks(
    shown: Sequence[Track],
    *,
    key: str,
    title: str,
    labels: Sequence[str] | None = None,
    position: str = "position",
    on_draw: Callable[[tuple[int, ...]], None] | None = None,
    version: str | None = None,
) -> None:
    """Draw the tracks, all of N positions. labels: N words for the positions (default: 0 .. N - 1).

    At most one track is `drawn`: the pointer or the arrow keys change its first curve, and on_draw receives all of its
    values in hundredths, within its limits, before the rerun. Raises ValueError on lengths that do not agree, values
    that are not finite, or two drawn tracks.
    """
    length = len(shown[0].curves[0].values)
    if sum(one.drawn for one in shown) > 1 or any(one.drawn and one.limits is None for one in shown):
        raise ValueError("at most one track is drawn, and it needs limits")
    names = words("labels", labels) if labels is not None else [str(k) for k in range(length)]
    matrix("labels", np.zeros(len(names)), (length,))
    data = {
        "title": title,
        "position": position,
        "labels": names,
        "tracks": [_track(one, length) for one in shown],
    }
    limits = next((one.limits for one in shown if one.drawn), None)
    commit = int(_payload.committed(key).get("commit", 0))
    data |= {"version": version or _payload.digest(data), "commit": commit}
    _mount(key=key, data=data, on_selection_change=lambda: _hand_over(key, length, limits, on_draw))


def _track(one: Track, length: int) -> dict[str, Any]:
    curves = [
        {
            "name": c.name,
            "role": c.role,
            "style": c.style,
            "values": pack_numbers(matrix(c.name, c.values, (length,))),
        }
        for c in one.curves
    ]
    return {
        "title": one.title,
        "curves": curves,
        "limits": list(one.limits or _limits(one)),
        "drawn": one.drawn,
    }


def _limits(one: Track) -> tuple[float, float]:
    """Zero and every value, with a little air."""
    every = np.concatenate([np.asarray(c.values, dtype=float) for c in one.curves])
    low, high = min(0.0, float(every.min())), max(0.0, float(every.max()))
    air = 0.06 * (high - low) or 1.0
    return low - air * (low < 0 or high == low), high + air


def _hand_over(
    key: str,
    length: int,
    limits: tuple[float, float] | None,
    on_draw: Callable[[tuple[int, ...]], None] | None,
) -> None:
    """What the browser sent is only used where it is as many whole numbers as the track has positions."""
    values = _payload.committed(key).get("values")
    if on_draw is None or limits is None or not isinstance(values, list) or len(values) != length:
        return
    if all(isinstance(v, int | float) and np.isfinite(v) for v in values):
        low, high = (round(100 * edge) for edge in limits)
        on_draw(tuple(min(high, max(low, round(v))) for v in values))
