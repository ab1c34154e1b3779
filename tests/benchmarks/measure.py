"""What the benchmarks share: sentences the server has not seen, percentiles, tables, and a JSON file of each result."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from app.experiments.alignment.options import TRAINED
from app.ui.sentence import MOST_CHARACTERS
from models.execution.checkpoints import CHECKPOINTS
from models.training.story import generate

RESULTS = Path(__file__).with_name("results")
SEED = 20


@dataclass(frozen=True)
class Target:
    """What is measured: one system on one lab's page."""

    lab: str = "alignment"
    system: str = "rnn_search"

    @property
    def params(self) -> dict[str, str]:
        """The parameters of the page's link that choose the system, and no other."""
        own = {"sc": TRAINED[self.system].score} if self.lab == "alignment" else {"m": self.system}
        return {"v": "1", **own}

    @property
    def box(self) -> str:
        """Widget key of the sentence box."""
        return f"{self.lab}.sentence"


PAGE = Target()


def fresh_sentences(count: int, seed: int = SEED) -> list[str]:
    """`count` different English sentences of the story grammar's test part; the same for the same seed."""
    found: dict[str, None] = {}
    while len(found) < count:
        pairs = generate("test", count, seed)
        found |= dict.fromkeys(one.english for one in pairs if len(one.english) < MOST_CHARACTERS)
        seed += 1
    return list(found)[:count]


def need_weights(slug: str) -> None:
    """RuntimeError where `slug` is not trained: an untrained system ends no sentence, its times say nothing."""
    if not (CHECKPOINTS / slug / "weights.safetensors").exists():
        raise RuntimeError(
            f"The benchmarks need the trained {slug}; restore assets/checkpoints/{slug} with git."
        )


def percentile(values: Sequence[float], share: float) -> float:
    """The `share` (0 to 100) percentile, interpolated between the two nearest values."""
    return float(np.percentile(np.asarray(values), share))


def summary(values: Sequence[float]) -> dict[str, float]:
    """Median, p95, smallest and largest of `values`, and how many there are."""
    return {
        "median": percentile(values, 50),
        "p95": percentile(values, 95),
        "least": min(values),
        "most": max(values),
        "count": len(values),
    }


def resident_mb(pid: int) -> float:
    """Megabytes (10^6 bytes) of memory that process `pid` holds now (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return kilobytes * 1024 / 1e6


def cpu_seconds(pid: int) -> float:
    """Processor time that process `pid` has used so far, all threads (Linux); the same under any load beside it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine() -> dict[str, Any]:
    """Where and under which load a figure was taken."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": cores,
        "processor": platform.processor() or platform.machine(),
        "load_average": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "streamlit": version("streamlit"),
        "torch": version("torch"),
    }


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Text columns: the first to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in cells
    ]
    return "\n".join([title, lines[0], "-" * len(lines[0]), *lines[1:]])


def save(name: str, figures: dict[str, Any]) -> Path:
    """Write `figures` with the machine they come from to results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), **figures}, indent=1) + "\n", encoding="utf-8")
    return path


def milliseconds(seconds: float) -> str:
    """Seconds as whole milliseconds, for a table."""
    return f"{seconds * 1e3:,.0f} ms"
