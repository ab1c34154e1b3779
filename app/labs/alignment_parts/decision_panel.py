"""One decision: scores before the softmax, weights, the context they mix, and what was chosen from."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components import Selection
from app.experiments.alignment.reading import Reading
from app.labs.alignment_parts import pick
from app.labs.alignment_parts.settings import Settings
from app.ui import decision
from app.ui.decision import Column
from app.ui.page import Page

CHANNELS = 96  # of the context, as a strip

SHIFT = "Bars of scores start at the row's lowest: one number added to all of them would change no weight."


def panel(page: Page[Settings], reading: Reading, at: Selection) -> None:
    t = pick.step_of(reading, at, page.settings)
    pick.decision(page, reading, at)
    if remark := pick.part_of(reading, at, page.settings):
        st.html(decision.note(remark))
    left, middle, right = st.columns([1.3, 1, 0.9], gap="medium")
    with left:
        scores(reading, t)
        window(reading, t)
    with middle:
        context(reading, t)
    with right:
        alternatives(reading, t)


def scores(reading: Reading, t: int) -> None:
    """Source pieces from top to bottom: what the softmax took in and what it gave out."""
    seen = np.flatnonzero(reading.visible[t])
    symbol, columns = reading.ask.choice.symbol, []
    if reading.scores is not None:
        row = reading.scores[t, seen]
        columns.append(
            Column("score e, before the softmax", row.tolist(), "state", digits=2, base=float(row.min()))
        )
    if reading.envelope is not None:
        content = reading.weights[t, seen] / reading.envelope[t, seen]
        columns.append(Column("softmax in the window", content.tolist(), "source", limit=1.0))
        columns.append(Column("Gaussian", reading.envelope[t, seen].tolist(), "state", limit=1.0))
    columns.append(Column(f"weight {symbol}", reading.weights[t, seen].tolist(), "source", limit=1.0))
    labels = [reading.source.pieces[place] for place in seen]
    st.html(
        decision.bars(
            f"From scores to weights, decision {t + 1}: {reading.target.pieces[t]}", "source", labels, columns
        )
    )
    if reading.scores is None:
        st.html(
            decision.note("The mean of several heads has no single score. Choose one head to see its scores.")
        )
    else:
        st.html(decision.note(SHIFT))
    hidden = len(reading.source.pieces) - len(seen)
    if hidden:
        st.html(decision.note(f"{hidden} source rows lie outside the window; their weight is exactly 0."))


def window(reading: Reading, t: int) -> None:
    """Where a local read looked."""
    if reading.centre is None or reading.window is None:
        return
    first, last = reading.window[t]
    pieces = reading.source.pieces
    items = [
        ("centre p", f"{reading.centre[t]:.2f}", "rows from 0"),
        ("window", f"{first} to {last}", f"“{pieces[first]}” to “{pieces[last]}”"),
    ]
    if reading.envelope is not None:
        items.append(("coefficient sum", f"{reading.sums[t]:.3f}", "not 1: no second normalisation"))
    st.html(decision.facts(items))


def context(reading: Reading, t: int) -> None:
    """The vector that the weights mixed, and how long it is in every step."""
    row = reading.context[t]
    count = min(CHANNELS, len(row))
    shown = "" if count == len(row) else f"first {count} of {len(row)} channels, "
    st.html(decision.channels("Context c", row[:count].tolist(), f"{shown}‖c‖ = {np.linalg.norm(row):.2f}"))
    norms = np.linalg.norm(reading.context, axis=1)
    extra = (
        []
        if reading.envelope is None
        else [Column("coefficient sum", reading.sums.tolist(), "source", limit=1.0)]
    )
    columns = [Column("length of c", norms.tolist(), "source", digits=2), *extra]
    st.html(decision.bars("Every step", "target", list(reading.target.pieces), columns, t, "target"))


def alternatives(reading: Reading, t: int) -> None:
    """The most probable pieces of this decision."""
    found = reading.alternatives[t]
    column = Column("probability", [p for _, p in found], "decision", limit=1.0)
    chosen = next((n for n, (piece, _) in enumerate(found) if piece == reading.target.pieces[t]), None)
    st.html(decision.bars("What it chose from", "piece", [p for p, _ in found], [column], chosen, "decision"))
