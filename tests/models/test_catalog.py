"""The catalog names every system once and stays light."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from models.catalog import SYSTEMS, Entry, entry
from models.interface import System

ROOT = Path(__file__).resolve().parents[2]
EACH = pytest.mark.parametrize("item", SYSTEMS, ids=lambda e: e.slug)
ASKED = {
    "rnn_encoder_decoder", "lstm_seq2seq", "rnn_search", "luong", "luong_dot", "luong_location", "luong_local_m",
    "luong_local_p", "luong_concat", "transformer",
}  # fmt: skip


def test_importing_the_package_and_its_catalog_imports_no_torch() -> None:
    heavy = "{'torch', 'safetensors', 'tokenizers'}"
    program = f"import models, models.catalog, sys; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout.strip() == "[]"


def test_slugs_are_unique_and_all_asked_for_are_there() -> None:
    slugs = [item.slug for item in SYSTEMS]
    assert len(set(slugs)) == len(slugs)
    assert set(slugs) >= ASKED


def most_parameters_fit(item: Entry, other: Entry) -> bool:
    """Training can begin with the other system's parameters: nearly all have its names and shapes."""
    ours, theirs = (
        {n: p.shape for n, p in e.system_class()(e.config_class()(**e.config)).named_parameters()}
        for e in (item, other)
    )
    shared = sum(shape.numel() for name, shape in ours.items() if theirs.get(name) == shape)
    return shared > 0.9 * sum(shape.numel() for shape in ours.values())


@EACH
def test_an_entry_builds_its_system_from_its_choices(item: Entry) -> None:
    assert issubclass(item.system_class(), System)
    assert item.config.keys() <= {f.name for f in fields(item.config_class())}
    assert item.config_class()(**item.config)
    assert item.starts_from is None or most_parameters_fit(item, entry(item.starts_from))
    assert all((item.title, item.family, item.paper, item.summary, item.section.startswith("0x")))
    assert str(item.year) in item.paper


def test_luong_variants_differ_in_their_choices() -> None:
    choices = [tuple(sorted(e.config.items())) for e in SYSTEMS if e.builder.endswith(":Luong")]
    assert len(set(choices)) == len(choices) >= 6


@EACH
def test_a_checkpoint_fits_in_ten_megabytes_of_halves(item: Entry) -> None:
    system = item.system_class()(item.config_class()(**item.config))
    assert sum(p.numel() for p in system.parameters()) * 2 <= 10_000_000


def test_an_unknown_slug_is_told() -> None:
    with pytest.raises(KeyError, match=r"No system is called 'x'\. Known: rnn_encoder_decoder"):
        entry("x")
