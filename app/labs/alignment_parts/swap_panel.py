"""Change one source word, with neighbours from the system's own embedding table, and see what else changes."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from app.components import Selection
from app.experiments.alignment import change
from app.experiments.alignment.reading import Reading
from app.labs.alignment_parts import pick, work
from app.labs.alignment_parts.changed import changed
from app.labs.alignment_parts.settings import Settings
from app.ui import decision
from app.ui.page import Page
from app.ui.sentence import check_sentence

NEAR = "alignment-near"


def panel(page: Page[Settings], reading: Reading, at: Selection) -> None:
    pick.source(page, reading, at, "Source word to change", end=False)
    word = word_of(reading, at, page.settings)
    if word is None:
        st.html(decision.note("Choose a source word above, or click a column of the picture."))
        return
    suggestions(page, reading, word)
    st.text_input("Put there instead", key=page.key("swap"), max_chars=40, width=260, autocomplete="off",
                  placeholder="a word")  # fmt: skip
    if not page.settings.swap.strip():
        return
    sentence = change.swap(reading.ask.sentence, word, page.settings.swap)
    cleaned = check_sentence(sentence)
    if cleaned.problem:
        st.html(decision.note(cleaned.problem))
        return
    show(page, reading, cleaned.text)


def word_of(reading: Reading, at: Selection, settings: Settings) -> int | None:
    """The display word of the pointed-at source token; the end sign is none."""
    columns = reading.columns(settings.show)  # type: ignore[arg-type]
    if at.column is None or at.column >= len(columns) - 1:
        return None
    start = columns[at.column][1]
    return next(n for n, (_, a, b) in enumerate(reading.source.words) if a <= start < b)


def suggestions(page: Page[Settings], reading: Reading, word: int) -> None:
    found = work.neighbours(reading.ask.choice, reading.ask.sentence, word)
    text = reading.source.words[word][0]
    if not found:
        st.html(decision.note(f"“{text}” is spelt by several pieces or is a sign, so it has no row of its own in the table. "
                              "Type a word below."))  # fmt: skip
        return
    names = [one.text for one in found]
    st.session_state[NEAR] = page.settings.swap if page.settings.swap in names else None
    st.pills(
        f"Nearest to “{text}” in this system's own table (cosine)",
        names,
        key=NEAR,
        format_func=lambda name: f"{name} {next(one.cosine for one in found if one.text == name):.2f}",
        on_change=lambda: page.put("swap", st.session_state[NEAR] or ""),
        help="One table serves English and French, so a neighbour may be French. Near means used alike by this system, "
        "not alike in meaning: opposites are often near.",
    )


def show(page: Page[Settings], reading: Reading, sentence: str) -> None:
    ask = change.asked(reading.ask, sentence)
    before = work.read(change.asked(reading.ask, reading.ask.sentence))
    st.html(f'<p class="se-output" lang="en">{escape(sentence)}</p>')
    changed(before, work.read(ask), page.settings, "swap", f"Weights for “{sentence}”")
    st.button("Go on with this sentence", icon=":material/arrow_upward:", on_click=keep(page, sentence))


def keep(page: Page[Settings], sentence: str) -> Callable[[], None]:
    def kept() -> None:
        page.put("sentence", sentence)
        page.put("swap", "")

    return kept
