"""Change one source word, with neighbours from the system's own embedding table, and see what else changes."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.components import Selection
from app.experiments.alignment import change
from app.experiments.alignment.reading import Reading
from app.experiments.difference import segments
from app.labs.alignment_parts import pick, work
from app.labs.alignment_parts.changed import changed
from app.labs.alignment_parts.settings import Settings
from app.ui import cards, decision
from app.ui.page import Page
from app.ui.sentence import check_sentence

NEAR = "alignment-near"
NO_ROW = (
    "is spelt by several pieces or is a sign, so it has no row of its own in the table. Type a word below."
)


def panel(page: Page[Settings], reading: Reading, at: Selection) -> None:
    left, right = st.columns([1, 1.15], gap="medium")
    with left:
        pick.source(page, reading, at, "Source word to change", end=False)
        word = word_of(reading, at, page.settings)
        if word is None:
            st.html(decision.note("Choose a source word above, or click a column of the picture."))
            return
        suggestions(page, reading, word)
        st.text_input(
            "Put there instead", key=page.key("swap"), max_chars=40, width=260, autocomplete="off", placeholder="a word"
        )  # fmt: skip
        if not page.settings.swap.strip():
            return
        cleaned = check_sentence(change.swap(reading.ask.sentence, word, page.settings.swap))
        if cleaned.problem:
            st.html(decision.note(cleaned.problem))
            return
        st.button(
            "Go on with this sentence", icon=":material/arrow_upward:", on_click=keep(page, cleaned.text)
        )
    with right:
        show(page, reading, cleaned.text)


def word_of(reading: Reading, at: Selection, settings: Settings) -> int | None:
    """The display word of the pointed-at source token; the end sign is none."""
    columns = reading.columns(settings.show)
    if at.column is None or at.column >= len(columns) - 1:
        return None
    start = columns[at.column][1]
    return next(n for n, (_, a, b) in enumerate(reading.source.words) if a <= start < b)


def suggestions(page: Page[Settings], reading: Reading, word: int) -> None:
    found = work.neighbours(reading.ask.choice, reading.ask.sentence, word)
    text = reading.source.words[word][0]
    if not found:
        st.html(decision.note(f"“{text}” {NO_ROW}"))
        return
    names = [one.text for one in found]
    st.session_state[NEAR] = page.settings.swap if page.settings.swap in names else None
    st.pills(
        f"Nearest to “{text}” in this system's own table (cosine)",
        names,
        key=NEAR,
        wrap=True,
        format_func=lambda name: f"{name} {next(one.cosine for one in found if one.text == name):.2f}",
        on_change=lambda: page.put("swap", st.session_state[NEAR] or ""),
        help="Near means used alike by this system, not alike in meaning: opposites are often near.",
    )


def show(page: Page[Settings], reading: Reading, sentence: str) -> None:
    """Both outputs, and the new weights with what moved."""
    before = work.read(change.asked(reading.ask, reading.ask.sentence))
    after = work.read(change.asked(reading.ask, sentence))
    edits = [(one.text, one.kind) for one in segments(reading.ask.sentence, sentence)]
    st.html(cards.marked(edits, large=False, language="en"))
    changed(before, after, page.settings, "swap", "Weights for the changed sentence")


def keep(page: Page[Settings], sentence: str) -> Callable[[], None]:
    def kept() -> None:
        page.put("sentence", sentence)
        page.put("swap", "")

    return kept
