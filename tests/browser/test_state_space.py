"""The page "State space" in a real browser: drawn by hand and by keyboard, whole, and reopened from its link."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewVisitor
from tests.browser.harness import DESKTOP, PHONE, Theme, Visitor

ROOM = "state_space"
TIMEOUT = 90_000  # milliseconds: the suite shares two cores
TRACKS = ".st-key-state_space-tracks [data-component=tracks][data-ready=true]"


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_panel_is_drawn_whole_and_quiet(width: int, theme: Theme, new_visitor: NewVisitor) -> None:
    visitor = new_visitor(width=width, theme=theme)
    page = visitor.goto(ROOM, settle=False)
    visitor.settle(TIMEOUT)
    expect(page.locator("[data-component=tracks][data-ready=true]")).to_have_count(2, timeout=TIMEOUT)
    expect(page.locator(".se-step")).to_have_count(3)
    expect(page.locator(".se-checks li.bad")).to_have_count(0)
    visitor.screenshot(f"state_space-{width}-{theme}")
    visitor.no_clipped_labels()
    visitor.no_console_errors()


def test_an_input_drawn_by_hand_runs_both_schedules_and_travels_in_the_link(
    visitor: Visitor, new_visitor: NewVisitor
) -> None:
    page = visitor.goto(ROOM, settle=False)
    picture = page.locator(TRACKS)
    expect(picture).to_be_visible(timeout=TIMEOUT)
    before = picture.get_attribute("data-version")
    box = picture.locator("canvas").bounding_box()
    assert box is not None and before is not None
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 40, steps=6)
    page.mouse.up()
    expect(picture).not_to_have_attribute("data-version", before, timeout=TIMEOUT)
    expect(page.locator(".se-checks li.bad")).to_have_count(0)
    page.wait_for_url("**u=*", timeout=TIMEOUT)
    drawn = picture.get_attribute("data-version")
    other = new_visitor()
    other.page.goto(page.url)
    expect(other.page.locator(TRACKS)).to_have_attribute("data-version", drawn or "", timeout=TIMEOUT)


def test_the_arrow_keys_change_a_value(visitor: Visitor) -> None:
    page = visitor.goto(ROOM, settle=False)
    picture = page.locator(TRACKS)
    expect(picture).to_be_visible(timeout=TIMEOUT)
    before = picture.get_attribute("data-version") or ""
    visitor.settle(TIMEOUT)
    picture.locator(".scroller").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(picture.locator("[aria-live]")).to_contain_text("u: 0.1000")
    expect(picture).not_to_have_attribute("data-version", before, timeout=TIMEOUT)
