"""What the page computes, kept by settings for every visitor. Importing this module imports torch."""

from __future__ import annotations

from collections.abc import Callable

from app.experiments.alignment import change, gold, move, reading
from app.experiments.alignment.change import Forced, Neighbour
from app.experiments.alignment.gold import GoldMap
from app.experiments.alignment.move import Importance, Movement, Row
from app.experiments.alignment.options import Choice
from app.experiments.alignment.reading import Ask, Reading
from app.experiments.run import SentenceRun, Show
from app.ui.cache import results


@results(max_entries=128)
def read(ask: Ask) -> Reading:
    """One system on one sentence."""
    return reading.read(ask)


@results(max_entries=64)
def checks(ask: Ask) -> SentenceRun:
    """The same run both ways, with its checks."""
    return reading.checks(ask, read(ask).target.ids)


@results(max_entries=64)
def force(ask: Ask, t: int, rows: tuple[int, ...], bias: float, show: Show) -> Forced:
    """The run decided again from t on."""
    return change.force(read(ask), t, rows, bias, show)


@results(max_entries=128)
def neighbours(choice: Choice, sentence: str, word: int) -> tuple[Neighbour, ...]:
    """Words near the chosen one in the system's own table."""
    return change.neighbours(choice, sentence, word)


@results(max_entries=64)
def movement(ask: Ask, t: int, tolerance: float, seed: int) -> Movement:
    """One decision under other weights."""
    return move.movement(read(ask), t, tolerance, seed)


@results(max_entries=64)
def importance(ask: Ask, t: int, show: Show) -> Importance:
    """One decision's importances."""
    return move.importances(read(ask), [t], show)[0]


def everything(
    ask: Ask, tolerance: float, seed: int, show: Show, report: Callable[[float], None]
) -> list[Row]:
    """Every decision's moved weights and importances; `report` is told how far the work is."""
    return _everything(ask, tolerance, seed, show, report)


@results(max_entries=16)
def _everything(
    ask: Ask, tolerance: float, seed: int, show: Show, _report: Callable[[float], None]
) -> list[Row]:
    return move.everything(read(ask), tolerance, seed, show, _report)


@results(max_entries=64)
def aligned(ask: Ask, english: str) -> GoldMap | None:
    """The system's map of a hand-aligned pair."""
    pair = gold.pair_of(english)
    return None if pair is None else gold.compare(ask, pair)
