"""Every system of the catalog, small, with random weights in float64, and padded batches to feed it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from models.catalog import TRANSLATORS, Entry
from models.interface import Rows, System
from models.training.corpus import pad
from models.training.tokenizer import BOS, EOS

SLUGS = [entry.slug for entry in TRANSLATORS]
ALIGNED = [entry.slug for entry in TRANSLATORS if entry.system_class().has_alignment]
VOCABULARY = 48
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY, "d_embedding": 6, "d_hidden": 8, "d_annotation": 5, "d_alignment": 7, "n_layers": 2,
    "d_model": 8, "n_heads": 2, "d_feedforward": 12, "half_width": 2, "max_source": 16, "dropout": 0.0,
}  # fmt: skip


def config(entry: Entry, **changes: Any) -> Any:
    """The entry's own choices at small sizes."""
    kind = entry.config_class()
    known = {f.name for f in fields(kind)}
    sizes = {k: v for k, v in {**SIZES, **changes}.items() if k in known}
    return kind(**{**sizes, **entry.config})


def small(entry: Entry, seed: int = 0, **changes: Any) -> System:
    """float64, eval mode, every parameter drawn anew so that none stays at a telling zero."""
    torch.manual_seed(seed)
    system: System = entry.system_class()(config(entry, **changes)).double().eval()
    with torch.no_grad():
        for parameter in system.parameters():
            parameter.uniform_(-0.8, 0.8)
    return system.requires_grad_(False)


def tokens(length: int, seed: int) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(5, VOCABULARY, (length,), generator=generator).tolist()


def source(*lengths: int, seed: int = 0) -> Rows:
    """Padded sources of these lengths, the end of sentence counted."""
    return Rows(*pad([[*tokens(n - 1, seed + i), EOS] for i, n in enumerate(lengths)]))


def target(*lengths: int, seed: int = 100) -> Tensor:
    """Decoder inputs of these lengths, their BOS counted, padded."""
    return pad([[BOS, *tokens(n - 1, seed + i)] for i, n in enumerate(lengths)])[0]
