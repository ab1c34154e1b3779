"""A private assets folder with every system, small and untrained, so that tests may damage it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from models import interactive
from models.catalog import SYSTEMS
from models.execution import checkpoints
from models.training.tokenizer import load_tokenizer
from tests.models.small import small


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """assets/ with a checkpoint of every system under the committed vocabulary. Copy it before changing it."""
    assets = tmp_path_factory.mktemp("untrained") / "assets"
    for seed, item in enumerate(SYSTEMS):
        tokenizer = load_tokenizer(item.alphabet)
        system = small(item, seed=seed, vocab_size=tokenizer.vocab_size, max_source=128).float()
        system.output_table()[0].mul_(0.2)
        checkpoints.save(
            item, system, {"tokenizer_sha256": tokenizer.sha256, "seed": seed}, assets / "checkpoints"
        )
    return assets


@pytest.fixture
def assets(untrained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same folder, private to one test, in the place where the code looks for checkpoints."""
    folder = Path(shutil.copytree(untrained, tmp_path / "assets"))
    monkeypatch.setattr(checkpoints, "CHECKPOINTS", folder / "checkpoints")
    monkeypatch.setattr(checkpoints, "MANIFEST", folder / "manifest.json")
    interactive._load.cache_clear()
    yield folder
    interactive._load.cache_clear()


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
