"""The home page in a real Chromium: new sentences, shared links, the pinned copy, and cards that stay in place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from app.ui.server import trained_systems
from tests.app.toys import SLUGS, flip_a_byte, make_assets
from tests.browser.harness import DESKTOP, PHONE, ROOT, Server, Visitor, serve, visit

PLAIN, NEGATED = "The report was convincing.", "The report was not convincing."
NEW = "The proposal was accepted."
SHIFT = """() => { window.shifted = 0; new PerformanceObserver(list => {
  for (const one of list.getEntries()) window.shifted += one.value;
}).observe({type: 'layout-shift', buffered: false}); }"""
Open = Callable[..., Visitor]


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four small systems; the file of one of them has a byte changed."""
    folder = make_assets(tmp_path_factory.mktemp("home") / "assets", SLUGS)
    flip_a_byte(folder / "checkpoints/luong_local_m/weights.safetensors")
    return folder


@pytest.fixture(scope="module")
def server(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("home_server") / "streamlit.log"
    with serve(log, environment={"SEQUENCE_EXPLORER_ASSETS": str(assets)}) as running:
        yield running


@pytest.fixture
def opened(browser: Browser, server: Server) -> Iterator[Open]:
    """Open the page with small systems: `opened(m="rnn_search", width=390)`."""
    with ExitStack() as stack:

        def open_page(*, width: int = DESKTOP, **params: Any) -> Visitor:
            visitor = stack.enter_context(visit(browser, server.url, width=width))
            visitor.goto("home", **({"v": 1, "m": "rnn_encoder_decoder,rnn_search,transformer"} | params))
            return visitor

        yield open_page


def card(visitor: Visitor, slug: str) -> Locator:
    return visitor.page.locator(f".st-key-home-card-{slug}")


def tokens(visitor: Visitor, slug: str) -> list[str]:
    """The output as the strip of the card shows it."""
    return card(visitor, slug).locator("[data-component=token_strip] .word").all_text_contents()


def picture(visitor: Visitor, slug: str) -> Locator:
    return card(visitor, slug).locator("[data-component=heatmap]")


def rows(visitor: Visitor, slug: str) -> list[str]:
    """The rows of the alignment picture, read from its own table."""
    button = picture(visitor, slug).get_by_role("button", name="Show the numbers as a table")
    button.click()
    found = picture(visitor, slug).locator("tbody th").all_text_contents()
    button.click()
    return found


def columns(visitor: Visitor, slug: str) -> list[str]:
    """The source words of the alignment picture, read from its own table."""
    picture(visitor, slug).get_by_role("button", name="Show the numbers as a table").click()
    return picture(visitor, slug).locator("thead th").all_text_contents()


def told(slug: str, sentence: str, assets: Path | None = None) -> dict[str, Any]:
    """What the command line says: `python -m models translate`."""
    environment = {"SEQUENCE_EXPLORER_ASSETS": str(assets)} if assets else {}
    command = [sys.executable, "-m", "models", "translate", slug, sentence, "--json"]
    run = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


def test_a_typed_sentence_gives_the_tokens_that_the_command_line_gives(opened: Open, assets: Path) -> None:
    visitor = opened(w="pieces")
    visitor.commit(NEW)
    for slug in ("rnn_encoder_decoder", "rnn_search", "transformer"):
        expected = told(slug, NEW, assets)
        assert tokens(visitor, slug) == expected["target_tokens"]
        expect(card(visitor, slug).locator(".se-output")).to_have_text(expected["text"])
        assert (picture(visitor, slug).count() == 0) == (expected["alignment"] is None)
        if expected["alignment"] is not None:
            assert rows(visitor, slug) == expected["target_tokens"]
    visitor.no_console_errors()


def test_a_shipped_system_says_on_the_page_what_it_says_on_the_command_line(visitor: Visitor) -> None:
    shipped = next(slug for slug in ("rnn_search", "transformer", "luong") if slug in trained_systems())
    visitor.goto("home", v=1, m=shipped, w="pieces")
    visitor.commit("My sister bought a red car yesterday.")
    expected = told(shipped, "My sister bought a red car yesterday.")
    assert tokens(visitor, shipped) == rows(visitor, shipped) == expected["target_tokens"]
    expect(card(visitor, shipped).locator(".se-output")).to_have_text(expected["text"])
    expect(card(visitor, shipped).locator(".se-checks .bad")).to_have_count(0)


def test_a_shared_link_opens_the_same_picture_elsewhere(
    opened: Open, browser: Browser, server: Server
) -> None:
    first = opened(m="transformer,rnn_search", l=1, h=2, w="pieces")
    first.commit(NEW)
    first.page.get_by_role("button", name="Share link").click()
    link = first.page.locator("[data-testid=stPopoverBody] code").inner_text()
    with visit(browser, server.url) as second:
        second.page.goto(link)
        second.page.wait_for_selector(".se-heading h1")
        second.settle()
        for slug in ("rnn_search", "transformer"):
            assert tokens(second, slug) == tokens(first, slug)
            version = picture(first, slug).get_attribute("data-version")
            expect(picture(second, slug)).to_have_attribute("data-version", version or "none")
        expect(picture(second, "transformer").locator(".heading")).to_have_text(
            "Cross attention, layer 1 of 2, head 2 of 3"
        )


def test_a_pinned_sentence_marks_what_changes_and_travels(opened: Open) -> None:
    visitor = opened(m="rnn_search", s=PLAIN)
    visitor.page.get_by_role("button", name="Pin this sentence").click()
    expect(visitor.page.get_by_text("Edit the sentence above")).to_be_visible()
    visitor.settle()
    visitor.commit(NEGATED)
    output = card(visitor, "rnn_search").locator(".se-output")
    assert "pas" in output.locator("ins").all_text_contents()
    assert "rapport" not in "".join(output.locator("ins").all_text_contents())
    assert visitor.page.locator(".se-pinned ins").all_text_contents() == ["not"]
    expect(picture(visitor, "rnn_search").locator(".legend .changed")).to_be_visible()
    changed = card(visitor, "rnn_search").locator(".chip.changed .word").all_text_contents()
    assert "pas" in changed and "rapport" not in changed
    other = opened(m="rnn_search", s=NEGATED, p=PLAIN)
    version = picture(visitor, "rnn_search").get_attribute("data-version")
    expect(picture(other, "rnn_search")).to_have_attribute("data-version", version or "none")
    visitor.page.get_by_role("button", name="Unpin").click()
    expect(visitor.page.locator("ins")).to_have_count(0)
    expect(picture(visitor, "rnn_search").locator(".legend .changed")).to_have_count(0)
    visitor.no_console_errors()


def test_a_damaged_checkpoint_says_its_sentence_beside_working_systems(opened: Open) -> None:
    visitor = opened(m="luong_local_m,rnn_search")
    expect(card(visitor, "luong_local_m")).to_contain_text("The checkpoint of Luong local-m is damaged")
    expect(card(visitor, "rnn_search").locator(".se-output")).to_contain_text("convaincant")
    visitor.no_clipped_labels()
    visitor.no_console_errors()


@pytest.mark.parametrize(("width", "abreast"), [(DESKTOP, 2), (PHONE, 1)])
def test_cards_stand_two_abreast_or_one(width: int, abreast: int, opened: Open) -> None:
    visitor = opened(width=width)
    boxes = [card(visitor, slug).bounding_box() for slug in ("rnn_encoder_decoder", "rnn_search")]
    (a, b) = (box for box in boxes if box is not None)
    assert (abs(a["y"] - b["y"]) < 2) == (abreast == 2)
    if abreast == 2:
        assert abs(a["height"] - b["height"]) < 2
    assert a["x"] >= 0 and b["x"] + b["width"] <= width
    visitor.no_clipped_labels()


def test_an_edit_leaves_the_cards_where_they_are(opened: Open) -> None:
    visitor = opened(s=PLAIN, m="rnn_encoder_decoder,rnn_search")
    visitor.commit(NEGATED)
    visitor.commit(PLAIN)
    visitor.page.wait_for_timeout(600)
    visitor.page.evaluate(SHIFT)
    visitor.commit("The report was convincing")
    assert visitor.page.evaluate("window.shifted") < 0.05


def test_the_export_holds_numbers_and_lines(opened: Open) -> None:
    visitor = opened(m="rnn_search")
    visitor.page.get_by_role("button", name="Export").click()
    body = visitor.page.locator("[data-testid=stPopoverBody]")
    expect(body).to_contain_text('models.load(slug).translate(sentence, beam=1) for slug in ["rnn_search"]')
    with visitor.page.expect_download() as got:
        body.get_by_role("button", name="All numbers (JSON)").click()
    numbers = json.loads(Path(got.value.path()).read_text())
    assert numbers["sentence"] == NEGATED
    assert [word for word, _, _ in numbers["systems"]["rnn_search"]["target"]["words"]] == tokens(
        visitor, "rnn_search"
    )


def test_markup_in_a_sentence_stays_text(opened: Open) -> None:
    visitor = opened(m="rnn_search")
    visitor.commit("<b>bold</b> <script>document.title='taken'</script>")
    assert visitor.page.title() != "taken"
    assert card(visitor, "rnn_search").locator(".se-output b, .se-output script").count() == 0
    assert {"bold", "script"} <= set(columns(visitor, "rnn_search"))
    visitor.no_console_errors()
