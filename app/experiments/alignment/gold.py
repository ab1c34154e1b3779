"""The hand-aligned pairs of assets/examples against a system's weights: overlay and alignment error rate."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from app.experiments.alignment.reading import Ask, Reading, read
from models.execution.checkpoints import read_manifest
from models.training.align_metrics import AlignmentCounts, argmax_links, count_links
from models.training.evaluate import load_examples

SETS = {
    "examples": "hand-aligned examples",
    "story": "held-out stories",
    "tatoeba_hand": "public hand alignments",
}


@dataclass(frozen=True)
class Pair:
    """A hand-aligned pair; sure and possible links are (English word, French word), possible contains sure."""

    english: str
    french: str
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class GoldMap:
    """The system's weights while it is made to say the gold French, and the gold links as a picture.

    gold (words of the target, words of the source), EOS included: 2 sure, 1 possible. proposed: the heaviest source
    word of each target word, EOS left out. counts give the error rate of this one map; late_counts give it when each
    word is linked to the source word before the one it reads most, since an encoder that reads from left to right
    still holds a word one row later (such maps one row off: Koehn and Knowles 2017, 3.5).
    """

    pair: Pair
    reading: Reading
    gold: np.ndarray
    proposed: frozenset[tuple[int, int]]
    counts: AlignmentCounts
    late_counts: AlignmentCounts


@functools.cache
def pairs() -> tuple[Pair, ...]:
    """The aligned pairs in the file's order."""
    return tuple(Pair(*row) for row in load_examples())


def pair_of(sentence: str) -> Pair | None:
    """The aligned pair whose English is `sentence`."""
    return next((one for one in pairs() if one.english == sentence), None)


def compare(ask: Ask, pair: Pair) -> GoldMap:
    """Force the gold French and link each of its words to its heaviest source word."""
    forced = read(replace(ask, sentence=pair.english, decoding="forced", forced=pair.french))
    weights = forced.matrix("words")
    gold = np.zeros(weights.shape, dtype=int)
    for source, target in pair.possible:
        gold[target, source] = 2 if (source, target) in pair.sure else 1
    proposed = argmax_links(weights[:-1, :-1])
    late = argmax_links(weights[:-1, 1:])
    counts, late_counts = (count_links(links, pair.sure, pair.possible) for links in (proposed, late))
    return GoldMap(pair, forced, gold, proposed, counts, late_counts)


def stored(slug: str) -> dict[str, float]:
    """Error rates of the stored evaluation by set; empty where it has not been measured."""
    metrics = read_manifest().get(slug, {}).get("metrics") or {}
    return metrics.get("alignment_error_rate") or {}
