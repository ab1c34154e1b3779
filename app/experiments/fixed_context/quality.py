"""Stored test figures by source length and by distance of the negation (0x02G); no torch, nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.catalog import entry
from models.execution.checkpoints import read_manifest


@dataclass(frozen=True)
class Point:
    """One bucket: inclusive bounds, how many sentences it holds, and the figure."""

    low: int
    high: int
    sentences: int
    value: float

    @property
    def label(self) -> str:
        return (
            str(self.low)
            if self.low == self.high
            else f"{self.low}+"
            if self.high >= 99
            else f"{self.low}-{self.high}"
        )


@dataclass(frozen=True)
class Series:
    slug: str
    title: str
    fixed: bool  # only whole vectors cross to the decoder
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Quality:
    """bleu by English words of the source; kept: share of story pairs whose negation is kept, by distance in words.

    `missing` names the systems whose checkpoint has no stored figures.
    """

    bleu: tuple[Series, ...]
    kept: tuple[Series, ...]
    missing: tuple[str, ...]


def quality(slugs: tuple[str, ...], manifest: Mapping[str, Any] | None = None) -> Quality:
    """Figures of `slugs` from the manifest (assets/manifest.json unless one is given)."""
    systems = read_manifest() if manifest is None else manifest
    metrics = {slug: systems.get(slug, {}).get("metrics") or {} for slug in slugs}
    bleu = [_series(s, m.get("bleu_by_length"), "words", "bleu") for s, m in metrics.items()]
    kept = [
        _series(s, m.get("story", {}).get("negation_by_distance"), "distance", "kept")
        for s, m in metrics.items()
    ]
    missing = tuple(entry(slug).title for slug, found in metrics.items() if not found.get("bleu_by_length"))
    return Quality(_there(bleu), _there(kept), missing)


def _series(slug: str, rows: list[dict[str, Any]] | None, bounds: str, value: str) -> Series:
    points = tuple(_point(row, bounds, value) for row in rows or [])
    item = entry(slug)
    return Series(slug, item.title, item.family == "Fixed context", points)


def _point(row: dict[str, Any], bounds: str, value: str) -> Point:
    low, high = row[bounds]
    return Point(low, high, row["sentences"], float(row[value]))


def _there(series: list[Series]) -> tuple[Series, ...]:
    return tuple(one for one in series if one.points)
