"""Calls of the real model, timed and counted: what a phase is handed, reads, decides and keeps (0x0B.1).

A schedule is a function that runs a phase and sends each call of the model through a `Meter`. `measure` runs it several
times: once to count (operations by torch's own formulas, bytes from the live tensors; nothing is timed in that run), a
few times to warm up (timed, excluded, and told), and then the repeats whose medians and quartiles are reported.

Times are CUDA events on a GPU and the monotonic clock on a CPU. Counted, not timed: `flops`, `before`, `after`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from models.execution.device import device, device_name

T = TypeVar("T")
Phase = Literal["prefill", "decode", "recompute", "forward", "loss", "backward", "update"]
Span = tuple[int, int]
Report = Callable[[float], None]
WARM_UP, REPEATS = 2, 5


@dataclass(frozen=True)
class Share:
    """One request's part in a call, as rows of its own stream: its source rows, then BOS and its target rows.

    known: rows that existed before the call; supplied: rows handed in; readable: rows that the deciding row may read
    directly, as spans; decided: the token discovered by this call, None where there is none.
    """

    request: int
    known: int
    supplied: Span
    readable: tuple[Span, ...]
    decided: int | None = None

    @property
    def read(self) -> int:
        return sum(stop - start for start, stop in self.readable)


@dataclass(frozen=True)
class Facts:
    """What is known of a call without timing it. computed counts padded rows too; bytes are those of live tensors."""

    phase: Phase
    shares: tuple[Share, ...]
    computed: int
    before: int
    after: int

    @property
    def supplied(self) -> int:
        return sum(s.supplied[1] - s.supplied[0] for s in self.shares)

    @property
    def read(self) -> int:
        return sum(s.read for s in self.shares)

    @property
    def decided(self) -> int:
        return sum(s.decided is not None for s in self.shares)


@dataclass(frozen=True)
class Call:
    """One call. start and end (seconds from the first call) are of the run whose whole length is the median; median,
    low and high are this call's own seconds over the repeats, with quartiles. flops None: nothing counts them."""

    facts: Facts
    flops: int | None
    start: float
    end: float
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Timeline:
    """Calls in order. tokens: each request's whole stream at the end; sources: how many of its rows are the source.

    excluded: seconds of each warm-up run, which no other number contains.
    """

    title: str
    calls: tuple[Call, ...]
    tokens: tuple[tuple[int, ...], ...]
    sources: tuple[int, ...]
    excluded: tuple[float, ...]
    repeats: int
    device: str

    @property
    def seconds(self) -> float:
        return self.calls[-1].end

    def of(self, *phases: Phase) -> list[Call]:
        return [c for c in self.calls if c.facts.phase in phases]


@dataclass(frozen=True)
class Streams:
    """What a schedule returns: every request's stream of ids, and how many of its rows are the source."""

    tokens: tuple[tuple[int, ...], ...]
    sources: tuple[int, ...]


Schedule = Callable[["Meter"], Streams]


class Counter(TorchDispatchMode):
    """Floating-point operations by torch's formulas: 2 a multiply-add, products of matrices and convolutions only.

    torch's own FlopCounterMode hooks the modules of the whole process, so two visitors would count each other's calls.
    """

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        formula = flop_registry.get(func._overloadpacket)
        if formula is None:
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        found = func(*args, **kwargs)
        if formula is not None:
            self.total += formula(*args, **kwargs, out_val=found)
        return found


class Meter:
    """Runs each call and keeps when it began and ended, or, while counting, what it was."""

    def __init__(self, counting: bool, tick: Callable[[], None] = lambda: None) -> None:
        self.counting = counting
        self.tick = tick
        self.facts: list[Facts] = []
        self.flops: list[int | None] = []
        self.marks: list[tuple[Any, Any]] = []

    def call(self, work: Callable[[], T], told: Callable[[T], Facts], counted: bool = True) -> T:
        """Run `work` as one call; `told` describes it from its result. counted=False: torch does not execute it."""
        if self.counting:
            return self._count(work, told, counted)
        began = _mark()
        found = work()
        self.marks.append((began, _mark()))
        self.tick()
        return found

    def _count(self, work: Callable[[], T], told: Callable[[T], Facts], counted: bool) -> T:
        with Counter() as counter:
            found = work()
        self.facts.append(told(found))
        self.flops.append(counter.total if counted else None)
        return found

    def seconds(self) -> np.ndarray:
        """Begin and end of each call, from the first call's begin: (calls, 2)."""
        if device().type == "cuda":
            torch.cuda.synchronize()
            origin = self.marks[0][0]
            return np.array([[origin.elapsed_time(m) / 1e3 for m in pair] for pair in self.marks])
        return np.array(self.marks) - self.marks[0][0]


def _mark() -> Any:
    if device().type == "cuda":
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event
    return time.perf_counter()


def measure(
    title: str,
    schedule: Schedule,
    *,
    repeats: int = REPEATS,
    warm_up: int = WARM_UP,
    report: Report | None = None,
) -> Timeline:
    """Run the schedule 1 + warm_up + repeats times. Raises RuntimeError where two runs made different calls.

    report is told how much is done, and may raise to end the work early.
    """
    counted = Meter(counting=True)
    streams = schedule(counted)
    calls, total = len(counted.facts), warm_up + repeats
    runs = []
    for number in range(total):
        meter = Meter(counting=False)
        if report is not None:
            meter.tick = _ticker(report, number, total, calls)
        schedule(meter)
        runs.append(meter.seconds())
        if len(meter.marks) != calls:
            raise RuntimeError(
                "Two runs of one schedule made different calls, so their times cannot be compared."
            )
    found = _summarised(counted, np.stack(runs[warm_up:]))
    excluded = tuple(float(run[-1, 1]) for run in runs[:warm_up])
    return Timeline(title, found, streams.tokens, streams.sources, excluded, repeats, device_name())


def _ticker(report: Report, run: int, total: int, calls: int) -> Callable[[], None]:
    done = [0]

    def tick() -> None:
        done[0] += 1
        report((run + done[0] / calls) / total)

    return tick


def _summarised(counted: Meter, runs: np.ndarray) -> tuple[Call, ...]:
    """runs (repeats, calls, 2) of begin and end."""
    lengths = runs[:, -1, 1]
    shown = runs[np.argsort(lengths)[(len(lengths) - 1) // 2]]
    low, middle, high = np.quantile(runs[..., 1] - runs[..., 0], [0.25, 0.5, 0.75], axis=0)
    return tuple(
        Call(facts, flops, *map(float, (*shown[k], middle[k], low[k], high[k])))
        for k, (facts, flops) in enumerate(zip(counted.facts, counted.flops, strict=True))
    )
