"""Alignment error rate and the way from piece weights to word links (numpy only).

Och and Ney 2003: with proposed links A, sure links S and possible links P (S inside P),
AER = 1 - (|A & S| + |A & P|) / (|A| + |S|), precision = |A & P| / |A|, recall = |A & S| / |S|.
A link is (source word, target word), both from 0. Lower AER is better.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

Link = tuple[int, int]


class Span(Protocol):
    """A word as the range of pieces [start, stop) that spell it."""

    @property
    def start(self) -> int: ...

    @property
    def stop(self) -> int: ...


@dataclass(frozen=True)
class AlignmentCounts:
    """Counts of one pair, or of many when added: the error rate of a test set is that of its summed counts."""

    proposed: int = 0
    sure: int = 0
    proposed_and_sure: int = 0
    proposed_and_possible: int = 0

    def __add__(self, other: AlignmentCounts) -> AlignmentCounts:
        return AlignmentCounts(
            self.proposed + other.proposed,
            self.sure + other.sure,
            self.proposed_and_sure + other.proposed_and_sure,
            self.proposed_and_possible + other.proposed_and_possible,
        )

    @property
    def error_rate(self) -> float:
        """AER in [0, 1]. Raises ValueError where nothing is proposed and nothing is sure."""
        if self.proposed + self.sure == 0:
            raise ValueError("no proposed and no sure link: the alignment error rate is undefined")
        return 1 - (self.proposed_and_sure + self.proposed_and_possible) / (self.proposed + self.sure)

    @property
    def precision(self) -> float | None:
        return self.proposed_and_possible / self.proposed if self.proposed else None

    @property
    def recall(self) -> float | None:
        return self.proposed_and_sure / self.sure if self.sure else None


def count_links(
    proposed: Collection[Link], sure: Collection[Link], possible: Collection[Link] = ()
) -> AlignmentCounts:
    """Compare links of one pair; `possible` may or may not repeat the sure links."""
    guess, certain = set(proposed), set(sure)
    allowed = certain | set(possible)
    return AlignmentCounts(len(guess), len(certain), len(guess & certain), len(guess & allowed))


def to_words(weights: np.ndarray, target_words: Sequence[Span], source_words: Sequence[Span]) -> np.ndarray:
    """Turn piece weights (Tt, Ts) into word weights (target words, source words).

    A source word gets the sum over its pieces, a target word the mean over its pieces, so a row that sums to one
    over its words still does. Pieces that belong to no word (an end sign) are left out, and with them their mass.
    """
    if weights.ndim != 2:
        raise ValueError(f"weights must have two axes (target, source), not shape {weights.shape}")
    return (
        _spread(target_words, weights.shape[0], True)
        @ weights
        @ _spread(source_words, weights.shape[1], False).T
    )


def _spread(words: Sequence[Span], pieces: int, mean: bool) -> np.ndarray:
    matrix = np.zeros((len(words), pieces))
    for row, word in enumerate(words):
        if not 0 <= word.start < word.stop <= pieces:
            raise ValueError(f"word {row} covers pieces {word.start} to {word.stop} of {pieces}")
        matrix[row, word.start : word.stop] = 1 / (word.stop - word.start) if mean else 1
    return matrix


def argmax_links(weights: np.ndarray) -> frozenset[Link]:
    """Link each target row of (target words, source words) to its heaviest source word, the first where equal.

    A row without any weight has no link.
    """
    if weights.ndim != 2:
        raise ValueError(f"weights must have two axes (target, source), not shape {weights.shape}")
    if weights.size == 0:
        return frozenset()
    best = weights.argmax(axis=1)
    return frozenset((int(s), t) for t, s in enumerate(best) if weights[t, s] > 0)


def parse_links(text: str) -> tuple[frozenset[Link], frozenset[Link]]:
    """Read "0-0 1p2 ..." into sure (-) and possible (p) links; possible contains sure."""
    sure, possible = set(), set()
    for word in text.split():
        sign = "-" if "-" in word else "p"
        source, target = map(int, word.split(sign))
        possible.add((source, target))
        if sign == "-":
            sure.add((source, target))
    return frozenset(sure), frozenset(possible)
