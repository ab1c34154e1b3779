"""What was imported is frozen once imports rest; what sessions leave behind is collected on a timer."""

from __future__ import annotations

import gc
import sys
import time
import tomllib
import types
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.ui.maintenance import Maintenance

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def thaw() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


class Node:
    """Part of a cycle."""

    other: Node


def cycle() -> weakref.ref[Node]:
    """Two objects that only hold each other, and a weak reference to one of them."""
    first, second = Node(), Node()
    first.other, second.other = second, first
    return weakref.ref(first)


@contextmanager
def running(maintenance: Maintenance) -> Iterator[Maintenance]:
    maintenance.thread.start()
    try:
        yield maintenance
    finally:
        maintenance.stop.set()
        maintenance.thread.join(10)
        assert not maintenance.thread.is_alive()


def wait_until_dead(reference: weakref.ref[Node], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while reference() is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    return reference() is None


def settled() -> Maintenance:
    """A maintenance that has frozen what is loaded now."""
    maintenance = Maintenance(period=0.05, look=0.01)
    maintenance.look()
    maintenance.look()
    return maintenance


def test_the_timer_collects_cycles() -> None:
    with running(settled()):
        gc.disable()
        assert wait_until_dead(cycle())


def test_a_cycle_stays_where_no_timer_runs() -> None:
    maintenance = settled()
    gc.disable()
    left = cycle()
    maintenance.look()  # nothing new was imported, so a look collects nothing
    assert left() is not None


def test_garbage_is_not_frozen() -> None:
    gc.disable()
    left = cycle()
    settled()
    assert left() is None


def test_nothing_is_frozen_while_imports_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gc.get_freeze_count()
    maintenance = Maintenance()
    maintenance.look()
    monkeypatch.setitem(sys.modules, "just_imported", types.ModuleType("just_imported"))
    maintenance.look()
    assert gc.get_freeze_count() == before


def test_once_imports_rest_everything_is_frozen_and_only_once() -> None:
    maintenance = settled()
    frozen = gc.get_freeze_count()
    assert frozen > 10_000
    extra = [Node() for _ in range(1000)]
    maintenance.look()
    assert gc.get_freeze_count() <= frozen
    del extra


def test_what_is_imported_later_is_frozen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    maintenance = settled()
    late = types.ModuleType("late")
    late.__dict__["held"] = [Node() for _ in range(5000)]
    before = gc.get_freeze_count()
    monkeypatch.setitem(sys.modules, "late", late)
    maintenance.look()
    maintenance.look()
    assert gc.get_freeze_count() >= before + 5000


def test_the_thread_freezes_soon_and_long_before_it_first_collects() -> None:
    with running(Maintenance(period=3600, look=0.01)) as maintenance:
        deadline = time.monotonic() + 10
        while not maintenance.frozen_modules and time.monotonic() < deadline:
            time.sleep(0.01)
    assert maintenance.frozen_modules > 0
    assert gc.get_freeze_count() > 10_000


def test_streamlit_does_not_collect_after_every_run() -> None:
    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    assert settings["runner"]["postScriptGC"] is False
