"""What the next token needs, against the length of what was read: bytes of the live state, and time a token (0x0C.6).

Every number comes from a real `read` of that many rows and real steps after it. Ids are drawn at random: neither bytes
nor time depend on what the words mean. Where a system's own limit is shorter than asked (a table of positions), a twin
of the same sizes with a longer table and random weights stands in, and says so.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

import models
from app.experiments.state_space.options import LENGTHS, LIMITED, LIMITS
from models.catalog import entry
from models.execution.checkpoints import CheckpointError
from models.execution.device import device
from models.interface import Rows, State, System
from models.training.tokenizer import BOS, EOS, N_SPECIAL

WARM_UP, STEPS = 2, 12
Report = Callable[[float], None]


@dataclass(frozen=True)
class Point:
    """One length: bytes of the state before the next token, seconds of `read`, and of a step (median, quartiles)."""

    length: int
    nbytes: int
    read: float
    step: float
    low: float
    high: float


@dataclass(frozen=True)
class Part:
    """One kind of tensor in the state at the greatest length: whether its bytes followed the length."""

    name: str
    symbol: str
    shape: tuple[int, ...]
    nbytes: int
    grows: bool


@dataclass(frozen=True)
class Kept:
    """One system. told: why lengths are missing or weights are random, empty where nothing needs saying."""

    slug: str
    title: str
    family: str
    points: tuple[Point, ...]
    parts: tuple[Part, ...]
    random: bool
    told: str

    @property
    def bytes_a_row(self) -> float:
        """Bytes that one more row adds, by least squares over the lengths."""
        if len(self.points) < 2:
            return 0.0
        lengths, sizes = np.array([(p.length, p.nbytes) for p in self.points], dtype=float).T
        return float(np.polyfit(lengths, sizes, 1)[0])


def kept(slug: str, lengths: Sequence[int], report: Report | None = None) -> Kept:
    """Measure one system at each length. Raises CheckpointError where its files are missing."""
    item, translator = entry(slug), models.load(slug)
    possible = [n for n in lengths if n <= LIMITED.get(item.family, LENGTHS[-1])]
    system, random = _long_enough(translator.system, max(possible))
    points = []
    for number, length in enumerate(possible):
        points.append(_measure(system, length))
        if report:
            report((number + 1) / len(possible))
    told = []
    if random:
        told.append("Random weights: a twin with a longer table of positions.")
    if len(possible) < len(lengths):
        told.append(
            f"Not run beyond {max(possible):,} rows: every layer would hold its whole square of weights."
        )
    parts = _parts(system, min(possible), max(possible))
    return Kept(slug, item.title, item.family, tuple(points), parts, random, " ".join(told))


def every(slugs: Sequence[str], lengths: Sequence[int], report: Report) -> tuple[list[Kept], list[str]]:
    """All systems, one after another; those that cannot be loaded as sentences."""
    found: list[Kept] = []
    missing: list[str] = []
    for number, slug in enumerate(slugs):
        try:
            found.append(kept(slug, lengths, lambda share, n=number: report((n + share) / len(slugs))))
        except CheckpointError as error:
            missing.append(str(error))
    return found, missing


def _long_enough(system: System, length: int) -> tuple[System, bool]:
    """The system itself, or a twin of its sizes whose position tables reach `length` rows and the steps after them."""
    config: Any = system.config
    needed = {name: length + STEPS + WARM_UP + 2 for name in LIMITS if hasattr(config, name)}
    short = {name: size for name, size in needed.items() if getattr(config, name) < size}
    if not short:
        return system, False
    with torch.random.fork_rng():
        torch.manual_seed(0)
        twin: System = type(system)(replace(config, **short))
    return twin.to(device()).eval().requires_grad_(False), True


def _rows(length: int, vocabulary: int) -> Rows:
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(N_SPECIAL, vocabulary, (1, length), generator=generator)
    ids[0, -1] = EOS
    return Rows(ids, torch.ones_like(ids, dtype=torch.bool)).to(device())


@torch.inference_mode()
def _measure(system: System, length: int) -> Point:
    rows = _rows(length, system.output_table()[0].shape[0])
    started = _now()
    state = system.read(rows)
    read, nbytes = _now() - started, state.nbytes
    token, seconds = torch.tensor([BOS], device=device()), []
    for _ in range(WARM_UP + STEPS):
        started = _now()
        stepped = system.step(state, token)
        state, token = stepped.state, stepped.logits.argmax(-1).clamp(min=N_SPECIAL)
        seconds.append(_now() - started)
    low, middle, high = np.quantile(seconds[WARM_UP:], [0.25, 0.5, 0.75])
    return Point(length, nbytes, read, float(middle), float(low), float(high))


def _now() -> float:
    if device().type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


@torch.inference_mode()
def _parts(system: System, short: int, long: int) -> tuple[Part, ...]:
    """Tensors of the state, one line a kind (layers together), and which of them grew with the length."""
    vocabulary = system.output_table()[0].shape[0]
    small, large = (_kinds(system.read(_rows(n, vocabulary))) for n in (short, long))
    return tuple(
        Part(name, symbol, shape, size, size > small[name][2])
        for name, (symbol, shape, size) in large.items()
    )


def _kinds(state: State) -> dict[str, tuple[str, tuple[int, ...], int]]:
    found: dict[str, tuple[str, tuple[int, ...], int]] = {}
    for tensor in state.tensors():
        name = tensor.name.split("[")[0]
        before = found[name][2] if name in found else 0
        found[name] = (tensor.symbol.split(", layer")[0], tensor.shape, before + tensor.nbytes)
    return found


def crossing_point(one: Kept, other: Kept) -> float | None:
    """Rows at which two straight lines of bytes meet; None where they do not between 1 and a million."""
    slope = one.bytes_a_row - other.bytes_a_row
    if slope == 0 or not one.points or not other.points:
        return None
    start = [statistics.fmean(p.nbytes - k.bytes_a_row * p.length for p in k.points) for k in (one, other)]
    rows = (start[1] - start[0]) / slope
    return rows if 1 <= rows <= 1_000_000 else None
