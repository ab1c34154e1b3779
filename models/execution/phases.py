"""The phases of generation as schedules of calls: prefill, cached decode, decode by recomputing the prefix (0x0B).

    cached      read(source) once, then one step a decision; the state is all that passes from call to call
    recomputed  every call gets the whole known prefix again, and the last valid row decides
    continuous  requests join and leave a running batch; a finished one gives its place to the next in line

All are greedy, so every run of one schedule makes the same calls. One decision a request and call, whatever the width.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from models.execution.calls import Facts, Meter, Schedule, Share, Span, Streams
from models.execution.joining import join
from models.execution.reach import reach, spans
from models.interface import Rows, System
from models.training.corpus import pad
from models.training.tokenizer import BOS, EOS

Readable = Callable[[int, int], tuple[Span, ...]]


def no_read(b: int, t: int) -> tuple[Span, ...]:
    """Nothing is told of what is readable: for schedules that are only timed."""
    return ()


@dataclass(frozen=True)
class Requests:
    """A batch to serve. sources: ids with EOS; prefixes: forced beginnings of each target, may differ in length; most:
    decisions of each request at most; ends False: EOS does not end a request (lengths are what is measured)."""

    sources: tuple[tuple[int, ...], ...]
    prefixes: tuple[tuple[int, ...], ...]
    most: tuple[int, ...]
    ends: bool = True

    @classmethod
    def one(cls, source: list[int], most: int, ends: bool = True) -> Requests:
        return cls((tuple(source),), ((),), (most,), ends)

    def rows(self, device: torch.device) -> Rows:
        return Rows(*pad(self.sources)).to(device)


class Known:
    """What each request knows so far: its target's tokens from BOS on, and which of them were decided."""

    def __init__(self, asked: Requests) -> None:
        self.asked = asked
        self.targets = [[BOS, *prefix] for prefix in asked.prefixes]

    def decided(self, b: int) -> int:
        return len(self.targets[b]) - 1 - len(self.asked.prefixes[b])

    def active(self, b: int) -> bool:
        ended = self.asked.ends and self.decided(b) > 0 and self.targets[b][-1] == EOS
        return not ended and self.decided(b) < self.asked.most[b]

    def streams(self) -> Streams:
        tokens = tuple((*s, *t) for s, t in zip(self.asked.sources, self.targets, strict=True))
        return Streams(tokens, tuple(map(len, self.asked.sources)))


def readable_rows(system: System, asked: Requests, streams: Streams) -> Readable:
    """(request, target row) -> the spans of its stream that the row may read, from one teacher-forced pass."""
    where = next(system.parameters()).device
    targets = [tokens[S:] for tokens, S in zip(streams.tokens, streams.sources, strict=True)]
    seen = reach(system, asked.rows(where), Rows(*pad(targets)).to(where))

    def spans_of(b: int, t: int) -> tuple[Span, ...]:
        S, T = streams.sources[b], len(targets[b])
        return spans(seen[b][t, : S + T])

    return spans_of


class Executor(Protocol):
    """What runs a system's two calls: torch, or another runtime with the same weights."""

    counted: bool  # torch's counter sees its operations
    where: torch.device  # of the ids that it is handed

    def read(self, source: Rows) -> Any: ...

    def decide(self, state: Any, token: list[int]) -> tuple[Any, list[int]]:
        """One step and its greedy decisions: the next state and a token for each request."""
        ...


class Torch:
    """The system as it is."""

    counted = True

    def __init__(self, system: System) -> None:
        self.system = system
        self.where = next(system.parameters()).device

    def read(self, source: Rows) -> Any:
        return self.system.read(source)

    def decide(self, state: Any, token: list[int]) -> tuple[Any, list[int]]:
        stepped = self.system.step(state, torch.tensor(token, device=self.where))
        return stepped.state, stepped.logits.argmax(-1).tolist()


def cached(by: System | Executor, asked: Requests, readable: Readable = no_read) -> Schedule:
    """Prefill the sources together, then decode all requests together from the state."""
    return partial(_cached, Torch(by) if isinstance(by, System) else by, asked, readable)


@torch.inference_mode()
def _cached(by: Executor, asked: Requests, readable: Readable, meter: Meter) -> Streams:
    known, t = Known(asked), 0
    rows = asked.rows(by.where)
    state = meter.call(lambda: by.read(rows), lambda found: prefill_facts(asked, rows, found), by.counted)
    requests = range(len(asked.sources))
    while any(known.active(b) for b in requests):
        supplied = [b for b in requests if t < len(known.targets[b])]
        token = [known.targets[b][t] if b in supplied else EOS for b in requests]
        told = partial(_decode_facts, known, supplied, t, state, readable)
        state, chosen = meter.call(partial(by.decide, state, token), told, by.counted)
        for b in _deciding(known, supplied, t):
            known.targets[b].append(chosen[b])
        t += 1
    return known.streams()


def _deciding(known: Known, supplied: list[int], t: int) -> list[int]:
    """Requests whose newest row is the one supplied: theirs is a decision, the others still read their prefix."""
    return [b for b in supplied if t == len(known.targets[b]) - 1 and known.active(b)]


def prefill_facts(asked: Requests, rows: Rows, state: Any) -> Facts:
    lengths = list(map(len, asked.sources))
    shares = tuple(Share(b, S, (0, S), ((0, S),)) for b, S in enumerate(lengths))
    return Facts("prefill", shares, rows.ids.numel(), 0, state.nbytes)


