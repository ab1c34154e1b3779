"""Lattice: layers by positions, with the edges through which one chosen output reads; cones follow the pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.components import _payload
from app.components._build import register
from app.components._payload import words

_mount = register(
    "lattice", ("lattice_graph.js", "lattice.js", "lattice_hand.js"), ("player.css", "lattice.css")
)


@dataclass(frozen=True)
class LatticeLayer:
    """One layer of edges: row i reads rows `stride` * i + o of the layer below, o in `offsets`, where there are such.

    `whole` rows read every row below and are read by every row above. `told` says in a few words what the layer is.
    """

    told: str
    offsets: tuple[int, ...]
    stride: int = 1
    whole: tuple[int, ...] = ()


def lattice(
    layers: Sequence[LatticeLayer],
    positions: int,
    *,
    key: str,
    title: str,
    output: int | None = None,
    on_choose: Callable[[int], None] | None = None,
    pace: int = 900,
    version: str | None = None,
) -> None:
    """Draw `positions` input rows and the rows of each layer above them, ceil(n / stride) of the n rows below.

    output: the row of the last layer whose field is drawn (default: the last row). The reader may choose another:
    on_choose(row) runs before the rerun. pace: milliseconds a layer while the field grows. Raises ValueError without
    layers or positions, for a stride below 1, and for an output that is not there.
    """
    counts = rows_of(layers, positions)
    chosen = counts[-1] - 1 if output is None else output
    if not 0 <= chosen < counts[-1]:
        raise ValueError(f"output {chosen} is not one of the last layer's {counts[-1]} rows")
    data: dict[str, Any] = {
        "title": title,
        "counts": counts,
        "layers": [_layer(one) for one in layers],
        "output": chosen,
        "chooses": on_choose is not None,
        "pace": pace,
    }
    commit = int(_payload.committed(key).get("commit", 0))
    data |= {"version": version or _payload.digest(data), "commit": commit}
    _mount(key=key, data=data, on_selection_change=lambda: _hand_over(key, counts[-1], on_choose))


def rows_of(layers: Sequence[LatticeLayer], positions: int) -> list[int]:
    """Rows of the input and of each layer. Raises ValueError where there are none."""
    if not layers or positions < 1 or any(one.stride < 1 for one in layers):
        raise ValueError("a lattice needs a layer, a position, and strides of at least 1")
    counts = [positions]
    for one in layers:
        counts.append(-(-counts[-1] // one.stride))
    return counts


def _layer(one: LatticeLayer) -> dict[str, Any]:
    return {
        "told": words("told", [one.told])[0],
        "offsets": sorted(int(o) for o in one.offsets),
        "stride": int(one.stride),
        "whole": sorted(int(row) for row in one.whole),
    }


def _hand_over(key: str, rows: int, on_choose: Callable[[int], None] | None) -> None:
    """What the browser sent is only used where it names a row of the last layer."""
    row = _payload.committed(key).get("output")
    if on_choose is not None and isinstance(row, int) and not isinstance(row, bool) and 0 <= row < rows:
        on_choose(row)
