"""Every page in a real browser: two widths, two themes, links that hold, break and travel, bad sentences."""

from __future__ import annotations

from urllib.parse import unquote_plus

import pytest
from playwright.sync_api import Dialog, expect

from app import catalog
from tests.browser.conftest import NewVisitor
from tests.browser.harness import DESKTOP, PHONE, Theme, Visitor

each_lab = pytest.mark.parametrize("lab", catalog.LABS, ids=lambda lab: lab.slug)
PAGE_COLOUR = {"light": "rgb(255, 255, 255)", "dark": "rgb(14, 18, 23)"}
SENTENCE = "The committee rejected the proposal."


@each_lab
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_is_whole_and_quiet(
    lab: catalog.Lab, width: int, theme: Theme, new_visitor: NewVisitor
) -> None:
    visitor = new_visitor(width=width, theme=theme)
    page = visitor.goto(lab.slug)
    expect(page.locator(".se-heading h1")).to_contain_text(lab.title)
    expect(page.locator(".se-says")).to_be_visible()
    assert page.locator(".stApp").evaluate("el => getComputedStyle(el).backgroundColor") == PAGE_COLOUR[theme]
    visitor.screenshot(f"{lab.slug}-{width}-{theme}")
    visitor.no_clipped_labels()
    visitor.no_console_errors()


@each_lab
def test_a_typed_sentence_travels_in_the_share_link(lab: catalog.Lab, new_visitor: NewVisitor) -> None:
    first = new_visitor()
    first.goto(lab.slug)
    first.commit(SENTENCE)
    first.page.get_by_role("button", name="Share link").click()
    link = first.page.locator("[data-testid=stPopoverBody] code").inner_text()
    assert link.startswith(first.url)
    assert unquote_plus(first.page.url) == unquote_plus(link)
    second = new_visitor()
    second.page.goto(link)
    second.page.wait_for_selector(".se-heading h1")
    second.settle()
    expect(second.page.get_by_label("Sentence", exact=True)).to_have_value(SENTENCE)
    expect(second.page.locator(".se-heading h1")).to_contain_text(lab.title)
    second.no_console_errors()


@each_lab
def test_a_broken_link_says_one_sentence_and_mends_the_address(lab: catalog.Lab, visitor: Visitor) -> None:
    page = visitor.goto(lab.slug, v=1, s="x" * 300, nonsense="<script>")
    expect(page.get_by_text("Part of this link was ignored")).to_have_count(1)
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("The report was not convincing.")
    assert "nonsense" not in page.url
    visitor.no_console_errors()


def test_a_link_of_another_version_opens_the_default(visitor: Visitor) -> None:
    page = visitor.goto("alignment", v=99, s="Hello.")
    expect(page.get_by_text("it was made by another version of this page")).to_be_visible()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("The report was not convincing.")


def test_an_unknown_page_opens_the_first_lab(visitor: Visitor) -> None:
    visitor.page.goto(f"{visitor.url}/no_such_lab?v=1")
    expect(visitor.page.locator(".se-heading h1")).to_contain_text(catalog.LABS[0].title)
    expect(visitor.page.locator("[data-testid=stException]")).to_have_count(0)


def test_the_sentence_goes_along_from_page_to_page_and_back(visitor: Visitor) -> None:
    page = visitor.goto("alignment")
    visitor.commit(SENTENCE)
    for lab in (catalog.lab("fixed_context"), catalog.lab("home"), catalog.lab("alignment")):
        page.locator("[data-testid=stSidebar]").get_by_role("link", name=lab.title).click()
        expect(page.locator(".se-heading h1")).to_contain_text(lab.title)
        visitor.settle()
        expect(page.get_by_label("Sentence", exact=True)).to_have_value(SENTENCE)
        assert f"s={SENTENCE}" in unquote_plus(page.url)
    visitor.no_console_errors()


def test_the_browsers_back_button_restores_the_sentence_before(visitor: Visitor) -> None:
    page = visitor.goto("alignment")
    visitor.commit("Thank you.")
    visitor.commit(SENTENCE)
    page.go_back()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("Thank you.")


def test_a_phone_reaches_every_page_through_the_sidebar(new_visitor: NewVisitor) -> None:
    visitor = new_visitor(width=PHONE)
    page = visitor.goto("home")
    page.get_by_test_id("stExpandSidebarButton").click()
    page.locator("[data-testid=stSidebar]").get_by_role("link", name="Alignment").click()
    expect(page.locator(".se-heading h1")).to_contain_text("Alignment")
    expect(page.locator("[data-testid=stSidebar]")).to_have_attribute("data-collapsed", "true")


def test_presenter_mode_has_large_type_no_sidebar_and_folded_controls(visitor: Visitor) -> None:
    page = visitor.goto("alignment", present=1)
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "21px"
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page.get_by_label("Sentence", exact=True)).to_be_hidden()
    page.get_by_text("Controls", exact=True).click()
    expect(page.get_by_label("Sentence", exact=True)).to_be_visible()
    visitor.screenshot("alignment-presenting")
    page.get_by_role("button", name="Leave presenting").click()
    expect(page.locator("[data-testid=stSidebar]")).to_be_visible()
    assert "present" not in page.url
    visitor.no_console_errors()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Type an English sentence and press Enter."),
        ("   ", "Type an English sentence and press Enter."),
        ("word " * 2000, "the limit is 200 characters"),
    ],
    ids=["empty", "spaces", "long"],
)
def test_a_sentence_that_cannot_run_is_kept_and_explained(typed: str, said: str, visitor: Visitor) -> None:
    page = visitor.goto("alignment")
    visitor.commit(typed)
    expect(page.locator(".se-limit b")).to_contain_text(said)
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(typed)
    visitor.no_console_errors()


@pytest.mark.parametrize(
    "typed",
    [
        "I like 🍎.",
        "هذا تقرير جيد",
        "这份报告没有说服力。",
        "<img src=x onerror=alert(1)><script>alert(2)</script>",
        "a\u202eb\x07c",
    ],
    ids=["emoji", "right-to-left", "cjk", "html", "control"],
)
def test_strange_text_is_text(typed: str, visitor: Visitor) -> None:
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    visitor.page.on("dialog", note)
    page = visitor.goto("alignment")
    visitor.commit(typed)
    assert dialogs == []
    expect(page.locator(".stMain img[src=x]")).to_have_count(0)
    expect(page.locator(".se-heading h1")).to_be_visible()
    visitor.no_console_errors()


def test_the_colour_language_reaches_the_page_in_both_themes(new_visitor: NewVisitor) -> None:
    seen = []
    for theme in ("light", "dark"):
        page = new_visitor(theme=theme).goto("home")
        seen.append(
            page.locator(".stMain").evaluate("el => getComputedStyle(el).getPropertyValue('--se-source')")
        )
    assert seen == ["rgb(35, 96, 197)", "rgb(130, 180, 255)"]


def test_every_control_of_the_frame_is_reached_by_the_keyboard(visitor: Visitor) -> None:
    page = visitor.goto("alignment")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("(document.activeElement.ariaLabel || document.activeElement.textContent).trim()")
        )
    assert {"Sentence", "Present", *(lab.title for lab in catalog.LABS)} <= reached
    assert any(name.startswith("Share link") for name in reached)