def _decode_facts(
    known: Known, supplied: list[int], t: int, before: Any, readable: Readable, found: tuple[Any, list[int]]
) -> Facts:
    after, chosen = found
    deciding = _deciding(known, supplied, t)
    shares = [_share(known, b, t, readable, chosen[b] if b in deciding else None) for b in supplied]
    return Facts("decode", tuple(shares), len(chosen), before.nbytes, after.nbytes)


def _share(known: Known, b: int, t: int, readable: Readable, decided: int | None) -> Share:
    S = len(known.asked.sources[b])
    return Share(b, S + len(known.targets[b]), (S + t, S + t + 1), readable(b, t), decided)


def recomputed(system: System, asked: Requests, readable: Readable = no_read) -> Schedule:
    """No state at all: each decision gets the whole prefix, source included."""
    return partial(_recomputed, system, asked, readable)


@torch.inference_mode()
def _recomputed(system: System, asked: Requests, readable: Readable, meter: Meter) -> Streams:
    known, where = Known(asked), next(system.parameters()).device
    rows = asked.rows(where)
    while any(known.active(b) for b in range(len(asked.sources))):
        target = Rows(*pad(known.targets)).to(where)
        told = partial(_recompute_facts, known, rows, target, readable)
        logits = meter.call(partial(last_logits, system, rows, target), told)
        for b, chosen in enumerate(logits):
            if known.active(b):
                known.targets[b].append(chosen)
    return known.streams()


def last_logits(system: System, source: Rows, target: Rows) -> list[int]:
    """Greedy decisions of each request's last valid row: `[:, -1]` would be padding in the shorter ones (0x0B.4)."""
    features, _ = system.features(source, target)
    return system.project(last_valid(features, target)).argmax(-1).tolist()


def last_valid(rows: Tensor, target: Rows) -> Tensor:
    """(B, T, d) -> (B, d)."""
    return rows[torch.arange(rows.shape[0], device=rows.device), target.lengths - 1]


def _recompute_facts(known: Known, rows: Rows, target: Rows, readable: Readable, chosen: list[int]) -> Facts:
    shares = []
    for b, S in enumerate(map(len, known.asked.sources)):
        if known.active(b):
            T = len(known.targets[b])
            shares.append(Share(b, S + T, (0, S + T), readable(b, T - 1), chosen[b]))
    return Facts("recompute", tuple(shares), rows.ids.numel() + target.ids.numel(), 0, 0)


def continuous(system: System, asked: Requests, slots: int, readable: Readable = no_read) -> Schedule:
    """At most `slots` requests at once; each leaves when it ends, and the next in line is prefilled and joins.

    A request whose state cannot share the batch (`join`) waits until the batch is empty.
    """
    if slots < 1:
        raise ValueError("A batch needs at least one place.")
    return partial(_continuous, system, asked, slots, readable)


@torch.inference_mode()
def _continuous(system: System, asked: Requests, slots: int, readable: Readable, meter: Meter) -> Streams:
    known, where = Known(asked), next(system.parameters()).device
    waiting, active, state = deque(range(len(asked.sources))), [], None
    at = [0] * len(asked.sources)  # the target row that each request supplies next
    ready: tuple[int, Any] | None = None  # prefilled, not yet in the batch
    while waiting or active or ready:
        while (waiting or ready) and len(active) < slots:
            ready = ready or _prefilled(system, asked, waiting.popleft(), where, meter)
            joined = _joined(state, ready[1])
            if joined is None:
                break
            state, active, ready = joined, [*active, ready[0]], None
        state = _iterate(system, known, active, at, state, readable, meter)
        keep = [k for k, b in enumerate(active) if known.active(b)]
        if len(keep) < len(active):
            state = state.select(torch.tensor(keep, device=where)) if keep else None
            active = [active[k] for k in keep]
    return known.streams()


def _prefilled(system: System, asked: Requests, b: int, where: torch.device, meter: Meter) -> tuple[int, Any]:
    source = asked.sources[b]
    rows = Rows(*pad([source])).to(where)
    share = (Share(b, len(source), (0, len(source)), ((0, len(source)),)),)
    state = meter.call(
        lambda: system.read(rows), lambda found: Facts("prefill", share, len(source), 0, found.nbytes)
    )
    return b, state


def _joined(state: Any, newcomer: Any) -> Any | None:
    """None where the newcomer must wait."""
    if state is None:
        return newcomer
    try:
        return join(state, newcomer)
    except ValueError:
        return None


def _iterate(
    system: System,
    known: Known,
    active: list[int],
    at: list[int],
    state: Any,
    readable: Readable,
    meter: Meter,
) -> Any:
    """One step of the running batch, at the target row where each request stands."""
    token = [known.targets[b][at[b]] for b in active]
    deciding = {b for b in active if at[b] == len(known.targets[b]) - 1}

    def told(found: tuple[Any, list[int]]) -> Facts:
        after, chosen = found
        shares = [
            _share(known, b, at[b], readable, c if b in deciding else None)
            for b, c in zip(active, chosen, strict=True)
        ]
        return Facts("decode", tuple(shares), len(active), state.nbytes, after.nbytes)

    state_after, chosen = meter.call(partial(Torch(system).decide, state, token), told)
    for b, token_chosen in zip(active, chosen, strict=True):
        if b in deciding:
            known.targets[b].append(token_chosen)
        at[b] += 1
    return state_after
