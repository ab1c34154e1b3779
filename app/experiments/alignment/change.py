"""Two ways to change a run and look again: another source word, and a read that is forced (0x04D, 0x04J)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from app.experiments.alignment.options import Choice
from app.experiments.alignment.reading import Ask, Reading, reading, translator
from app.experiments.difference import counterparts, matched
from app.experiments.run import Show
from models.execution.device import device
from models.training.tokenizer import N_SPECIAL, Tokenizer
from models.training.whole_words import whole_words
from models.training.words import split_words

NEIGHBOURS = 8


@dataclass(frozen=True)
class Neighbour:
    """A word whose embedding lies near, with the cosine of the angle between the two rows."""

    text: str
    cosine: float


@dataclass(frozen=True)
class Forced:
    """A run and the same run with `bias` added to the scores of some source rows at decision t.

    weight: the sum of those rows' weights at t before and after; chosen: probability of the old token before and
    after; changed (T,): rows of the new run, as shown, whose word is not in the old output.
    """

    before: Reading
    after: Reading
    weight: tuple[float, float]
    chosen: tuple[float, float]
    changed: np.ndarray


def force(before: Reading, t: int, rows: Sequence[int], bias: float, show: Show = "words") -> Forced:
    """Decide again from decision t on, with bias added to the scores of `rows` at t only; then greedily."""
    ask, using = before.ask, translator(before.ask.choice)
    source = list(before.source.ids)
    added = torch.zeros(len(source), device=device())
    added[list(rows)] = bias
    tokens = list(before.target.ids)
    after = reading(ask, using, source, tokens[:t], lambda k: added if k == t else None, (t, tokens[t]))
    weight = float(before.weights[t, list(rows)].sum()), float(after.weights[t, list(rows)].sum())
    assert after.watched is not None
    chosen = float(np.exp(before.log_probs[t])), after.watched
    return Forced(before, after, weight, chosen, new_rows(before, after, show))


def new_rows(before: Reading, after: Reading, show: Show) -> np.ndarray:
    """For each target row of `after`, as shown, whether its word is missing in `before`."""
    return ~matched(before.target.labels(show), after.target.labels(show))


def neighbours(choice: Choice, sentence: str, word: int) -> tuple[Neighbour, ...]:
    """Words near the chosen one in the system's own embedding table; none for a word of several pieces.

    Only words that are one piece and written in the same way. Near in the table is not the same as similar in meaning.
    """
    using = translator(choice)
    ids = using.encode_source(sentence)
    chosen = using.tokenizer.words(ids)[word]
    if chosen.stop - chosen.start > 1 or ids[chosen.start] < N_SPECIAL:
        return ()
    near = _cosines(using.system.source_table().weight, ids[chosen.start])
    able = alike(using.tokenizer, ids[chosen.start])
    order = [i for i in near.argsort(descending=True).tolist() if i in able][:NEIGHBOURS]
    return tuple(Neighbour(using.tokenizer.decode([i]).strip(), float(near[i])) for i in order)


@torch.inference_mode()
def _cosines(table: torch.Tensor, token: int) -> torch.Tensor:
    return torch.nn.functional.cosine_similarity(table, table[token].unsqueeze(0)).cpu()


def alike(tokenizer: Tokenizer, token: int) -> frozenset[int]:
    """Other pieces that are whole English words written as this one: lower case, capital, or all capitals."""
    return _by_casing(tokenizer).get(_casing(tokenizer.decode([token])), frozenset()) - {token}


@functools.lru_cache(maxsize=2)
def _by_casing(tokenizer: Tokenizer) -> dict[str, frozenset[int]]:
    """Piece ids of whole words by casing, worked out once a vocabulary."""
    found: dict[str, set[int]] = {}
    for word in whole_words():
        found.setdefault(_casing(word), set()).add(tokenizer.encode(word)[0])
    return {casing: frozenset(ids) for casing, ids in found.items() if casing != "other"}


def _casing(word: str) -> str:
    if not word.isalpha():
        return "other"
    return (
        "lower" if word.islower() else "title" if word.istitle() else "upper" if word.isupper() else "other"
    )


def swap(sentence: str, word: int, replacement: str) -> str:
    """The sentence with one display word replaced. IndexError where it has no such word."""
    text = " " + sentence  # as the tokenizer reads it
    surface, start, stop = split_words(text)[word]
    space = text[start:stop].removesuffix(surface)
    return (text[:start] + space + replacement.strip() + text[stop:]).removeprefix(" ")


def asked(ask: Ask, sentence: str) -> Ask:
    """The same system on another sentence; a forced target is given up, since it belongs to the old one."""
    ask = replace(ask, sentence=sentence)
    return ask if ask.decoding != "forced" else replace(ask, decoding="greedy", forced="")


def moved_cells(before: Reading, after: Reading, show: Show, least: float = 0.1) -> np.ndarray:
    """(T, S) of `after` as shown: weights that moved by `least` or more, where both tokens have a counterpart."""
    rows = counterparts(before.target.labels(show), after.target.labels(show))
    columns = counterparts(before.source.labels(show), after.source.labels(show))
    old, new = before.matrix(show), after.matrix(show)
    found = np.zeros(new.shape, dtype=bool)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if row is not None and column is not None:
                found[i, j] = abs(new[i, j] - old[row, column]) >= least
    return found
