"""What the experiments of this page share: loading any subset of systems, and rows of a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

import models
from models.catalog import entry
from models.execution.device import device
from models.interactive import Translator
from models.interface import Rows
from models.training.tokenizer import EOS, PAD, load_tokenizer


@dataclass(frozen=True)
class Missing:
    """A system that cannot be shown, and the sentence that says why."""

    slug: str
    title: str
    sentence: str


def loaded(slugs: Iterable[str]) -> tuple[list[Translator], tuple[Missing, ...]]:
    """Translators of the systems that are there, and what to say about the others."""
    found: list[Translator] = []
    missing: list[Missing] = []
    for slug in slugs:
        try:
            found.append(models.load(slug))
        except models.CheckpointError as error:
            missing.append(Missing(slug, entry(slug).title, str(error)))
    return found, tuple(missing)


def count_pieces(text: str) -> int:
    """Subword pieces of `text`, without the end of sentence."""
    return len(load_tokenizer().encode(text))


def padded(rows: Rows, extra: int = 3) -> Rows:
    """The same request with `extra` padded rows behind it."""
    ids = torch.nn.functional.pad(rows.ids, (0, extra), value=PAD)
    return Rows(ids, torch.nn.functional.pad(rows.valid, (0, extra), value=False))


def together(sources: list[list[int]]) -> Rows:
    """One padded batch of sources, each with its EOS."""
    longest = max(map(len, sources))
    ids = torch.tensor([[*one, *[PAD] * (longest - len(one))] for one in sources], device=device())
    valid = torch.tensor(
        [[True] * len(one) + [False] * (longest - len(one)) for one in sources], device=device()
    )
    return Rows(ids, valid)


def cut(source: list[int], pieces: int) -> list[int]:
    """The first `pieces` pieces of a source (with EOS) repeated end to end, and EOS again."""
    body = source[:-1]
    return [*(body[k % len(body)] for k in range(pieces)), EOS]


def largest(a: Tensor, b: Tensor) -> float:
    """Largest absolute difference of two tensors; 0 where they are empty."""
    return float((a - b).abs().max()) if a.numel() else 0.0
