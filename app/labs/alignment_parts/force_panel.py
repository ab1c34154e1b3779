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
from app.ui.page import Page

ALL_HEADS = "In the Transformer the bias goes to every head of every layer in this decision."


def panel(page: Page[Settings], reading: Reading, at: Selection) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pick.decision(page, reading, at)
        st.slider("Added to the score", 0.0, 10.0, step=0.5, key=page.key("bias"), width=240,
                  help="Scores are in nats before the softmax: +1 multiplies the row's share by e against all others.")  # fmt: skip
    pick.source(page, reading, at, "Source row to raise")
    if at.column is None:
        st.html(
            decision.note(
                "Choose a source row above, or click a cell of the picture: its row is the decision."
            )
        )
        return
    t, (_, start, stop) = (
        pick.step_of(reading, at, page.settings),
        reading.columns(page.settings.show)[at.column],
    )  # type: ignore[arg-type]
    forced = work.force(reading.ask, t, tuple(range(start, stop)), page.settings.bias, page.settings.show)  # type: ignore[arg-type]
    told(forced, t, reading, at, page.settings)


def told(forced: Forced, t: int, reading: Reading, at: Selection, settings: Settings) -> None:
    row, column = reading.rows(settings.show)[at.row], reading.columns(settings.show)[at.column or 0]  # type: ignore[arg-type]
    new = forced.after.target.pieces[t]
    st.html(
        decision.facts(
            [
                (
                    f"weight of {column[0]}",
                    f"{forced.weight[0]:.3f} → {forced.weight[1]:.3f}",
                    "in this decision",
                ),
                (
                    f"p({reading.target.pieces[t]})",
                    f"{forced.chosen[0]:.3f} → {forced.chosen[1]:.3f}",
                    "the old choice",
                ),
                (
                    "choice",
                    f"{reading.target.pieces[t]} → {new}",
                    "kept" if new == reading.target.pieces[t] else "changed",
                ),
            ]
        )
    )
    if not reading.visible[t, column[1]]:
        st.html(
            decision.note(
                "This row lies outside the window of this decision: no score, however large, reaches it."
            )
        )
    if not reading.ask.choice.combination.recurrent:
        st.html(decision.note(ALL_HEADS))
    left, right = st.columns(2, gap="medium")
    with left:
        st.html(decision.note("Everything before this decision is kept; from it on the system decides greedily, and only "
                              "this one read is forced.", f"Read {column[0]} at {row[0]}."))  # fmt: skip
        st.html(f"<p class='se-was'><b>Before:</b></p>{_plain(reading.text)}")
    with right:
        changed(reading, forced.after, settings, "force", "Weights after the forced read")


def _plain(text: str) -> str:
    from app.ui.markup import output

    return output(text)
