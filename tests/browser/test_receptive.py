"""The page "Receptive fields" in a real browser: cones under the pointer, the keyboard, an edited schedule, links."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from models.analysis import receptive
from models.analysis.receptive import Layer
from models.layers import visibility
from tests.browser.conftest import NewVisitor
from tests.browser.harness import DESKTOP, PHONE, Theme, Visitor

ROOM = "receptive_fields"
TIMEOUT = 90_000  # milliseconds: the suite shares two cores
SCRIPT = Path(__file__).parents[2] / "app/components/js/lattice_graph.js"
HOLES = (Layer(2, 1), Layer(2, 4))

# A place in the canvas at which the picture says that it points at the wanted row.
FIND = """(canvas, wanted) => {
  const box = canvas.getBoundingClientRect(), root = canvas.closest('.sx');
  for (let y = 4; y < box.height; y += 5) for (let x = 20; x < box.width; x += 4) {
    const place = {clientX: box.left + x, clientY: box.top + y};
    canvas.dispatchEvent(new PointerEvent('pointermove', place));
    if (root.dataset.point !== wanted) continue;
    canvas.dispatchEvent(new PointerEvent('pointerleave'));
    return [x, y];
  }
  return null;
}"""


def lattice(page: Page) -> Locator:
    return page.locator(".st-key-receptive_fields-lattice [data-component=lattice][data-ready=true]")


def layers(page: Page) -> Locator:
    return page.locator(".st-key-receptive_fields-layers [data-component=layer_table][data-ready=true]")


def opened(visitor: Visitor, **params: object) -> Page:
    page = visitor.goto(ROOM, settle=False, **params)
    expect(lattice(page)).to_be_visible(timeout=TIMEOUT)
    visitor.settle(TIMEOUT)
    return page


def has(part: str) -> Callable[[str], bool]:
    """Whether an address says `part`, its commas plain or encoded."""
    return lambda url: part in unquote(url)


def point(picture: Locator, level: int, row: int) -> None:
    place = picture.locator("canvas").evaluate(FIND, f"{level},{row}")
    assert place is not None, f"nothing at layer {level}, row {row}"
    picture.locator("canvas").hover(position={"x": place[0] + 1, "y": place[1] + 1})


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_panel_is_drawn_whole_and_quiet(width: int, theme: Theme, new_visitor: NewVisitor) -> None:
    visitor = new_visitor(width=width, theme=theme)
    page = opened(visitor)
    expect(page.locator(".se-checks li.bad")).to_have_count(0)
    visitor.screenshot(f"receptive_fields-{width}-{theme}")
    visitor.no_clipped_labels()
    visitor.no_console_errors()


def test_the_browser_walks_the_graph_that_the_server_derived(visitor: Visitor) -> None:
    page = opened(visitor, v="1", k="2x1,2x4", n="16", o="9")
    picture = lattice(page)
    cone = receptive.cone(HOLES, 16, 9)[0]
    first, last = np.flatnonzero(cone)[[0, -1]]
    assert picture.get_attribute("data-reached") == str(cone.sum())
    assert picture.get_attribute("data-span") == str(last - first + 1)
    assert picture.get_attribute("data-holes") == str(last - first + 1 - cone.sum())
    runs = page.evaluate("() => performance.now()")
    point(picture, 1, 7)
    down, up = receptive.cone(HOLES[:1], 16, 7)[0], receptive.shadow(HOLES[1:], 16, 7)[-1]
    expect(picture.locator(".tip")).to_contain_text(f"reads {down.sum()} input positions, 6–7")
    expect(picture.locator(".tip")).to_contain_text(f"is read by {up.sum()} of 16 outputs")
    assert (
        runs and page.locator("[data-testid=stApp]").get_attribute("data-test-script-state") == "notRunning"
    )


# Every row of the last layer by every input row, walked down; and every input row walked up.
WALK = """([layers, counts]) => {
  const graph = new LatticeGraph(layers, counts), top = graph.depth;
  const down = Array.from({length: counts[top]}, (_, row) => [...graph.down(top, [row])[0]]);
  const up = Array.from({length: counts[0]}, (_, row) => [...graph.up(0, [row])[top]]);
  return [down, up];
}"""


def test_random_graphs_are_walked_alike_in_the_browser_and_in_the_model(browser: Browser) -> None:
    rng = np.random.default_rng(5)
    page = browser.new_page()
    page.set_content("<p></p>")
    page.add_script_tag(content=SCRIPT.read_text(encoding="utf-8") + "window.LatticeGraph = LatticeGraph;")
    for _ in range(40):
        schedule, rows = random_schedule(rng), int(rng.integers(1, 40))
        sent = [{"offsets": one.offsets, "stride": one.stride, "whole": []} for one in schedule]
        down, up = page.evaluate(WALK, [sent, receptive.lengths(schedule, rows)])
        reach = receptive.reach(schedule, rows).astype(int)
        assert down == reach.tolist(), schedule
        assert up == reach.T.tolist(), schedule
    page.close()


def random_schedule(rng: np.random.Generator) -> tuple[Layer, ...]:
    odd = [1, 3, 5]
    return tuple(
        Layer(int(rng.choice(odd)), int(rng.integers(1, 6)), bool(rng.integers(2)), int(rng.integers(1, 3)))
        for _ in range(int(rng.integers(1, 5)))
    )


def test_whole_rows_read_all_and_are_read_by_all(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<p></p>")
    page.add_script_tag(content=SCRIPT.read_text(encoding="utf-8") + "window.LatticeGraph = LatticeGraph;")
    down, up = page.evaluate(WALK, [[{"offsets": [-1, 0, 1], "stride": 1, "whole": [0]}], [8, 8]])
    relation = (visibility.window(8, 1) | visibility.global_rows(8, [0])).int()
    assert down == relation.tolist() and up == relation.T.tolist()
    page.close()


def test_a_layer_edited_by_hand_redraws_and_travels_in_the_link(
    visitor: Visitor, new_visitor: NewVisitor
) -> None:
    page = opened(visitor)
    before = lattice(page).get_attribute("data-version") or ""
    width = layers(page).get_by_label("Width of layer 1")
    width.fill("3")
    width.press("Enter")
    expect(lattice(page)).not_to_have_attribute("data-version", before, timeout=TIMEOUT)
    expect(lattice(page)).to_have_attribute("data-span", "17")
    layers(page).get_by_role("button", name="Move layer 4 up").click()
    page.wait_for_url(has("k=3x1,2x2,2x8,2x4"), timeout=TIMEOUT)
    layers(page).get_by_role("button", name="Add a layer").click()
    expect(lattice(page)).to_have_attribute("data-depth", "5", timeout=TIMEOUT)
    layers(page).get_by_role("button", name="Remove layer 1").click()
    page.wait_for_url(has("k=2x2,2x8,2x4,2x4"), timeout=TIMEOUT)
    visitor.settle(TIMEOUT)
    drawn = lattice(page).get_attribute("data-version") or ""
    other = new_visitor()
    other.page.goto(page.url)
    expect(lattice(other.page)).to_have_attribute("data-version", drawn, timeout=TIMEOUT)


def test_a_number_out_of_bounds_is_kept_told_and_mended(visitor: Visitor) -> None:
    page = opened(visitor)
    field = layers(page).get_by_label("Dilation of layer 2")
    field.fill("5000")
    field.press("Enter")
    expect(page.get_by_text("Layer 2: the dilation must be from 1 to 1,024, not 5,000.")).to_be_visible(
        timeout=TIMEOUT
    )
    expect(field).to_have_value("5000")
    expect(lattice(page)).to_have_attribute("data-span", "16")
    field.fill("3")
    field.press("Enter")
    expect(lattice(page)).to_have_attribute("data-span", "17", timeout=TIMEOUT)
    visitor.no_console_errors()


def test_the_keyboard_walks_chooses_and_plays(visitor: Visitor) -> None:
    page = opened(visitor)
    picture = lattice(page)
    picture.locator(".scroller").focus()
    page.keyboard.press("ArrowLeft")
    expect(picture).to_have_attribute("data-point", "4,30")
    expect(picture.locator("[aria-live]")).to_contain_text("layer 4, row 30, reads 16 input positions, 15–30")
    page.keyboard.press("Enter")
    expect(picture).to_have_attribute("data-output", "30")
    page.wait_for_url(has("o=30"), timeout=TIMEOUT)
    picture.locator(".scroller").focus()
    page.keyboard.press("PageDown")
    expect(picture).to_have_attribute("data-depth", "3")
    expect(picture).to_have_attribute("data-reached", "8")
    page.keyboard.press("Home")
    expect(picture).to_have_attribute("data-point", "4,0")
    picture.get_by_role("button", name="One layer less").click()
    expect(picture).to_have_attribute("data-reached", "4")
    picture.get_by_role("button", name="Grow the field").click()
    expect(picture.get_by_role("button", name="Pause")).to_be_visible()
    expect(picture).to_have_attribute("data-depth", "4", timeout=10_000)
    expect(picture.get_by_role("button", name="Grow the field")).to_be_visible()


def test_a_thousand_positions_share_places_and_can_be_zoomed(visitor: Visitor) -> None:
    page = opened(visitor, v="1", k=",".join(f"2x{2**n}" for n in range(10)), n="1024")
    picture = lattice(page)
    expect(picture.locator(".picture-note")).to_contain_text("1024 input positions in a span of 1024")
    expect(picture.locator(".picture-note")).to_contain_text("One place stands for 16 positions.")
    assert float(picture.get_attribute("data-draw-ms") or "inf") < 250
    picture.get_by_role("button", name="Zoom in").click()
    expect(picture.locator(".picture-note")).to_contain_text("One place stands for 8 positions.")
