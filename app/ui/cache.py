"""Bounded caches keyed by settings, and a bounded queue for heavy work.

    @results(max_entries=64)
    def run(settings: Settings) -> Result: ...

    result = queue().run(slow_experiment, settings, label="Searching ...")

A result is frozen and shared by every visitor, so nobody may write into its arrays. Hash settings, never tensors.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar

import streamlit as st

from app.ui.errors import Trouble

T = TypeVar("T")
WORKERS = 2
WAITING = 16


def results(*, max_entries: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache the results of a function of hashable settings; the oldest of `max_entries` goes first."""
    if max_entries < 1:
        raise ValueError("a cache needs max_entries of at least 1")
    return st.cache_resource(show_spinner=False, max_entries=max_entries)


class Ticket:
    """One piece of heavy work: where it stands, how far it is, and its result."""

    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue
        self.future: Future[Any] = Future()
        self.progress = 0.0

    def report(self, share: float) -> None:
        """Called by the work itself: `share` of it is done, 0 to 1."""
        self.progress = min(max(share, 0.0), 1.0)

    def ahead(self) -> int | None:
        """How many pieces of work wait before this one; None once it runs."""
        return self._queue.ahead(self)

    def cancel(self) -> None:
        """Leave the queue. Work that already runs is finished and its result dropped."""
        self._queue.leave(self)


class WorkQueue:
    """At most `workers` pieces of work at once and `waiting` in line, first come first served."""

    def __init__(self, workers: int = WORKERS, waiting: int = WAITING) -> None:
        self.waiting = waiting
        self._line: deque[Ticket] = deque()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="heavy")

    def submit(self, fn: Callable[..., Any], *args: Any, reports: bool = False) -> Ticket:
        """Put `fn(*args)` in line; with `reports` it is also given `report=` to say how far it is.

        Raises Trouble with a sentence for the visitor where the line is full.
        """
        ticket = Ticket(self)
        with self._lock:
            if len(self._line) >= self.waiting:
                raise Trouble(
                    f"{self.waiting} visitors are already waiting for work like this. Try again in a minute."
                )
            self._line.append(ticket)
        keywords = {"report": ticket.report} if reports else {}
        self._pool.submit(self._work, ticket, fn, args, keywords)
        return ticket

    def run(self, fn: Callable[..., T], *args: Any, label: str = "Computing ...", reports: bool = False) -> T:
        """Submit, show the place in line and the progress, and return the result (or raise what the work raised)."""
        ticket = self.submit(fn, *args, reports=reports)
        place = st.empty()
        try:
            while True:
                try:
                    return ticket.future.result(timeout=0.15)
                except NotYet:
                    if ticket.future.done():
                        raise
                    place.progress(ticket.progress, text=_status(label, ticket.ahead()))
        except CancelledError:
            raise Trouble("This work was cancelled.") from None
        finally:
            ticket.cancel()
            place.empty()

    def ahead(self, ticket: Ticket) -> int | None:
        """Tickets before `ticket` in line; None where it is in line no longer."""
        with self._lock:
            return self._line.index(ticket) if ticket in self._line else None

    def leave(self, ticket: Ticket) -> None:
        """Take `ticket` out of the line, if it still waits there."""
        with self._lock:
            if ticket in self._line:
                self._line.remove(ticket)
                ticket.future.cancel()

    def _work(
        self, ticket: Ticket, fn: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> None:
        with self._lock:
            if ticket not in self._line:
                return
            self._line.remove(ticket)
        ticket.future.set_running_or_notify_cancel()
        try:
            ticket.future.set_result(fn(*args, **keywords))
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            ticket.future.set_exception(error)


@st.cache_resource(show_spinner=False, max_entries=1)
def queue() -> WorkQueue:
    """The one queue of this server."""
    return WorkQueue()


def _status(label: str, ahead: int | None) -> str:
    return label if ahead is None else f"{label} (waiting for a free worker, {ahead} before you)"
