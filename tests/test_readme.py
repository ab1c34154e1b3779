"""README.md is true: the table of trained systems is the manifest's, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.catalog import SYSTEMS, TATOEBA
from models.execution.checkpoints import read_manifest

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def row(slug: str, facts: dict[str, Any]) -> str:
    """The README's line of one trained translator."""
    metrics, updates = facts["metrics"], facts["steps"] + sum(e["steps"] for e in facts.get("earlier", []))
    error = (metrics.get("alignment_error_rate") or {}).get("examples")
    cells = [
        f"`{slug}`",
        f"{facts['parameters'] / 1e6:.1f} M",
        f"{updates:,}",
        f"{metrics['bleu_greedy']:.1f}",
        f"{metrics['bleu_beam4']:.1f}",
        f"{metrics['chrf_greedy']:.1f}",
        f"{metrics['story']['negation_kept']:.1%}",
        "" if error is None else f"{error:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("slug", [item.slug for item in SYSTEMS if item.task == TATOEBA])
def test_the_table_is_the_manifests(slug: str) -> None:
    assert row(slug, read_manifest()[slug]) in README
