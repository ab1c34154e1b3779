"""What was imported is frozen once imports rest, and garbage is collected at each tick."""

from __future__ import annotations

import gc
import sys
import time
import types
import weakref
from collections.abc import Iterator

import pytest

from app.ui.maintenance import Maintenance


@pytest.fixture(autouse=True)
def thaw() -> Iterator[None]:
    yield
    gc.unfreeze()


class Node:
    """Part of a cycle."""

    other: Node


def test_a_tick_collects_cycles() -> None:
    first, second = Node(), Node()
    first.other, second.other = second, first
    gone = weakref.ref(first)
    del first, second
    Maintenance().tick()
    assert gone() is None


def test_nothing_is_frozen_while_imports_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gc.get_freeze_count()
    maintenance = Maintenance()
    maintenance.tick()
    monkeypatch.setitem(sys.modules, "just_imported", types.ModuleType("just_imported"))
    maintenance.tick()
    assert gc.get_freeze_count() == before


def test_once_imports_rest_everything_is_frozen_and_only_once() -> None:
    maintenance = Maintenance()
    maintenance.tick()
    maintenance.tick()
    frozen = gc.get_freeze_count()
    assert frozen > 10_000
    extra = [Node() for _ in range(1000)]
    maintenance.tick()
    assert gc.get_freeze_count() <= frozen
    del extra


def test_the_thread_ticks_until_it_is_stopped() -> None:
    maintenance = Maintenance(period=0.01)
    maintenance.thread.start()
    deadline = time.monotonic() + 30
    while not maintenance.frozen_modules and time.monotonic() < deadline:
        time.sleep(0.01)
    maintenance.stop.set()
    maintenance.thread.join(10)
    assert not maintenance.thread.is_alive()
    assert maintenance.frozen_modules > 0
