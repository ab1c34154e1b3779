"""Blocks: tensors drawn to scale, rows high and channels wide, one lane a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from app.components import _payload
from app.components._build import register

_mount = register("blocks", ("blocks.js",))


@dataclass(frozen=True)
class Block:
    """`layers` tensors of one kind, each rows x channels. role "source": it has a row for each source piece;
    "state": it is one vector; "masked": a mask. trained=False draws an outline. nbytes: all layers together."""

    symbol: str
    name: str
    rows: int
    channels: int
    nbytes: int
    shape: str
    role: Literal["source", "state", "masked"] = "state"
    layers: int = 1
    trained: bool = True


@dataclass(frozen=True)
class Lane:
    """One system: its title, notes in small type under it, and its blocks from left to right."""

    title: str
    notes: tuple[str, ...]
    groups: tuple[Block, ...]


def blocks(lanes: Sequence[Lane], *, key: str, title: str, version: str | None = None) -> None:
    """Draw `lanes` under each other at one common scale. ValueError for an empty lane or a block without size."""
    if not lanes or any(not lane.groups for lane in lanes):
        raise ValueError("every lane needs at least one block")
    if any(min(b.rows, b.channels, b.layers) < 1 for lane in lanes for b in lane.groups):
        raise ValueError("a block needs at least one row, one channel and one layer")
    data = {"lanes": [asdict(lane) for lane in lanes], "title": title}
    _mount(key=key, data=data | {"version": version or _payload.digest(data)})
