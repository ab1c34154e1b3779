"""Checkpoints on disk: safetensors weights, a config beside them, and one manifest that vouches for both.

A file whose sha256 differs from the manifest is not loaded. Every failure is a CheckpointError with a sentence
for the page of that system; nothing else is affected.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.catalog import Entry

if TYPE_CHECKING:
    from models.interface import System

ASSETS = Path(os.environ.get("SEQUENCE_EXPLORER_ASSETS") or Path(__file__).resolve().parents[2] / "assets")
CHECKPOINTS = ASSETS / "checkpoints"
MANIFEST = ASSETS / "manifest.json"


class CheckpointError(Exception):
    """A checkpoint that is missing, damaged or of another shape. `slug` names it; `sentence` is for visitors."""

    def __init__(self, slug: str, message: str) -> None:
        super().__init__(message)
        self.slug = slug
        self.sentence = message


def read_manifest(path: Path | None = None) -> dict[str, Any]:
    """slug -> entry of the manifest; empty when there is none. Raises CheckpointError when it cannot be read."""
    path = path or MANIFEST
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))["systems"]
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            "", f"assets/{path.name} is damaged, so no checkpoint can be trusted. Restore it with git."
        ) from error


def update_manifest(slug: str, change: Callable[[dict[str, Any]], None], path: Path | None = None) -> None:
    """Change one system's entry under a file lock: trainings side by side write the same file."""
    path = path or MANIFEST
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        systems = read_manifest(path)
        change(systems.setdefault(slug, {}))
        text = json.dumps(
            {"version": 1, "systems": dict(sorted(systems.items()))}, indent=1, ensure_ascii=False
        )
        draft = path.with_suffix(".draft")
        draft.write_text(text + "\n", encoding="utf-8")
        draft.replace(path)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def save(entry: Entry, system: System, provenance: dict[str, Any], directory: Path | None = None) -> None:
    """Write fp16 weights and config, then the manifest entry with their hashes."""
    import torch
    from safetensors.torch import save_file

    folder = (directory or CHECKPOINTS) / entry.slug
    folder.mkdir(parents=True, exist_ok=True)
    half = {name: p.detach().to(torch.float16).contiguous().cpu() for name, p in system.named_parameters()}
    save_file(half, folder / "weights.safetensors")
    config = {"builder": entry.builder, "config": asdict(system.config)}  # type: ignore[call-overload]
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    facts = {
        "weights_sha256": sha256(folder / "weights.safetensors"),
        "config_sha256": sha256(folder / "config.json"),
        "parameters": sum(p.numel() for p in system.parameters()),
        **provenance,
    }
    manifest = folder.parent.parent / MANIFEST.name

    def change(item: dict[str, Any]) -> None:
        if item.get("weights_sha256") != facts["weights_sha256"]:
            item.pop("metrics", None)  # figures belong to the weights that gave them
        item.update(facts)

    update_manifest(entry.slug, change, manifest)


def load_system(entry: Entry, checkpoints: Path | None = None) -> tuple[System, dict[str, Any]]:
    """The trained system in eval mode, float32, on this process's device; and its manifest entry."""
    folder = (checkpoints or CHECKPOINTS) / entry.slug
    facts = read_manifest(folder.parent.parent / MANIFEST.name).get(entry.slug)
    if facts is None:
        raise CheckpointError(
            entry.slug, f"{entry.title} has no entry in assets/manifest.json. Train it or restore the file."
        )
    _verify(entry, folder / "weights.safetensors", facts["weights_sha256"])
    _verify(entry, folder / "config.json", facts["config_sha256"])
    return _build(entry, folder), facts


def _verify(entry: Entry, path: Path, expected: str) -> None:
    if not path.exists():
        raise CheckpointError(
            entry.slug, f"The checkpoint of {entry.title} is missing ({path.name}). Restore it with git."
        )
    if sha256(path) != expected:
        raise CheckpointError(
            entry.slug,
            f"The checkpoint of {entry.title} is damaged ({path.name} does not match its sha256). Restore it with git.",
        )


def _build(entry: Entry, folder: Path) -> System:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from models.execution.device import device

    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))["config"]
        system: System = entry.system_class()(entry.config_class()(**config))
        weights = {name: tensor.float() for name, tensor in load_file(folder / "weights.safetensors").items()}
        if set(weights) != set(dict(system.named_parameters())):
            raise ValueError("other parameters than the code has")
        system.load_state_dict(weights, strict=False)
    except (SafetensorError, RuntimeError, TypeError, ValueError, KeyError) as error:
        sentence = f"The checkpoint of {entry.title} does not fit its code. Restore it with git."
        raise CheckpointError(entry.slug, sentence) from error
    return system.to(device()).eval().requires_grad_(False)
