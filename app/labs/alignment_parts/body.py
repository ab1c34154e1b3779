"""Everything below the controls: pictures first, then the open panel, then the checks of this run, then the export."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components import Selection
from app.experiments import home
from app.experiments.alignment import options
from app.experiments.alignment.options import CODES, Combination
from app.experiments.alignment.reading import MAX_LENGTH, Ask, Reading
from app.labs.alignment_parts import (
    decision_panel,
    force_panel,
    gold_panel,
    move_panel,
    order_panel,
    pictures,
    swap_panel,
    work,
)
from app.labs.alignment_parts.export import export
from app.labs.alignment_parts.settings import NOTHING, PANELS, Settings
from app.ui import decision
from app.ui.errors import guarded
from app.ui.page import Page

Drawn = tuple[DeltaGenerator, Reading]


def draw(page: Page[Settings], sentence: str) -> None:
    """One or two systems on `sentence`, and the panels of the first."""
    settings = page.settings
    if told := forced_note(settings):
        st.html(decision.note(told, "Your French:"))
    asks = [ask_for(settings, settings.combination, sentence)]
    if settings.compare != NOTHING:
        asks.append(ask_for(settings, CODES[settings.compare], sentence))
    drawn = cards(page, asks)
    if asks[0] in [reading.ask for _, reading in drawn]:
        reading = drawn[0][1]
        at = pictures.selection(reading, settings)
        panels(page, reading, at)
        verify(drawn)
        export(page, [one for _, one in drawn], at)
    else:
        verify(drawn)


def forced_note(settings: Settings) -> str:
    """What the visitor must know about the French that is forced; empty where it is used as typed."""
    if settings.decoding != "forced":
        return ""
    if not settings.forced.strip():
        return "No French was typed, so the system decides greedily."
    pieces = home.count_pieces(settings.forced.strip())
    if pieces < MAX_LENGTH:
        return ""
    return f"This is {pieces} subword pieces; the first {MAX_LENGTH} are used, and no end is decided."


def ask_for(settings: Settings, combination: Combination, sentence: str) -> Ask:
    """The request for one system under the page's settings."""
    chosen = options.choose(combination, options.available(), settings.half_width, settings.shift)
    forced = settings.forced.strip() if settings.decoding == "forced" else ""
    decoding = "greedy" if settings.decoding == "forced" and not forced else settings.decoding
    layer, head = (0, 0) if combination.recurrent else (settings.layer, settings.head)
    beam = settings.beam if decoding == "beam" else Ask.beam
    return Ask(chosen, sentence, decoding, beam, forced, layer, head)


def cards(page: Page[Settings], asks: list[Ask]) -> list[Drawn]:
    """Each system in its card; one that cannot run says why there and leaves the other alone."""
    places = st.columns(len(asks), gap="small") if len(asks) > 1 else [st.container()]
    drawn: list[Drawn] = []
    for number, (place, ask) in enumerate(zip(places, asks, strict=True)):
        with place, guarded(ask.choice.title):
            reading = work.read(ask)
            first = number == 0
            where = pictures.card(
                reading, page.settings, "first" if first else "second", wide=len(asks) == 1,
                selected=pictures.selection(reading, page.settings) if first else None,
                on_select=pictures.choose(page) if first else None,
            )  # fmt: skip
            drawn.append((where, reading))
    return drawn


def verify(drawn: list[Drawn]) -> None:
    for where, reading in drawn:
        with guarded("The checks of this run"):
            pictures.verify(where, reading)


def panels(page: Page[Settings], reading: Reading, at: Selection) -> None:
    """The panel that is open, and what opens the others."""
    with st.container(key="alignment-panels"):
        st.segmented_control(
            "Look closer", tuple(PANELS), key=page.key("panel"), format_func=lambda one: PANELS[one], required=True,
            label_visibility="collapsed",
        )  # fmt: skip
        name = page.settings.panel
        with guarded(PANELS[name]):
            if name == "order":
                order_panel.panel(reading)
            else:
                WITH_PAGE[name](page, reading, at)


WITH_PAGE = {
    "decision": decision_panel.panel,
    "swap": swap_panel.panel,
    "force": force_panel.panel,
    "move": move_panel.panel,
    "gold": lambda page, reading, at: gold_panel.panel(page, reading),
}
