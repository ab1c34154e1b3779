"""Force a read: raise one source row's score in one decision, and let the system decide again from there."""

from __future__ import annotations

import streamlit as st

from app.components import Selection
from app.experiments.alignment.change import Forced
from app.experiments.alignment.reading import Reading
from app.labs.alignment_parts import pick, work
from app.labs.alignment_parts.changed import changed
from app.labs.alignment_parts.settings import Settings
from app.ui import decision
from app.ui.decision import Column
from app.ui.page import Page

KEPT = (
    "Everything before this decision is kept. Only this one read is forced; "
    "from here on the system decides greedily."
)
OUTSIDE = "This row lies outside the window of this decision: no score, however large, reaches it."
ALL_HEADS = "In the Transformer the bias goes to every head of every layer in this decision."
NATS = "Scores are in nats: +1 multiplies the row's share by e against all others."


def panel(page: Page[Settings], reading: Reading, at: Selection) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pick.decision(page, reading, at)
        st.slider("Added to the score", 0.0, 10.0, step=0.5, key=page.key("bias"), width=240, help=NATS)
    pick.source(page, reading, at, "Source row to raise")
    if at.column is None:
        st.html(
            decision.note(
                "Choose a source row above, or click a cell of the picture: its row is the decision."
            )
        )
        return
    settings = page.settings
    t, (word, start, stop) = pick.step_of(reading, at, settings), reading.columns(settings.show)[at.column]
    forced = work.force(reading.ask, t, tuple(range(start, stop)), settings.bias, settings.show)
    left, right = st.columns([1, 1.15], gap="medium")
    with left:
        told(forced, t, word, start)
    with right:
        changed(reading, forced.after, settings, "force", "Weights after the forced read")


def told(forced: Forced, t: int, word: str, start: int) -> None:
    """What the forced read did to this decision."""
    before, after = forced.before, forced.after
    old, new = before.target.pieces[t], after.target.pieces[t]
    items = [
        (f"weight of {word}", f"{forced.weight[0]:.3f} → {forced.weight[1]:.3f}", "in this decision"),
        (f"p({old})", f"{forced.chosen[0]:.3f} → {forced.chosen[1]:.3f}", "the old choice"),
        ("choice", f"{old} → {new}", "kept" if old == new else "changed"),
    ]
    st.html(decision.facts(items))
    if not before.visible[t, start]:
        st.html(decision.note(OUTSIDE))
    if not before.ask.choice.combination.recurrent:
        st.html(decision.note(ALL_HEADS))
    st.html(decision.before(before.text))
    found = after.alternatives[t]
    column = Column("probability", [p for _, p in found], "decision", limit=1.0)
    st.html(
        decision.bars(
            "What the forced decision chose from", "piece", [p for p, _ in found], [column], 0, "decision"
        )
    )
    st.html(decision.note(KEPT))
