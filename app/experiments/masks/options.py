"""Which families can be opened, and the names of their relations. Imports no torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from app.experiments.masks import grids
from models.catalog import SYSTEMS, TATOEBA, entry
from models.execution import checkpoints

DEFAULT = "gpt"
FAMILIES = tuple(item.slug for item in SYSTEMS if item.family == "Transformer")

Side = Literal["source", "target"]
Empty = Literal["error", "zero"]  # what becomes of a query row that may read nothing


@dataclass(frozen=True)
class Relation:
    """One read of a system: its name in the code, a title, and whose rows ask and answer."""

    name: str
    title: str
    short: str
    rows: Side
    columns: Side


RELATIONS = {
    "source_self": Relation(
        "source_self", "Source self: source rows read source rows", "source self", "source", "source"
    ),
    "target_self": Relation(
        "target_self", "Target self: target rows read target rows", "target self", "target", "target"
    ),
    "cross": Relation("cross", "Cross: target rows read source rows", "cross", "target", "source"),
    "stream": Relation("stream", "One stream: source rows, then target rows", "stream", "target", "source"),
}
READ_ORDER = ("stream", "cross", "target_self", "source_self")  # whose weights are shown first


def available() -> list[str]:
    """Families whose weights are on this server; all of them where none is, so that each can say what is missing."""
    found = [slug for slug in FAMILIES if (checkpoints.CHECKPOINTS / slug / "weights.safetensors").exists()]
    return found or list(FAMILIES)


def chosen(wanted: str) -> str:
    """`wanted` where it is available, otherwise the first that is."""
    there = available()
    return wanted if wanted in there else there[0]


def shape(slug: str) -> tuple[int, int]:
    """Layers and heads of a shipped family, from its config. (1, 1) where that cannot be read: its panel says why."""
    try:
        config = json.loads((checkpoints.CHECKPOINTS / slug / "config.json").read_text(encoding="utf-8"))[
            "config"
        ]
        return int(config["n_layers"]), int(config["n_heads"])
    except (OSError, ValueError, KeyError, TypeError):
        return 1, 1


def translates(slug: str) -> bool:
    """Whether the family has a target; the others fill hidden words."""
    return entry(slug).task == TATOEBA


def number_of(preset: str, relation: str, rows: int, columns: int, source: int) -> int | None:
    """The number that a preset starts with: a prefix is the source where there is one. None for one without."""
    if preset not in grids.PRESETS or grids.PRESETS[preset].number is None:
        return None
    return source if preset == "prefix" and relation == "stream" else grids.limits(preset, rows, columns)[2]
