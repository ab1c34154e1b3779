"""What changed between two runs of one system: words of the output, and weights that moved.

Words are matched by the longest common runs (difflib). A row or column of the newer run has a counterpart where its
word is matched, or stands in a replaced stretch as long as the one it replaces. A source word without a counterpart
had no weight before; a target word without one is new as a whole, so its cells are not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal

import numpy as np

from app.experiments.home import LEAST
from models.training.words import split_words

if TYPE_CHECKING:
    from app.experiments.run import SentenceRun, Show

Kind = Literal["same", "changed", "inserted", "removed"]
MOST = 12  # cells that are marked


@dataclass(frozen=True)
class Segment:
    """A stretch of text with its spaces, what became of it, and how many words it is."""

    text: str
    kind: Kind
    words: int


@dataclass(frozen=True)
class Move:
    """One weight that moved: its row and column in the newer run, their words, and the weight before and now."""

    row: int
    column: int
    target: str
    source: str
    before: float
    now: float


@dataclass(frozen=True)
class Difference:
    """The newer run against the pinned one, as shown (words or pieces).

    rows (T,): True = the target word is changed or inserted. cells (T, S): True = among the weights that moved most;
    None where there is no alignment. moves: those cells, largest first.
    """

    segments: tuple[Segment, ...]
    rows: np.ndarray
    cells: np.ndarray | None
    moves: tuple[Move, ...]

    def count(self, kind: Kind) -> int:
        """Words of the output that are `kind`."""
        return sum(one.words for one in self.segments if one.kind == kind)


def segments(before: str, now: str) -> tuple[Segment, ...]:
    """`now` in stretches, with the words of `before` that are gone where they stood."""
    old, new = split_words(before), split_words(now)
    found: list[Segment] = []
    for tag, a, b, c, d in _opcodes([w for w, _, _ in old], [w for w, _, _ in new]):
        gone, come = _stretch(before, old[a:b]), _stretch(now, new[c:d])
        kind: Kind = {"equal": "same", "replace": "changed", "insert": "inserted"}.get(tag, "removed")  # type: ignore[assignment]
        found += [Segment(gone, "removed", b - a)] if gone and tag != "equal" else []
        found += [Segment(come, kind, d - c)] if come else []
    return tuple(found)


def compare(
    before: SentenceRun, now: SentenceRun, show: Show = "words", *, layer: int = -1, head: int | None = None
) -> Difference:
    """Two runs of one system. ValueError when they are of two systems."""
    if before.slug != now.slug:
        raise ValueError(f"{before.slug} and {now.slug} are two systems; compare two runs of one")
    rows = counterparts(before.target.labels(show), now.target.labels(show))
    same = matched(before.target.labels(show), now.target.labels(show))
    old, new = (one.matrix(show, layer=layer, head=head) for one in (before, now))
    moves: list[Move] = []
    cells = None
    if old is not None and new is not None:
        columns = counterparts(before.source.labels(show), now.source.labels(show))
        moves = _moves(old, new, rows, columns, now.target.labels(show), now.source.labels(show))
        cells = np.zeros(new.shape, dtype=bool)
        for move in moves:
            cells[move.row, move.column] = True
    return Difference(segments(before.text, now.text), ~same, cells, tuple(moves))


def counterparts(before: Sequence[str], now: Sequence[str]) -> list[int | None]:
    """For each word of `now` the place of its counterpart in `before`, or None."""
    found: list[int | None] = [None] * len(now)
    for tag, a, b, c, d in _opcodes(before, now):
        if tag == "equal" or (tag == "replace" and b - a == d - c):
            found[c:d] = range(a, b)
    return found


def matched(before: Sequence[str], now: Sequence[str]) -> np.ndarray:
    """For each word of `now` whether it stands unchanged in `before`, (len(now),)."""
    found = np.zeros(len(now), dtype=bool)
    for tag, _, _, c, d in _opcodes(before, now):
        found[c:d] = tag == "equal"
    return found


def _moves(
    old: np.ndarray,
    new: np.ndarray,
    rows: Sequence[int | None],
    columns: Sequence[int | None],
    target: Sequence[str],
    source: Sequence[str],
) -> list[Move]:
    found = []
    for i, row in enumerate(rows):
        for j, column in enumerate(columns) if row is not None else ():
            was = 0.0 if column is None else float(old[row, column])
            if abs(new[i, j] - was) >= LEAST:
                found.append(Move(i, j, target[i], source[j], was, float(new[i, j])))
    return sorted(found, key=lambda one: -abs(one.now - one.before))[:MOST]


def _opcodes(before: Sequence[str], now: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    return list(SequenceMatcher(None, list(before), list(now), autojunk=False).get_opcodes())


def _stretch(text: str, words: Sequence[tuple[str, int, int]]) -> str:
    return text[words[0][1] : words[-1][2]] if words else ""
