"""What this server is, without importing torch: the sidebar is painted first."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# The same folder as models.execution.checkpoints.ASSETS, which cannot be asked before torch is loaded.
ASSETS = Path(os.environ.get("SEQUENCE_EXPLORER_ASSETS") or Path(__file__).parents[2] / "assets")
CHECKPOINTS = ASSETS / "checkpoints"
DRIVER = Path("/proc/driver/nvidia/gpus")


def device() -> str:
    """The device the models run on. Once torch is loaded it is asked; before, the installed build and driver are."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "cuda"):
        return torch.cuda.get_device_name() if torch.cuda.is_available() else _processor()
    return _driver_name() or _processor()


def trained_systems() -> list[str]:
    """Slugs of the systems whose weights are there."""
    return sorted(path.parent.name for path in CHECKPOINTS.glob("*/weights.safetensors"))


@cache
def _driver_name() -> str | None:
    try:
        if "+cpu" in version("torch"):
            return None
    except PackageNotFoundError:
        return None
    lines = [line for path in DRIVER.glob("*/information") for line in path.read_text().splitlines()]
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("Model")), None)


def _processor() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"CPU, {cores} core{'s' if cores > 1 else ''}"
