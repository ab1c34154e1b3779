"""What the visitor of "State space" chooses, and what every panel paints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from app.experiments.state_space import options
from app.ui import contexts, markup
from app.ui.url import choice, choices, flag, real, text, whole, wholes
from models.catalog import TRANSLATORS

if TYPE_CHECKING:
    from app.experiments.run import Check

SLUGS = tuple(item.slug for item in TRANSLATORS)
SHOWN = ("rnn_encoder_decoder", "rnn_search", "transformer", "gpt", "convs2s", "s4", "mamba")
RING = options.PRESETS["ring"]
EDITS = {"remove": "Removed", "duplicate": "Said twice"}


@dataclass(frozen=True)
class Settings:
    """What the visitor chose; a, b, c and u are in hundredths. token None: nothing is removed or said twice."""

    sentence: str = text("s", default="The report was not convincing.")
    a: tuple[int, ...] = wholes("a", -options.MOST_A, options.MOST_A, default=RING.a, most=4)
    b: tuple[int, ...] = wholes("b", -options.MOST_B, options.MOST_B, default=RING.b, most=2)
    c: tuple[int, ...] = wholes("c", -options.MOST_B, options.MOST_B, default=RING.c, most=2)
    d: float = real("d", -2, 2, default=RING.d / 100, digits=2)
    delta: float = real("e", 0.01, 1, default=RING.delta / 100, digits=2)
    method: str = choice("m", tuple(options.METHODS), default="bilinear")
    vary: int = whole("w", 0, 100, default=0)
    u: tuple[int, ...] = wholes(
        "u", -options.MOST_U, options.MOST_U, default=options.INPUTS["Two pulses"], most=options.STEPS
    )
    layer: str = choice("l", [str(k + 1) for k in range(12)], default="1")
    token: int | None = whole("k", 0, 127, default=None)
    edit: str = choice("x", tuple(EDITS), default="remove")
    systems: tuple[str, ...] = choices("y", SLUGS, default=[s for s in SHOWN if s in SLUGS], most=len(SLUGS))
    measure: bool = flag("t")
    lengths: tuple[str, ...] = choices(
        "n", [str(n) for n in options.LENGTHS], default=options.DEFAULT_LENGTHS, most=len(options.LENGTHS)
    )


def heading(number: int, title: str, told: str) -> None:
    """The head of panel `number`."""
    st.html(contexts.section(number, title, told))


def check_row(found: Sequence[Check]) -> None:
    """Every check of a panel with the number that decided it."""
    shown = [markup.Check(c.label, c.passed, markup.worst(c.value), c.explanation) for c in found]
    st.html(markup.checks(shown))
