"""How the systems were trained: the log that each run wrote, one JSON line a hundred updates (no model is loaded)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from models.catalog import SYSTEMS
from models.execution import checkpoints


@dataclass(frozen=True)
class TrainingLog:
    """Validation loss in nats a target piece against updates; `started_from` names the system it began with."""

    slug: str
    title: str
    steps: tuple[int, ...]
    valid_loss: tuple[float, ...]
    seconds: float
    started_from: str | None
    command: str


def logs() -> list[TrainingLog]:
    """One log a trained system, in catalog order; systems without one are left out."""
    manifest = checkpoints.read_manifest()
    found = (_read(item.slug, item.title, manifest.get(item.slug)) for item in SYSTEMS)
    return [log for log in found if log is not None]


def _read(slug: str, title: str, facts: dict[str, Any] | None) -> TrainingLog | None:
    path = checkpoints.CHECKPOINTS / slug / "log.jsonl"
    if facts is None or not path.exists():
        return None
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    losses = {line["step"]: line["valid_loss"] for line in lines if "valid_loss" in line}
    if not losses:
        return None
    return TrainingLog(
        slug=slug,
        title=title,
        steps=tuple(losses),
        valid_loss=tuple(losses.values()),
        seconds=max(line["seconds"] for line in lines),
        started_from=facts.get("started_from"),
        command=facts.get("command") or "not recorded",
    )


def table(found: list[TrainingLog]) -> list[dict[str, Any]]:
    """One row a system: updates, minutes, last validation loss, what it began with, and the command."""
    return [
        {
            "System": log.title,
            "Updates": log.steps[-1],
            "Minutes": log.seconds / 60,
            "Validation loss": log.valid_loss[-1],
            "Began with": log.started_from or "new weights",
            "Command": log.command,
        }
        for log in found
    ]
