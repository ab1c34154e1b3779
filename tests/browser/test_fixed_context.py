"""The page "Fixed context" in a real browser: pictures by hand and keyboard, second box, links, editable grids."""

from __future__ import annotations

from urllib.parse import unquote_plus

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewVisitor
from tests.browser.harness import DESKTOP, PHONE, Theme, Visitor

ROOM = "fixed_context"
TIMEOUT = 90_000  # milliseconds: the suite shares two cores


def picture(page: Page, key: str, kind: str) -> str:
    """Selector of the component drawn under widget key `key`, once it is ready."""
    found = f".st-key-{key} [data-component={kind}][data-ready=true]"
    expect(page.locator(found)).to_be_visible(timeout=TIMEOUT)
    return found


def open_first_cell(page: Page, grid: Locator) -> Locator:
    """The input of the grid's first cell, opened by hand; tried again while pictures above still move the grid."""
    cell = page.locator(".gdg-input")
    for _ in range(10):
        grid.scroll_into_view_if_needed()
        page.wait_for_timeout(500)
        box = grid.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] * 0.2, box["y"] + 35 + 17)
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)
        if cell.count():
            break
    expect(cell).to_be_focused()
    return cell


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_panel_is_drawn_whole_and_quiet(width: int, theme: Theme, new_visitor: NewVisitor) -> None:
    visitor = new_visitor(width=width, theme=theme)
    page = visitor.goto(ROOM, settle=False)
    visitor.settle(TIMEOUT)
    picture(page, "fixed_context-blocks", "blocks")
    picture(page, "fixed_context-wide", "blocks")
    picture(page, "fixed_context-travel", "heatmap")
    picture(page, "fixed_context-read", "heatmap")
    expect(page.locator("[data-component=token_strip][data-ready=true]")).to_have_count(3)
    expect(page.locator(".se-step")).to_have_count(5)
    expect(page.locator(".se-checks li.bad")).to_have_count(0)
    visitor.screenshot(f"fixed_context-full-{width}-{theme}")
    visitor.no_clipped_labels()
    visitor.no_console_errors()


def test_blocks_are_reached_by_the_keyboard_and_read_aloud(visitor: Visitor) -> None:
    page = visitor.goto(ROOM, settle=False)
    visitor.settle(TIMEOUT)
    root = page.locator(picture(page, "fixed_context-blocks", "blocks"))
    root.locator(".scroller").focus()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    live = root.locator("[aria-live]")
    expect(live).to_contain_text("c  (summary)")
    expect(live).to_contain_text("no source row to pick")
    root.get_by_role("button", name="Show the numbers as a table").click()
    expect(root.locator("table")).to_contain_text("RNN encoder-decoder")
    visitor.no_console_errors()


def test_channels_are_reached_by_the_keyboard(visitor: Visitor) -> None:
    page = visitor.goto(ROOM, settle=False)
    visitor.settle(TIMEOUT)
    root = page.locator("[data-component=barcode][data-ready=true]").first
    root.locator(".scroller").focus()
    page.keyboard.press("ArrowRight")
    expect(root.locator("[aria-live]")).to_contain_text("c, channel 2")
    visitor.no_console_errors()


def test_the_second_sentence_follows_is_edited_and_travels(new_visitor: NewVisitor) -> None:
    first = new_visitor()
    page = first.goto(ROOM, settle=False)
    first.settle(TIMEOUT)
    first.commit("The proposal was accepted.")
    expect(page.get_by_label("Sentence B", exact=True)).to_have_value("The proposal was not accepted.")
    first.commit("The proposal was rejected.", label="Sentence B")
    first.settle(TIMEOUT)
    assert "t=The proposal was rejected." in unquote_plus(page.url)
    spoken = page.locator("[data-component=token_strip] .strip").all_inner_texts()
    second = new_visitor()
    second.page.goto(page.url)
    second.page.wait_for_selector(".se-heading h1")
    second.settle(TIMEOUT)
    expect(second.page.locator("[data-component=token_strip][data-ready=true]")).to_have_count(
        3, timeout=TIMEOUT
    )
    assert second.page.locator("[data-component=token_strip] .strip").all_inner_texts() == spoken
    second.no_console_errors()


def test_another_part_is_transplanted_and_the_link_says_so(visitor: Visitor) -> None:
    page = visitor.goto(ROOM, settle=False)
    visitor.settle(TIMEOUT)
    strips = page.locator("[data-component=token_strip] .heading")
    expect(strips.nth(1)).to_have_text("A with c and s_0 of B")
    page.get_by_role("radio", name="the start s_0", exact=True).click()
    expect(strips.nth(1)).to_have_text("A with s_0 of B", timeout=TIMEOUT)
    visitor.settle(TIMEOUT)
    assert "p=start" in page.url
    visitor.no_console_errors()


def test_a_weight_is_edited_and_reset(visitor: Visitor) -> None:
    page = visitor.goto(ROOM, settle=False)
    visitor.settle(TIMEOUT)
    sums = page.locator(".se-sum")
    expect(sums).to_contain_text("0.8·0.8 + 0.1·0.1 + 0.05·0 + 0.05·0.4 = 0.67")
    picture(page, "fixed_context-read", "heatmap")
    cell = open_first_cell(page, page.locator("[data-testid=stDataFrame]").nth(1))
    page.keyboard.press("Control+a")
    page.keyboard.type("0.5", delay=80)
    expect(cell).to_have_value("0.5")
    page.keyboard.press("Enter")
    expect(sums).to_contain_text("0.5·0.8", timeout=TIMEOUT)
    visitor.settle(TIMEOUT)
    assert "a=50,10,5,5" in unquote_plus(page.url)
    expect(page.locator(".se-checks li.bad")).to_have_count(1)
    page.get_by_role("button", name="The article's numbers").click()
    expect(sums).to_contain_text("= 0.67", timeout=TIMEOUT)
    visitor.settle(TIMEOUT)
    assert "a=" not in page.url
    visitor.no_console_errors()


def test_presenting_folds_the_boxes_and_keeps_the_pictures(visitor: Visitor) -> None:
    page = visitor.goto(ROOM, settle=False, present=1)
    visitor.settle(TIMEOUT)
    expect(page.get_by_label("Sentence B", exact=True)).to_be_hidden()
    picture(page, "fixed_context-blocks", "blocks")
    visitor.screenshot("fixed_context-presenting")
    visitor.no_clipped_labels()
    visitor.no_console_errors()
