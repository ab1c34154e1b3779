"""The training logs in assets are read as they were written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.experiments import training_log
from models.execution import checkpoints


def test_validation_lines_are_kept_in_order_and_the_rest_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "checkpoints" / "rnn_search"
    folder.mkdir(parents=True)
    lines = [
        {"step": 100, "loss": 5.0, "seconds": 10.0},
        {"step": 200, "valid_loss": 3.5, "seconds": 21.0},
        {"step": 400, "valid_loss": 2.5, "seconds": 42.0},
    ]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    facts = {"command": "python -m models train rnn_search", "started_from": None}
    (tmp_path / "manifest.json").write_text(json.dumps({"version": 1, "systems": {"rnn_search": facts}}))
    monkeypatch.setattr(checkpoints, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(checkpoints, "MANIFEST", tmp_path / "manifest.json")
    (log,) = training_log.logs()
    assert (log.steps, log.valid_loss, log.seconds) == ((200, 400), (3.5, 2.5), 42.0)
    assert training_log.table([log])[0]["Began with"] == "new weights"


def test_every_committed_checkpoint_has_its_log() -> None:
    assert {log.slug for log in training_log.logs()} == set(checkpoints.read_manifest())
