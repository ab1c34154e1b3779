"""Small systems that learn four sentence pairs in seconds, in an assets folder of their own.

For tests of what surrounds the models: they need no shipped checkpoint, and a file of theirs may be damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
import torch
import torch.nn.functional as F

from app.experiments import home
from models import interactive
from models.catalog import entry
from models.execution import checkpoints
from models.interface import System
from models.training.corpus import collate, encode_pairs
from models.training.tokenizer import PAD, load_tokenizer

PAIRS = [
    ("The report was convincing.", "Le rapport était convaincant."),
    ("The report was not convincing.", "Le rapport n'était pas convaincant."),
    ("The proposal was accepted.", "La proposition a été acceptée."),
    ("Thank you.", "Merci."),
]
SMALL: dict[str, dict[str, Any]] = {
    "rnn_encoder_decoder": {"d_embedding": 24, "d_hidden": 32},
    "lstm_seq2seq": {"d_embedding": 24, "d_hidden": 32},
    "rnn_search": {"d_embedding": 24, "d_annotation": 16, "d_hidden": 32, "d_alignment": 16},
    "transformer": {"d_model": 24, "n_heads": 3, "d_feedforward": 48, "n_layers": 2},
}
LUONG = {"d_embedding": 24, "d_hidden": 32}
SLUGS = ("rnn_encoder_decoder", "rnn_search", "luong_local_m", "transformer")


def shared_assets(factory: pytest.TempPathFactory) -> Path:
    """An assets folder with SLUGS, made once a test session. Copy it before damaging anything."""
    folder = factory.getbasetemp() / "toys"
    return folder if folder.exists() else make_assets(folder, SLUGS)


@contextmanager
def using(folder: Path) -> Iterator[None]:
    """Load checkpoints from `folder` in this process, and forget what was loaded before and after."""
    with (
        patch.object(checkpoints, "CHECKPOINTS", folder / "checkpoints"),
        patch.object(checkpoints, "MANIFEST", folder / "manifest.json"),
    ):
        forget()
        yield
    forget()


def forget() -> None:
    """Drop loaded systems and cached results."""
    interactive._load.cache_clear()
    home.warm.cache_clear()
    st.cache_resource.clear()


def flip_a_byte(path: Path) -> None:
    """Change one byte in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def make_assets(folder: Path, slugs: Sequence[str], *, steps: int = 80) -> Path:
    """Checkpoints of `slugs` and their manifest under `folder`."""
    tokenizer = load_tokenizer()
    for number, slug in enumerate(slugs):
        item = entry(slug)
        torch.manual_seed(number)
        choices = {**SMALL.get(slug, LUONG), **item.config, "dropout": 0.0}
        system = item.system_class()(item.config_class()(vocab_size=tokenizer.vocab_size, **choices))
        learn(system, steps)
        checkpoints.save(item, system, {"tokenizer_sha256": tokenizer.sha256}, folder / "checkpoints")
    return folder


def learn(system: System, steps: int) -> float:
    """Fit `system` to PAIRS; the last loss, a token, in nats."""
    batch = collate(encode_pairs(PAIRS, load_tokenizer()))
    labels = batch.labels.masked_fill(batch.labels == PAD, -100)
    optimizer = torch.optim.Adam(system.parameters(), lr=2e-2)
    loss = torch.zeros(())
    for _ in range(steps):
        logits = system.score(batch.source, batch.target_in).logits
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(system.parameters(), 1.0)
        optimizer.step()
    return float(loss.detach())
