"""Masks and families in a real Chromium: a painted cell reaches the model and the link, undo, keys, and the budget."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewVisitor
from tests.browser.harness import Theme, Visitor

ROOM = "masks"
GRID = "[data-component=mask_grid]"
HEADS = "[data-component=heads]"
TIMEOUT = 120_000
# Tries places in a canvas until the picture says that it points at the wanted cell.
FIND = """(canvas, wanted) => {
  const box = canvas.getBoundingClientRect(), root = canvas.closest('.sx');
  const event = (x, y) => new PointerEvent('pointermove', {clientX: box.left + x, clientY: box.top + y});
  for (let y = 12; y < box.height; y += 5) for (let x = 40; x < box.width; x += 5) {
    canvas.dispatchEvent(event(x, y));
    if (root.dataset.point === wanted) return [x + 3, y + 3];
  }
  return null;
}"""
LISTEN = """
window.received = 0;
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener('message', ({ data }) => { window.received += data.byteLength ?? data.size ?? data.length; });
  }
};
"""


def opened(visitor: Visitor, **params: str) -> Page:
    page = visitor.goto(ROOM, settle=False, **params)
    expect(page.locator(GRID).first).to_have_attribute("data-ready", "true", timeout=TIMEOUT)
    visitor.settle(TIMEOUT)
    return page


def place(page: Page, row: int, column: int) -> tuple[float, float]:
    """Where a cell of the first grid is in the window."""
    canvas = page.locator(f"{GRID} canvas").first
    canvas.scroll_into_view_if_needed()
    found = canvas.evaluate(FIND, f"{row},{column}")
    box = canvas.bounding_box()
    assert found is not None and box is not None
    return box["x"] + found[0], box["y"] + found[1]


def cells(page: Page) -> int:
    return int(page.locator(GRID).first.get_attribute("data-open") or -1)


def test_a_click_reruns_the_model_and_travels_in_the_link(visitor: Visitor, new_visitor: NewVisitor) -> None:
    page = opened(visitor)
    before, version = cells(page), page.locator(HEADS).get_attribute("data-version") or ""
    page.mouse.click(*place(page, 8, 12))
    assert cells(page) == before + 1  # at once, in the browser
    expect(page.locator(HEADS)).not_to_have_attribute("data-version", version, timeout=TIMEOUT)
    page.wait_for_url(re.compile(r"ms=\d+x\d+\."), timeout=TIMEOUT)
    expect(page.locator(".se-checks li.bad")).to_have_count(1)  # row 8 hears of a later input
    other = new_visitor()
    other.page.goto(page.url)
    expect(other.page.locator(GRID)).to_have_attribute("data-open", str(before + 1), timeout=TIMEOUT)
    visitor.no_console_errors()


def test_a_drag_paints_shift_fills_a_header_toggles_and_undo_goes_back(visitor: Visitor) -> None:
    page = opened(visitor)
    own = cells(page)
    first, last, corner = (place(page, *at) for at in ((0, 3), (0, 6), (2, 6)))
    page.mouse.move(*first)
    page.mouse.down()
    page.mouse.move(*last, steps=5)
    assert cells(page) == own + 4
    page.mouse.up()
    page.keyboard.down("Shift")
    page.mouse.click(*corner)
    page.keyboard.up("Shift")
    visitor.settle(TIMEOUT)
    filled = cells(page)
    assert filled > own + 4
    expect(page.locator(GRID)).to_have_attribute("data-commit", "2")
    undo = page.locator(GRID).get_by_role("button", name="Undo")
    undo.click()
    undo.click()
    visitor.settle(TIMEOUT)
    assert cells(page) == own
    page.locator(GRID).get_by_role("button", name="Redo").click()
    visitor.settle(TIMEOUT)
    assert cells(page) == own + 4


def test_the_keys_move_toggle_and_undo(visitor: Visitor) -> None:
    page = opened(visitor)
    own = cells(page)
    grid = page.locator(GRID).get_by_role("grid")
    grid.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.locator(f"{GRID} [aria-live]")).to_contain_text("may read")
    assert cells(page) == own + 1
    page.wait_for_url(re.compile("ms="), timeout=TIMEOUT)
    page.keyboard.press("Shift+Space")
    assert cells(page) > own + 1
    visitor.settle(TIMEOUT)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert cells(page) == own


def test_a_preset_in_the_page_can_be_undone_in_the_grid(visitor: Visitor) -> None:
    page = opened(visitor)
    own = cells(page)
    page.get_by_role("button", name="Full", exact=True).click()
    expect(page.locator(GRID)).not_to_have_attribute("data-open", str(own), timeout=TIMEOUT)
    visitor.settle(TIMEOUT)
    expect(page.locator(".se-checks li.bad")).to_have_count(1)
    page.locator(GRID).get_by_role("button", name="Undo").click()
    assert cells(page) == own
    expect(page.locator(".se-checks li.bad")).to_have_count(0, timeout=TIMEOUT)


def test_pointing_at_a_cell_of_a_head_points_in_the_grid(visitor: Visitor) -> None:
    page = opened(visitor)
    page.mouse.move(*place(page, 3, 2))
    for picture in (GRID, HEADS):
        expect(page.locator(picture)).to_have_attribute("data-point", "3,2")


def test_the_default_view_at_24_rows_is_under_300_kb(visitor: Visitor) -> None:
    """GPT, 6 layers x 8 heads: everything that the page's first run sends."""
    visitor.page.add_init_script(LISTEN)
    page = opened(
        visitor,
        s="The report was not convincing at all.",
        t="Le rapport n'était vraiment pas du tout très convaincant pour nous tous.",
    )
    rows = page.locator(GRID).get_by_role("grid").get_attribute("aria-rowcount")
    assert rows == "24"
    assert 20_000 < page.evaluate("window.received") < 300_000


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
@pytest.mark.parametrize("family", ["gpt", "transformer"])
def test_the_page_fits(new_visitor: NewVisitor, width: int, theme: Theme, family: str) -> None:
    visitor = new_visitor(width=width, theme=theme)
    opened(visitor, m=family, l="2")
    visitor.screenshot(f"masks-{family}-{width}-{theme}")
    visitor.no_clipped_labels()
    visitor.no_console_errors()
