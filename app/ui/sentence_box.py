"""The sentence box itself, with the examples beside it and the limit under it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.ui import markup
from app.ui.errors import escape
from app.ui.page import Page
from app.ui.sentence import Cleaned, Example, check_sentence, examples, limits


def sentence_box(page: Page, field: str = "sentence", label: str = "Sentence") -> str:
    """Draw the box for `page`'s text field `field` and return what stands in it, as typed."""
    with st.container(
        key=f"se-sentence-{field}" if field != "sentence" else "se-sentence", horizontal=True, gap="small"
    ):
        typed = st.text_input(label, key=page.key(field), label_visibility="collapsed", autocomplete="off")
        _menu(page, field)
    return typed or ""


def say(cleaned: Cleaned) -> None:
    """Under the box: what is wrong with the sentence, or else the limit."""
    problem = f"<b>{markup.escape(cleaned.problem)}</b> " if cleaned.problem else ""
    st.html(
        f'<p class="se-limit" role="status">{problem}{markup.escape(cleaned.note or "")} {markup.escape(limits())}</p>'
    )


def checked(raw: str, count_pieces: Callable[[str], int] | None = None) -> Cleaned:
    """Check `raw` and say the outcome under the box; run nothing where `.problem` is set."""
    cleaned = check_sentence(raw, count_pieces)
    say(cleaned)
    return cleaned


def _menu(page: Page, field: str) -> None:
    key = f"{page.lab.slug}.{field}.examples"
    options = list(examples())
    st.menu_button("Examples", options, format_func=_label, key=key, on_click=_pick, args=(page, field, key))


def _pick(page: Page, field: str, key: str) -> None:
    picked = st.session_state.get(key)
    if picked is not None:
        page.put(field, picked.text)


def _label(example: Example) -> str:
    return f"{escape(example.text)} :gray[:small[·  {escape(example.group)}]]"
