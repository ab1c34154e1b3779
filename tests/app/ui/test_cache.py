"""The queue for heavy work is bounded, fair, and says where one stands."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from app.ui.cache import WorkQueue, results
from app.ui.errors import Trouble


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    opened = threading.Event()
    yield opened
    opened.set()


def _fill(queue: WorkQueue, gate: threading.Event, workers: int) -> None:
    started = threading.Barrier(workers + 1)

    def hold() -> None:
        started.wait(5)
        gate.wait(5)

    for _ in range(workers):
        queue.submit(hold)
    started.wait(5)


def test_the_result_comes_back() -> None:
    assert WorkQueue().submit(pow, 2, 10).future.result(5) == 1024


def test_an_error_of_the_work_comes_back() -> None:
    with pytest.raises(ZeroDivisionError):
        WorkQueue().submit(divmod, 1, 0).future.result(5)


def test_only_so_many_run_at_once_and_the_rest_know_their_place(gate: threading.Event) -> None:
    queue = WorkQueue(workers=2, waiting=4)
    _fill(queue, gate, 2)
    tickets = [queue.submit(pow, 2, power) for power in range(3)]
    assert [ticket.ahead() for ticket in tickets] == [0, 1, 2]
    gate.set()
    assert [ticket.future.result(5) for ticket in tickets] == [1, 2, 4]
    assert [ticket.ahead() for ticket in tickets] == [None, None, None]


def test_a_full_line_is_said_in_a_sentence(gate: threading.Event) -> None:
    queue = WorkQueue(workers=1, waiting=2)
    _fill(queue, gate, 1)
    queue.submit(pow, 2, 2)
    queue.submit(pow, 2, 2)
    with pytest.raises(Trouble) as caught:
        queue.submit(pow, 2, 2)
    assert (
        caught.value.sentence == "2 visitors are already waiting for work like this. Try again in a minute."
    )


def test_who_leaves_makes_room_and_is_not_run(gate: threading.Event) -> None:
    queue = WorkQueue(workers=1, waiting=1)
    _fill(queue, gate, 1)
    ran: list[int] = []
    ticket = queue.submit(ran.append, 1)
    ticket.cancel()
    last = queue.submit(pow, 3, 3)
    gate.set()
    assert last.future.result(5) == 27
    assert ran == []


def test_work_reports_how_far_it_is() -> None:
    seen = []

    def work(*, report) -> None:
        for share in (0.5, 7.0):
            report(share)
            seen.append(ticket.progress)

    gate = threading.Event()
    queue = WorkQueue(workers=1)
    queue.submit(gate.wait, 5)
    ticket = queue.submit(work, reports=True)
    gate.set()
    ticket.future.result(5)
    assert seen == [0.5, 1.0]


def test_run_returns_the_result() -> None:
    assert WorkQueue().run(pow, 2, 5) == 32


def test_run_says_that_it_was_cancelled(gate: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = WorkQueue(workers=1)
    _fill(queue, gate, 1)
    submit = queue.submit

    def cancelled(*args, **keywords):
        ticket = submit(*args, **keywords)
        ticket.cancel()
        return ticket

    monkeypatch.setattr(queue, "submit", cancelled)
    with pytest.raises(Trouble, match="cancelled"):
        queue.run(pow, 2, 5)


def test_a_cache_without_a_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="max_entries"):
        results(max_entries=0)
