"""What the visitor of "Fixed context" chooses, and what every panel paints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from app.experiments import fixed_context as lab
from app.ui import contexts, markup
from app.ui.url import choice, choices, text, whole, wholes

if TYPE_CHECKING:
    from app.experiments.run import Check

SCALES = {"log": "Log scale", "linear": "Linear scale"}
ORDERS = {"channel": "Channels in order", "difference": "Largest difference first"}
CELLS = {
    "h": (4, 3, -lab.MOST_H, lab.MOST_H),
    "alpha": (3, 4, 0, 100),
}  # rows, columns, least, most (hundredths)


@dataclass(frozen=True)
class Settings:
    """What the visitor chose. other "": A with or without its "not"; row and donor None: where the edit is."""

    sentence: str = text("s", default="The report was not convincing.")
    other: str = text("t", default="")
    systems: tuple[str, ...] = choices("m", lab.SYSTEMS, default=lab.SYSTEMS, most=len(lab.SYSTEMS))
    scale: str = choice("y", tuple(SCALES), default="log")
    width: str = choice("w", tuple(map(str, lab.WIDTHS)), default="384")
    order: str = choice("o", tuple(ORDERS), default="channel")
    host: str = choice("d", lab.SYSTEMS, default="rnn_encoder_decoder")
    summary_part: str = choice("p", tuple(lab.PARTS["rnn_encoder_decoder"]), default="both")
    stack_part: str = choice("q", tuple(lab.PARTS["lstm_seq2seq"]), default="both")
    row: int | None = whole("r", 0, 127, default=None)
    donor: int | None = whole("k", 0, 127, default=None)
    h: tuple[int, ...] = wholes("h", -lab.MOST_H, lab.MOST_H, default=lab.DEFAULT_H, most=12)
    alpha: tuple[int, ...] = wholes("a", 0, 100, default=lab.DEFAULT_ALPHA, most=12)

    @property
    def part(self) -> str:
        return self.stack_part if self.host == "lstm_seq2seq" else self.summary_part


def heading(number: int, title: str, told: str) -> None:
    """The head of panel `number`."""
    st.html(contexts.section(number, title, told))


def check_row(found: Sequence[Check]) -> None:
    """Every check of a panel with the number that decided it."""
    shown = [markup.Check(c.label, c.passed, markup.worst(c.value), c.explanation) for c in found]
    st.html(markup.checks(shown))
