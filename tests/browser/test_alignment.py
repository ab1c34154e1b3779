"""The Alignment page in a real Chromium: linked pictures, clicks that live in the link, panels, widths and themes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from app.labs.alignment_parts.settings import PANELS
from models.execution.checkpoints import ASSETS
from tests.app.alignment_toys import alignment_assets
from tests.browser.harness import DESKTOP, PHONE, Server, Theme, Visitor, serve, visit

Open = Callable[..., Visitor]
EXTRA: dict[str, dict[str, Any]] = {"swap": {"j": 1, "sw": "proposal"}, "force": {"j": 4, "r": 2}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("alignment") / "assets"
    shutil.copytree(alignment_assets(tmp_path_factory), folder)
    shutil.copytree(ASSETS / "examples", folder / "examples")
    log = tmp_path_factory.mktemp("alignment_server") / "streamlit.log"
    with serve(log, environment={"SEQUENCE_EXPLORER_ASSETS": str(folder)}) as running:
        yield running


@pytest.fixture
def opened(browser: Browser, server: Server) -> Iterator[Open]:
    """Open the page with small systems: `opened(sc="general", width=390, theme="dark")`."""
    with ExitStack() as stack:

        def open_page(*, width: int = DESKTOP, theme: Theme = "light", **params: Any) -> Visitor:
            visitor = stack.enter_context(visit(browser, server.url, width=width, theme=theme))
            visitor.page.set_default_timeout(60_000)
            link: dict[str, Any] = {"v": 1} | params
            visitor.goto("alignment", **link)
            return visitor

        yield open_page


def picture(visitor: Visitor, name: str = "first", kind: str = "heatmap") -> Locator:
    found = visitor.page.locator(f".st-key-alignment-card-{name} [data-component={kind}]").first
    expect(found).to_have_attribute("data-ready", "true")
    return found


def labels(visitor: Visitor, name: str = "first") -> list[str]:
    """Rows of the main picture, read from its own table."""
    button = picture(visitor, name).get_by_role("button", name="Show the numbers as a table")
    button.click()
    found = picture(visitor, name).locator("tbody th").all_text_contents()
    button.click()
    return found


def test_a_typed_sentence_is_drawn_and_its_tokens_are_those_of_the_strip(opened: Open) -> None:
    visitor = opened(sc="general")
    visitor.commit("The proposal was accepted.")
    words = picture(visitor, kind="token_strip").locator(".word").all_text_contents()
    assert labels(visitor) == words and words[-1] == "EOS"
    expect(visitor.page.locator(".se-checks .bad")).to_have_count(0)
    visitor.no_console_errors()


def test_pointing_in_the_heatmap_points_in_the_arcs(opened: Open) -> None:
    visitor = opened()
    grid = picture(visitor).get_by_role("grid")
    grid.focus()
    for _ in range(2):
        grid.press("ArrowDown")
    point = picture(visitor).get_attribute("data-point")
    assert point
    expect(picture(visitor, kind="ribbon")).to_have_attribute("data-point", point)


def test_a_chosen_cell_lives_in_the_link_and_opens_the_same_picture_elsewhere(
    opened: Open, browser: Browser, server: Server
) -> None:
    first = opened(sc="general", p="force", k="heads-global")
    grid = picture(first).get_by_role("grid")
    grid.focus()
    grid.press("ArrowDown")
    grid.press("ArrowRight")
    grid.press("Enter")
    first.page.wait_for_url("**r=*")
    first.settle()
    assert "r=1" in first.page.url and "j=1" in first.page.url
    expect(first.page.locator("[data-component=heatmap]")).to_have_count(3)
    with visit(browser, server.url) as second:
        second.page.goto(first.page.url)
        second.page.wait_for_selector(".se-heading h1")
        second.settle()
        for name in ("first", "second"):
            version = picture(first, name).get_attribute("data-version")
            expect(picture(second, name)).to_have_attribute("data-version", version or "none")
        expect(picture(second)).to_have_attribute("data-selected", "1,1")


def test_another_score_keeps_the_sentence_and_offers_its_own_windows(opened: Open) -> None:
    visitor = opened(sc="general", wi="local_p", s="Thank you.")
    expect(visitor.page.get_by_text("Half width D")).to_be_visible()
    visitor.page.get_by_role("button", name="additive").or_(
        visitor.page.get_by_role("radio", name="additive")
    ).click()
    visitor.page.wait_for_timeout(300)
    visitor.settle()
    expect(visitor.page.get_by_role("heading", name="RNNsearch")).to_be_visible()
    expect(visitor.page.get_by_text("Half width D")).to_have_count(0)
    assert "wi=" not in visitor.page.url and "s=Thank" in visitor.page.url
    visitor.no_console_errors()


def test_the_step_can_be_stepped(opened: Open) -> None:
    visitor = opened(sc="additive", p="order")
    player = visitor.page.locator("[data-component=step_player]")
    expect(player).to_have_attribute("data-ready", "true")
    before = player.locator(".view").inner_text()
    player.get_by_role("button", name="Next operation").click()
    visitor.page.wait_for_timeout(300)
    assert player.locator(".view").inner_text() != before
    visitor.no_console_errors()


@pytest.mark.parametrize("width, theme", [(DESKTOP, "light"), (PHONE, "dark")])
@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_fits_the_window(opened: Open, panel: str, width: int, theme: Theme) -> None:
    system = {"sc": "general", "wi": "local_p"} if width == PHONE else {"sc": "additive", "k": "heads-global"}
    visitor = opened(width=width, theme=theme, p=panel, **system, **EXTRA.get(panel, {}))
    visitor.no_console_errors()
    visitor.no_clipped_labels()
    expect(visitor.page.locator(".se-checks .bad")).to_have_count(0)
    visitor.screenshot(f"alignment-{panel}-{width}-{theme}")
