"""The components in a real Chromium, on the gallery page: drawn, linked, reachable by keyboard, exported."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from app.ui import colours
from tests.browser.harness import Server, Theme, Visitor, serve, visit

PICTURES = 17
SVG = "{http://www.w3.org/2000/svg}"
Open = Callable[..., Visitor]

# Colours in a canvas, and whether anything was painted on its outermost pixels (a clipped label would be).
PIXELS = """canvas => {
  const {width: w, height: h} = canvas;
  const {data} = canvas.getContext('2d').getImageData(0, 0, w, h);
  const colours = new Set();
  let edge = 0;
  for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) {
    const i = 4 * (y * w + x);
    if (data[i + 3] > 40) {
      colours.add((data[i] >> 4) * 256 + (data[i + 1] >> 4) * 16 + (data[i + 2] >> 4));
      if (y === 0 || x === 0 || x === w - 1) edge++;
    }
  }
  const scrolls = canvas.parentElement.offsetWidth > canvas.offsetWidth + 1;
  return {colours: colours.size, edge, scrolls, title: canvas.closest('.sx').querySelector('.heading').textContent};
}"""


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("gallery") / "streamlit.log"
    with serve(log, script="tests/browser/gallery_app.py") as server:
        yield server


@pytest.fixture
def opened(browser: Browser, gallery: Server) -> Iterator[Visitor]:
    """The gallery at 1440 px, light."""
    with visit(browser, gallery.url) as visitor:
        yield ready(visitor)


@pytest.fixture(scope="module")
def shared(browser: Browser, gallery: Server) -> Iterator[Visitor]:
    """One page for the tests that only read or export."""
    with visit(browser, gallery.url) as visitor:
        yield ready(visitor)


def ready(visitor: Visitor) -> Visitor:
    visitor.page.goto(visitor.url)
    drawn = visitor.page.locator("[data-component][data-ready=true]")
    expect(drawn).to_have_count(PICTURES, timeout=120_000)
    visitor.page.evaluate("() => document.fonts.ready")
    visitor.page.wait_for_timeout(400)
    return visitor


def picture(page: Page, title: str) -> Locator:
    heading = page.locator(".heading", has_text=re.compile(f"^{re.escape(title)}$"))
    return page.locator("[data-component]").filter(has=heading)


def over(page: Page, title: str, x: float, y: float) -> None:
    """Move the pointer to a place inside the canvas of a picture."""
    canvas = picture(page, title).locator("canvas")
    canvas.scroll_into_view_if_needed()
    canvas.hover(position={"x": x, "y": y})


# Tries places in a canvas until the picture says that it points at the wanted cell.
FIND = """(canvas, wanted) => {
  const box = canvas.getBoundingClientRect(), root = canvas.closest('.sx');
  const event = (x, y) => new PointerEvent('pointermove', {clientX: box.left + x, clientY: box.top + y});
  for (let y = 12; y < box.height; y += 9) for (let x = 60; x < box.width; x += 9) {
    canvas.dispatchEvent(event(x, y));
    if (root.dataset.point !== wanted) continue;
    canvas.dispatchEvent(new PointerEvent('pointerleave'));
    return [x + 6, y + 6];
  }
  return null;
}"""


def cell(page: Page, title: str, row: int, column: int) -> tuple[float, float]:
    """A place inside the cell, in its canvas."""
    found = picture(page, title).locator("canvas").evaluate(FIND, f"{row},{column}")
    assert found is not None, f"no cell {row},{column} in {title}"
    return found[0], found[1]


def download(page: Page, title: str, kind: str) -> Path:
    with page.expect_download() as waiting:
        picture(page, title).get_by_role("button", name=f"Download as {kind}").click()
    return Path(waiting.value.path())


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_every_picture_is_drawn_whole(browser: Browser, gallery: Server, width: int, theme: Theme) -> None:
    with visit(browser, gallery.url, width=width, theme=theme) as visitor:
        page = ready(visitor).page
        found = [canvas.evaluate(PIXELS) for canvas in page.locator("[data-component] canvas").all()]
        assert len(found) == 15
        for one in found:
            assert one["colours"] > 3, one
            assert one["scrolls"] or one["edge"] == 0, one
        visitor.no_clipped_labels()
        visitor.no_console_errors()


def test_dark_and_light_differ(browser: Browser, gallery: Server) -> None:
    inks = {}
    for theme in ("light", "dark"):
        with visit(browser, gallery.url, theme=theme) as visitor:
            page = ready(visitor).page
            svg = download(page, "One by one", "SVG").read_text(encoding="utf-8")
            inks[theme] = set(re.findall(r'fill="(#[0-9a-f]{6})"', svg))
    assert "#ffffff" in inks["light"] and "#0e1217" in inks["dark"]
    assert inks["light"] & inks["dark"] <= {"#ffffff"}


def test_pointing_at_a_cell_points_everywhere(shared: Visitor) -> None:
    page = shared.page
    x, y = cell(page, "RNNsearch", 3, 2)
    over(page, "RNNsearch", x, y)
    for title in ("RNNsearch", "Luong general", "Ribbon"):
        expect(picture(page, title)).to_have_attribute("data-point", "3,2")
    expect(picture(page, "Output")).to_have_attribute("data-point", "3")
    tip = picture(page, "RNNsearch").locator(".tip")
    expect(tip).to_contain_text("était")
    expect(tip).to_contain_text(re.compile(r"weight 0\.\d{4}"))
    expect(tip).to_contain_text(re.compile(r"score −?\d"))
    page.mouse.move(2, 2)
    for title in ("RNNsearch", "Luong general", "Ribbon", "Output"):
        expect(picture(page, title)).to_have_attribute("data-point", "")
    expect(tip).to_be_hidden()


def test_pointing_at_a_ribbon_token_shows_its_arcs_only(shared: Visitor) -> None:
    page = shared.page
    canvas = picture(page, "Ribbon").locator("canvas")
    canvas.scroll_into_view_if_needed()
    before = canvas.evaluate(PIXELS)["colours"]
    box = canvas.bounding_box()
    assert box is not None
    canvas.hover(position={"x": box["width"] / 2, "y": box["height"] - 10})
    expect(picture(page, "Ribbon")).to_have_attribute("data-point", re.compile(r"^\d,-1$"))
    expect(picture(page, "RNNsearch")).to_have_attribute("data-point", re.compile(r"^\d,-1$"))
    page.wait_for_timeout(100)
    assert canvas.evaluate(PIXELS)["colours"] != before


def test_a_heatmap_is_one_tab_stop_with_arrow_keys(shared: Visitor) -> None:
    page = shared.page
    main = picture(page, "RNNsearch")
    grid = main.get_by_role("grid")
    assert grid.get_attribute("aria-rowcount") == "8"
    main.get_by_role("button", name="Download as PNG").focus()
    page.keyboard.press("Tab")
    live = main.locator("[aria-live]")
    expect(live).to_contain_text("Le, The: weight")
    for press in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(press)
    expect(live).to_contain_text("n', report: weight")
    expect(main).to_have_attribute("data-point", "2,1")
    page.keyboard.press("End")
    expect(live).to_contain_text("n', EOS: weight")
    page.keyboard.press("Tab")
    assert not grid.evaluate("e => e.matches(':focus')")


def test_a_selection_reaches_python_and_survives_reruns(opened: Visitor) -> None:
    page = opened.page
    main = picture(page, "RNNsearch")
    main.get_by_role("grid").focus()
    for press in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(press)
    expect(page.get_by_text("selected: Selection(row=1, column=1)")).to_be_visible()
    version = main.get_attribute("data-version")
    page.get_by_label("Seed").fill("2")
    page.get_by_label("Seed").press("Enter")
    expect(main).not_to_have_attribute("data-version", version or "")
    expect(main).to_have_attribute("data-selected", "1,1")
    expect(page.get_by_text("selected: Selection(row=1, column=1)")).to_be_visible()
    main.get_by_role("grid").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("selected: None")).to_be_visible()


def test_quick_hands_are_never_undone(opened: Visitor) -> None:
    page = opened.page
    grid = picture(page, "RNNsearch").get_by_role("grid")
    grid.focus()
    for _ in range(5):
        for press in ("ArrowDown", "Enter"):
            page.keyboard.press(press)
    shown = []
    for _ in range(30):
        shown.append(picture(page, "RNNsearch").get_attribute("data-selected"))
        page.wait_for_timeout(30)
    assert set(shown) == {"5,0"}
    expect(page.get_by_text("selected: Selection(row=5, column=0)")).to_be_visible()


def test_clicking_a_row_selects_it(shared: Visitor) -> None:
    page = shared.page
    x, y = cell(page, "Luong general", 1, 3)
    over(page, "Luong general", x, y)
    expect(picture(page, "Luong general")).to_have_attribute("data-selected", "4,-1")
    picture(page, "Luong general").locator("canvas").click(position={"x": x, "y": y})
    expect(picture(page, "Luong general")).to_have_attribute("data-selected", "1,-1")


def test_the_table_shows_the_same_numbers(shared: Visitor) -> None:
    page = shared.page
    main = picture(page, "RNNsearch")
    button = main.get_by_role("button", name="Show the numbers as a table")
    button.click()
    table = main.get_by_role("table")
    assert table.locator("thead th").all_text_contents() == [
        "",
        "The",
        "report",
        "was",
        "not",
        "convincing",
        ".",
        "EOS",
    ]
    sums = [sum(map(float, row.locator("td").all_text_contents())) for row in table.locator("tbody tr").all()]
    assert len(sums) == 8
    assert all(abs(total - 1) < 5e-4 for total in sums)
    expect(main.locator("canvas")).to_be_hidden()
    button.click()
    expect(main.locator("canvas")).to_be_visible()


def test_an_open_table_follows_the_data(opened: Visitor) -> None:
    page = opened.page
    main = picture(page, "RNNsearch")
    main.get_by_role("button", name="Show the numbers as a table").click()
    before = main.get_by_role("table").text_content()
    version = main.get_attribute("data-version") or ""
    page.get_by_label("Seed").fill("3")
    page.get_by_label("Seed").press("Enter")
    expect(main).not_to_have_attribute("data-version", version)
    assert main.get_by_role("table").text_content() != before


def test_pictures_grow_with_the_letters_of_a_presentation(opened: Visitor) -> None:
    page = opened.page
    canvas = picture(page, "RNNsearch").locator("canvas")
    before = canvas.bounding_box()
    page.evaluate("() => document.documentElement.style.setProperty('font-size', '24px', 'important')")
    page.set_viewport_size({"width": 1600, "height": 1000})
    page.wait_for_timeout(500)
    after = canvas.bounding_box()
    assert before and after
    assert after["height"] > 1.2 * before["height"]
    x, y = cell(page, "RNNsearch", 3, 2)
    over(page, "RNNsearch", x, y)
    expect(picture(page, "RNNsearch")).to_have_attribute("data-point", "3,2")


def test_words_that_look_like_markup_stay_words(shared: Visitor) -> None:
    page = shared.page
    odd = picture(page, "Odd words")
    odd.get_by_role("button", name="Show the numbers as a table").click()
    heads = odd.locator("thead th").all_text_contents()
    assert "<script>alert(1)</script>" in heads and "&amp;" in heads
    assert "␣" in heads and "␇\ufffd" in heads
    assert page.evaluate("() => document.querySelectorAll('[data-testid=stMain] script').length") == 0
    assert odd.locator("script, b").count() == 0
    odd.get_by_role("button", name="Show the numbers as a table").click()
    assert picture(page, "Odd strip").locator("script, b").count() == 0


@pytest.mark.parametrize(
    ("title", "labels"),
    [
        ("RNNsearch", ["The", "convincing", "était", "convaincant"]),
        ("Odd words", ["<b>bold</b>", "مرحبا", "日本語の文章", "&amp;"]),
        ("Ribbon", ["report", "rapport"]),
        ("Output", ["convaincant", "EOS"]),
        ("Bahdanau step", ["convincing", "softmax"]),
        ("64 by 64", ["The0", "convincing11"]),
    ],
)
def test_the_svg_is_xml_with_the_labels(shared: Visitor, title: str, labels: list[str]) -> None:
    root = ET.fromstring(download(shared.page, title, "SVG").read_text(encoding="utf-8"))
    assert root.tag == f"{SVG}svg"
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert set(labels) <= set(texts)
    assert len(list(root.iter(f"{SVG}rect"))) > 1
    assert not list(root.iter(f"{SVG}image"))


@pytest.mark.parametrize("width", [1440, 390])
def test_labels_never_overlap(browser: Browser, gallery: Server, width: int) -> None:
    with visit(browser, gallery.url, width=width) as visitor:
        page = ready(visitor).page
        for title in ("RNNsearch", "Odd words", "Causal self-attention", "64 by 64", "Painted", "Odd grid"):
            apart(ET.fromstring(download(page, title, "SVG").read_text(encoding="utf-8")))


def apart(root: ET.Element) -> None:
    """No two row or column labels of an exported heatmap touch, and none leaves the picture."""
    labels = [label(element) for element in root.iter(f"{SVG}text")]
    for side in ("column", "row"):
        own = [one for one in labels if one[0] == side]
        assert len(own) >= 7
        assert not [pair for pair in combinations(own, 2) if collide(*pair)]
    assert all(
        x + length * math.cos(angle) <= float(root.attrib["width"]) for _, x, _, length, _, angle in labels
    )


Label = tuple[str, float, float, float, float, float]


def label(element: ET.Element) -> Label:
    """(side, x, y, length, size, angle) of a text; lengths from the pitch of the monospaced letters."""
    size, anchor = float(element.attrib["font-size"]), element.attrib["text-anchor"]
    length = 0.6 * size * len(element.text or "")
    turn = re.search(r"rotate\((-?[\d.]+)", element.attrib.get("transform", ""))
    x = float(element.attrib["x"])
    mono = "Code" in element.attrib["font-family"]
    side = "value" if not mono else "row" if anchor == "end" else "column"
    left = x - length if anchor == "end" else x - length / 2 if anchor == "middle" else x
    return side, left, float(element.attrib["y"]), length, size, math.radians(float(turn[1])) if turn else 0.0


def collide(a: Label, b: Label) -> bool:
    """Two texts at one angle: apart across their lines, or apart along them."""
    _, ax, ay, alength, size, angle = a
    _, bx, by, blength, _, _ = b
    along = (bx - ax) * math.cos(angle) + (by - ay) * math.sin(angle)
    across = abs((by - ay) * math.cos(angle) - (bx - ax) * math.sin(angle))
    return across < 0.85 * size and (along < alength if along >= 0 else -along < blength)


def test_the_png_is_a_picture(shared: Visitor) -> None:
    head = download(shared.page, "RNNsearch", "PNG").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(head[16:20]) > 1000  # three pixels a CSS pixel


def test_copy_gives_tab_separated_numbers(shared: Visitor) -> None:
    page = shared.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    picture(page, "RNNsearch").get_by_role("button", name="Copy the numbers").click()
    expect(picture(page, "RNNsearch").locator("[aria-live]")).to_have_text("Numbers copied.")
    lines = page.evaluate("() => navigator.clipboard.readText()").split("\n")
    assert lines[0].split("\t")[1:3] == ["The", "report"]
    assert abs(sum(map(float, lines[1].split("\t")[1:])) - 1) < 1e-4


def test_pieces_open_and_close(shared: Visitor) -> None:
    strip = picture(shared.page, "Output")
    expect(strip.get_by_role("option")).to_have_count(8)
    assert strip.locator(".part").count() == 8
    strip.get_by_role("button", name="Pieces").click()
    assert strip.locator(".part").count() == 10
    assert strip.locator(".joint").count() == 2
    strip.get_by_role("option").first.focus()
    shared.page.keyboard.press("ArrowRight")
    expect(strip.get_by_role("option").nth(1)).to_be_focused()
    expect(strip.locator(".tip")).to_contain_text(re.compile(r"p = 0\.\d{3}"))


# Every place that the player comes to, however slowly the test looks.
WATCH = """root => {
  window.seen = [`${root.dataset.step}:${root.dataset.stage}`];
  const note = () => window.seen.push(`${root.dataset.step}:${root.dataset.stage}`);
  new MutationObserver(note).observe(root, {attributes: true, attributeFilter: ['data-at']});
}"""


def test_the_player_plays_in_order_without_reruns(shared: Visitor) -> None:
    page = shared.page
    player = picture(page, "Bahdanau step")
    runs = page.get_by_text(re.compile(r"^runs: \d+$")).text_content()
    player.get_by_role("img").focus()
    page.keyboard.press("Home")
    player.evaluate(WATCH)
    player.get_by_label("Speed").select_option("4×")
    player.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function("() => window.seen.length > 7")
    player.get_by_role("button", name="Pause").click()
    seen = page.evaluate("() => window.seen")
    order = ["scores", "weights", "context", "state", "token"]
    full = [f"{step}:{stage}" for step in range(8) for stage in order]
    assert seen == full[: len(seen)]
    page.wait_for_timeout(600)
    assert page.evaluate("() => window.seen.length") == len(seen)
    assert page.get_by_text(re.compile(r"^runs: \d+$")).text_content() == runs


def test_the_player_obeys_keys_and_points_at_its_row(shared: Visitor) -> None:
    page = shared.page
    player = picture(page, "Bahdanau step")
    player.get_by_role("img").focus()
    page.keyboard.press("Home")
    for press in ("ArrowRight", "ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(press)
    expect(player).to_have_attribute("data-step", "1")
    expect(player).to_have_attribute("data-stage", "scores")
    expect(picture(page, "RNNsearch")).to_have_attribute("data-point", "1,-1")
    page.keyboard.press("End")
    expect(player).to_have_attribute("data-at", "39")
    expect(player.locator("[aria-live]")).to_contain_text("EOS, probability")
    scrub = player.get_by_role("slider")
    scrub.fill("12")
    expect(player).to_have_attribute("data-step", "2")
    page.keyboard.press("Home")
    expect(player).to_have_attribute("data-at", "0")


def test_a_large_heatmap_redraws_quickly(shared: Visitor) -> None:
    """Under 5 ms for 64 x 64. The best of many, since trainings may share the two cores."""
    page = shared.page
    big = picture(page, "64 by 64")
    big.scroll_into_view_if_needed()
    times = []
    for step in range(21):
        over(page, "64 by 64", 200 + 20 * step, 150 + 10 * step)
        page.wait_for_timeout(40)
        times.append(float(big.get_attribute("data-draw-ms") or "nan"))
    assert min(times) < 5


def test_a_wide_picture_scrolls_inside_itself_on_a_phone(browser: Browser, gallery: Server) -> None:
    with visit(browser, gallery.url, width=390) as visitor:
        page = ready(visitor).page
        grid = picture(page, "64 by 64").get_by_role("grid")
        assert grid.evaluate("e => e.scrollWidth > e.clientWidth + 100")
        grid.focus()
        page.keyboard.press("End")
        assert grid.evaluate("e => e.scrollLeft") > 100
        visitor.no_clipped_labels()


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
def test_charts_fit_and_follow_the_theme(browser: Browser, gallery: Server, width: int, theme: Theme) -> None:
    with visit(browser, gallery.url, width=width, theme=theme) as visitor:
        page = visitor.page
        page.goto(f"{gallery.url}/?show=charts")
        expect(page.locator(".js-plotly-plot .main-svg")).to_have_count(21, timeout=120_000)
        page.wait_for_timeout(500)
        inks = page.evaluate(
            "() => [...document.querySelectorAll('.js-line')].map(line => line.style.stroke)"
        )
        assert colour(colours.series(theme)[0]) in inks
        visitor.no_clipped_labels()
        visitor.no_console_errors()


def colour(code: str) -> str:
    """A hex colour as the browser writes it."""
    return f"rgb({int(code[1:3], 16)}, {int(code[3:5], 16)}, {int(code[5:7], 16)})"
