"""Fixtures of the browser tests: the app, a Chromium, and visitors with a context of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.harness import DESKTOP, Server, Theme, Visitor, launch, serve, visit

NewVisitor = Callable[..., Visitor]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, so that `-m browser` and `-m "not browser"` select."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as `make run` starts it, on a free port, for the whole session."""
    with serve(tmp_path_factory.mktemp("server") / "streamlit.log") as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, headless. Where there is none this fails and says what to install."""
    with sync_playwright() as playwright:
        opened = launch(playwright)
        yield opened
        opened.close()


@pytest.fixture
def new_visitor(browser: Browser, app_server: Server) -> Iterator[NewVisitor]:
    """Make visitors: `new_visitor(width=390, theme="dark")`. Their contexts close with the test."""
    with ExitStack() as stack:

        def make(*, width: int = DESKTOP, theme: Theme = "light") -> Visitor:
            return stack.enter_context(visit(browser, app_server.url, width=width, theme=theme))

        yield make


@pytest.fixture
def visitor(new_visitor: NewVisitor) -> Visitor:
    """One visitor at 1440 px in the light theme."""
    return new_visitor()
