"""Thirty visitors at once, an edit every two seconds each: how long they wait, and what memory they take.

    python -m tests.benchmarks sessions [--sessions 30] [--seconds 60]

The visitors speak Streamlit's websocket protocol without a browser. Each starts at another moment of the two seconds.
A wait is counted from the moment the edit was due, so that a visitor who is kept waiting does not make the next wait
look short. Memory is the server's resident memory: with one visitor, at the end of the minute, after all have closed,
and again once Streamlit has dropped their sessions and the collection has run. Everything is on the loopback and ends
by itself.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from app.ui.maintenance import PERIOD
from tests.benchmarks.hooked import Hooked, serve_hooked
from tests.benchmarks.measure import (
    PAGE,
    SEED,
    Target,
    cpu_seconds,
    fresh_sentences,
    milliseconds,
    need_weights,
    resident_mb,
    save,
    summary,
    table,
)
from tests.benchmarks.visitor import Visitor, visit
from tests.browser.harness import ROOT

EVERY = 2.0  # seconds between two edits of a visitor
MOST_SESSIONS, MOST_SECONDS = 100, 300
LIVE = re.compile(r"^active_sessions\S* (\d+)", re.MULTILINE)


@dataclass
class Waits:
    """What the visitors saw, in seconds."""

    picture: list[float] = field(default_factory=list)
    result: list[float] = field(default_factory=list)
    late: int = 0  # edits that could not be sent in time, because the one before had no answer yet
    errors: int = 0
    kilobytes: list[float] = field(default_factory=list)
    cpu: float = 0.0  # seconds of processor time that the server used for all edits


def live_sessions(url: str) -> int:
    """Sessions that the server holds, connected or kept for a return."""
    with urllib.request.urlopen(f"{url}/_stcore/metrics", timeout=30) as answer:
        return sum(int(count) for count in LIVE.findall(answer.read().decode()))


def kept_seconds() -> float:
    """How long Streamlit keeps the session of a visitor who left (`server.disconnectedSessionTTL`)."""
    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    return float(settings["server"]["disconnectedSessionTTL"])


async def edits(
    visitor: Visitor, box: str, sentences: Iterator[str], first: float, last: float, waits: Waits
) -> None:
    """One visitor: an edit at `first`, `first` + EVERY, ... until `last` (monotonic times)."""
    due = first
    while due < last:
        waits.late += time.monotonic() > due + 0.05
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        found = await visitor.run({box: next(sentences)}, since=due)
        waits.result.append(found.seconds)
        if found.picture_seconds is not None:
            waits.picture.append(found.picture_seconds)
        waits.errors += len(found.errors)
        waits.kilobytes.append(found.bytes / 1e3)
        due += EVERY


async def crowd(
    hooked: Hooked, target: Target, sessions: int, seconds: float
) -> tuple[Waits, dict[str, float]]:
    """Open `sessions` visitors one after the other, let them edit for `seconds`, and read the memory as it goes."""
    url, pid, random = hooked.server.url, hooked.server.process.pid, Random(SEED)
    sentences = iter(fresh_sentences(int(sessions * (seconds / EVERY + 2)) + 8))
    waits, memory = Waits(), {}
    async with AsyncExitStack() as stack:
        visitors: list[Visitor] = []
        for _ in range(sessions):
            visitors.append(await stack.enter_async_context(visit(url, target.lab, **target.params)))
            await asyncio.wait_for(visitors[-1].run(), 300)
            if len(visitors) == 1:
                for _ in range(5):
                    await visitors[0].run({target.box: next(sentences)})
                memory["one visitor"] = resident_mb(pid)
        memory["all open"] = resident_mb(pid)
        start, used = time.monotonic() + 0.5, cpu_seconds(pid)
        tasks = [
            edits(one, target.box, sentences, start + random.uniform(0, EVERY), start + seconds, waits)
            for one in visitors
        ]
        await asyncio.wait_for(asyncio.gather(*tasks), seconds * 4 + 60)
        waits.cpu = cpu_seconds(pid) - used
        memory["after the edits"] = resident_mb(pid)
    return waits, memory


def wait_for_collection(hooked: Hooked, memory: dict[str, float]) -> int:
    """Wait until the sessions are dropped and one collection has followed; how many sessions are left."""
    time.sleep(2)
    memory["all closed"] = resident_mb(hooked.server.process.pid)
    deadline = time.monotonic() + kept_seconds() * 2 + 60
    while (left := live_sessions(hooked.server.url)) and time.monotonic() < deadline:
        time.sleep(2)
    time.sleep(PERIOD + 5)
    memory["sessions dropped, collected"] = resident_mb(hooked.server.process.pid)
    return left


def run(sessions: int = 30, seconds: float = 60, target: Target = PAGE) -> dict[str, Any]:
    """The whole benchmark; times in seconds, memory in MB. ValueError beyond its bounds."""
    if not (1 <= sessions <= MOST_SESSIONS and EVERY <= seconds <= MOST_SECONDS):
        raise ValueError(f"at most {MOST_SESSIONS} sessions and {MOST_SECONDS} seconds")
    need_weights(target.system)
    with tempfile.TemporaryDirectory() as folder, serve_hooked(Path(folder)) as hooked:
        waits, memory = asyncio.run(crowd(hooked, target, sessions, seconds))
        left = wait_for_collection(hooked, memory)
        report = hooked.report()
    share = (memory["all open"] - memory["one visitor"]) / max(1, sessions - 1)
    figures = {
        "page": target.lab,
        "system": target.system,
        "sessions": sessions,
        "seconds": seconds,
        "picture": summary(waits.picture),
        "result": summary(waits.result),
        "cpu_each": waits.cpu / len(waits.result),
        "late": waits.late,
        "errors": waits.errors,
        "kilobytes": summary(waits.kilobytes),
        "memory": {**memory, "each visitor": share},
        "sessions_left": left,
        "objects_frozen": report["frozen"],
    }
    save("sessions", figures)
    return figures


def show(figures: dict[str, Any]) -> str:
    """Waits and memory as tables."""
    columns = ("median", "p95", "least", "most")
    waits = [
        [label, *(milliseconds(figures[name][column]) for column in columns)]
        for label, name in (("edit to new picture", "picture"), ("edit to end of run", "result"))
    ]
    place = f"{figures['system']} on {figures['page']}"
    title = (
        f"{figures['sessions']} sessions, an edit every {EVERY:.0f} s for {figures['seconds']:.0f} s, {place}"
    )
    cost = f"{figures['kilobytes']['median']:.0f} kB and {milliseconds(figures['cpu_each'])} of processor time each"
    note = (
        f"{figures['result']['count']} edits, {cost}; {figures['late']} late, {figures['errors']} errors; "
        f"sessions left at last: {figures['sessions_left']}; objects frozen: {figures['objects_frozen']:,}"
    )
    memory = [[name, f"{value:,.1f} MB"] for name, value in figures["memory"].items()]
    return "\n\n".join(
        [table(title, ["", *columns], waits), note, table("Resident memory", ["", "size"], memory)]
    )
