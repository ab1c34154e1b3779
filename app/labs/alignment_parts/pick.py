"""Choosing a decision and a source row without the mouse: what a click in the picture does, as ordinary controls."""

from __future__ import annotations

import streamlit as st

from app.components import Selection
from app.experiments.alignment.reading import Reading
from app.labs.alignment_parts.settings import Settings
from app.ui.page import Page

ROW, COLUMN = "alignment-pick-row", "alignment-pick-column"


def decision(page: Page[Settings], reading: Reading, at: Selection) -> None:
    """A list of the decisions; a choice points the whole page at it."""
    labels = [text for text, _, _ in reading.rows(page.settings.show)]
    st.session_state[ROW] = at.row
    st.selectbox(
        "Decision", range(len(labels)), key=ROW, format_func=lambda r: f"{r + 1}: {labels[r]}", width=190,
        on_change=lambda: page.put("row", st.session_state[ROW]),
    )  # fmt: skip


def source(page: Page[Settings], reading: Reading, at: Selection, label: str, *, end: bool = True) -> None:
    """The source tokens as buttons."""
    labels = [text for text, _, _ in reading.columns(page.settings.show)]
    places = range(len(labels) if end else len(labels) - 1)
    st.session_state[COLUMN] = at.column if at.column in places else None
    st.pills(
        label, places, key=COLUMN, format_func=lambda c: labels[c], wrap=True,
        on_change=lambda: page.put("column", st.session_state[COLUMN]),
    )  # fmt: skip


def step_of(reading: Reading, at: Selection, settings: Settings) -> int:
    """The first decision of the shown row."""
    return reading.rows(settings.show)[at.row][1]


def part_of(reading: Reading, at: Selection, settings: Settings) -> str:
    """A remark where the shown row is a word of several decisions."""
    text, start, stop = reading.rows(settings.show)[at.row]
    if stop - start == 1:
        return ""
    return (
        f"“{text}” is spelt by {stop - start} decisions; this is the first, “{reading.target.pieces[start]}”."
    )
