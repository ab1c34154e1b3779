"""What the visitor of "Receptive fields" chooses, and what every panel paints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app.experiments.check import Check
from app.experiments.receptive import schedule
from app.ui import contexts, markup
from app.ui.url import choice, text, whole

POSITIONS = ("16", "32", "64", "128", "256", "512", "1024", "2048", "4096")


@dataclass(frozen=True)
class Settings:
    """What the visitor chose. layers is the schedule's text as typed; output None: the last row, or the middle one."""

    sentence: str = text("s", default="The report was not convincing.")
    layers: str = text("k", default=schedule.DEFAULT, limit=schedule.LONGEST)
    positions: str = choice("n", POSITIONS, default="32")
    output: int | None = whole("o", 0, int(POSITIONS[-1]) - 1, default=None)
    distance: int = whole("q", 1, schedule.SPAN - 1, default=24)
    width: int = whole("w", 2, schedule.WIDTH, default=5)


def heading(number: int, title: str, told: str) -> None:
    """The head of panel `number`."""
    st.html(contexts.section(number, title, told))


def check_row(found: Sequence[Check]) -> None:
    """Every check of a panel with the number that decided it."""
    shown = [markup.Check(c.label, c.passed, markup.worst(c.value), c.explanation) for c in found]
    st.html(markup.checks(shown))
