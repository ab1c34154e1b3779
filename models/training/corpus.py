"""The English-French corpus: fixed split, multi-reference test, and token-budget batches by length."""

from __future__ import annotations

import gzip
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from models.interface import Rows
from models.training.story import generate
from models.training.tokenizer import BOS, EOS, PAD, Tokenizer

Split = Literal["train", "valid", "test"]
CREDIT = (
    "Sentence pairs from the Tatoeba Project (https://tatoeba.org), CC BY 2.0 FR, through www.manythings.org/anki "
    "(Charles Kelly); cleaned and split for this project."
)


@dataclass(frozen=True)
class Pair:
    """Piece ids of one sentence pair, neither with BOS or EOS."""

    source: list[int]
    target: list[int]


@dataclass(frozen=True)
class Batch:
    """source rows; target_in (B, T) = BOS y; labels (B, T) = y EOS; known (B, T) True on real labels."""

    source: Rows
    target_in: Tensor
    labels: Tensor
    known: Tensor

    def to(self, device: torch.device) -> Batch:
        parts = (part.to(device) for part in (self.target_in, self.labels, self.known))
        return Batch(self.source.to(device), *parts)

    @property
    def tokens(self) -> int:
        return int(self.known.sum())


def load_pairs(directory: Path, split: Split) -> list[tuple[str, str]]:
    """(English, French) lines of one split. Raises FileNotFoundError with a sentence when the corpus is not there."""
    path = directory / f"{split}.tsv.gz"
    if not path.exists():
        raise FileNotFoundError(
            f"No corpus file {path}. Give the folder that holds {split}.tsv.gz with --corpus."
        )
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [(en, fr) for en, fr in (line.rstrip("\n").split("\t")[:2] for line in lines)]


def references(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Every French reference of each distinct English sentence, in file order."""
    found: dict[str, list[str]] = {}
    for english, french in pairs:
        found.setdefault(english, []).append(french)
    return found


def corpus_sha256(directory: Path) -> str:
    """One hash over the three files of the split."""
    digest = hashlib.sha256()
    for split in ("train", "valid", "test"):
        digest.update((directory / f"{split}.tsv.gz").read_bytes())
    return digest.hexdigest()


def encode_pairs(pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer) -> list[Pair]:
    sources = tokenizer.encode_many([p[0] for p in pairs])
    targets = tokenizer.encode_many([p[1] for p in pairs])
    return [Pair(s, t) for s, t in zip(sources, targets, strict=True)]


def asked(pairs: Sequence[Pair], prompt: Sequence[int]) -> list[Pair]:
    """The pairs with the prompt's pieces in front of every source."""
    return [Pair([*prompt, *pair.source], pair.target) for pair in pairs]


def english_alone(pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer) -> list[Pair]:
    """Each distinct English side as the target of an empty source, in file order: what a language model reads."""
    texts = list(dict.fromkeys(english for english, _ in pairs))
    return [Pair([], ids) for ids in tokenizer.encode_many(texts)]


def story_pairs(count: int, seed: int) -> list[tuple[str, str]]:
    return [(p.english, p.french) for p in generate("train", count, seed)]


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """(ids, valid), both (B, T), padded on the right."""
    width = max(map(len, rows))
    ids = torch.tensor([[*r, *[PAD] * (width - len(r))] for r in rows], dtype=torch.long)
    valid = torch.arange(width) < torch.tensor([len(r) for r in rows]).unsqueeze(1)
    return ids, valid


def source_rows(sources: Sequence[Sequence[int]]) -> Rows:
    """Sources with their end of sentence, padded."""
    return Rows(*pad([[*s, EOS] for s in sources]))


def collate(pairs: Sequence[Pair]) -> Batch:
    target_in, _ = pad([[BOS, *p.target] for p in pairs])
    labels, known = pad([[*p.target, EOS] for p in pairs])
    return Batch(source_rows([p.source for p in pairs]), target_in, labels, known)


def batches(pairs: Sequence[Pair], budget: int, seed: int) -> Iterator[list[Pair]]:
    """Length-bucketed batches of at most `budget` padded target tokens, in an order fixed by the seed.

    Pairs are shuffled, sorted by length within large pools, cut, and the cuts shuffled again.
    """
    rng = random.Random(seed)
    order = list(pairs)
    rng.shuffle(order)
    pool, cuts = 20_000, []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda p: (len(p.target), len(p.source)))
        cuts += _cut(part, budget)
    rng.shuffle(cuts)
    return iter(cuts)


def _cut(pairs: Sequence[Pair], budget: int) -> list[list[Pair]]:
    cuts: list[list[Pair]] = []
    width = 0
    for pair in pairs:
        width = max(width, len(pair.target) + 1, len(pair.source) + 1)
        if cuts and width * (len(cuts[-1]) + 1) <= budget:
            cuts[-1].append(pair)
        else:
            width = max(len(pair.target), len(pair.source)) + 1
            cuts.append([pair])
    return cuts
