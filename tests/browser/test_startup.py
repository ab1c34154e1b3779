"""A new server paints every page before torch is imported, and takes what it loaded out of the collector's sight."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from app import catalog
from tests.benchmarks.hooked import Hooked, serve_hooked
from tests.benchmarks.measure import Target
from tests.benchmarks.startup import painted_without_torch
from tests.browser.harness import visit


@pytest.fixture(scope="module")
def held_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooked]:
    """A server whose import of torch waits."""
    with serve_hooked(tmp_path_factory.mktemp("held"), hold=True) as hooked:
        yield hooked
        hooked.release()


def wait_for_frozen(hooked: Hooked, least: int, seconds: float = 90) -> int:
    """Objects frozen, once they are at least `least` or the time is over."""
    deadline = time.monotonic() + seconds
    while (frozen := hooked.report()["frozen"]) < least and time.monotonic() < deadline:
        time.sleep(1)
    return frozen


def test_every_page_is_painted_while_torch_waits(browser: Browser, held_server: Hooked) -> None:
    for lab in catalog.LABS:
        with visit(browser, held_server.server.url) as visitor:
            seen = painted_without_torch(visitor, held_server, Target(lab.slug))
            assert seen == {
                "frame painted": True,
                "sentence box painted": True,
                "navigation painted": True,
                "torch in memory": False,
                "torch in sys.modules": False,
            }, lab.slug


def test_then_the_models_load_and_are_frozen(browser: Browser, held_server: Hooked, tmp_path: Path) -> None:
    before = held_server.report()["frozen"]
    held_server.release()
    with visit(browser, held_server.server.url) as visitor:
        visitor.goto("alignment", settle=False)
        visitor.settle(timeout=240_000)
        visitor.no_console_errors()
    assert held_server.report()["torch"]
    assert held_server.torch_mapped()
    assert wait_for_frozen(held_server, before + 50_000) > before + 50_000
