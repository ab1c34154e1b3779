"""Move the weights: how far may they go while the output stays, and do other importances agree with them (0x04J)?"""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from app.components import Selection, heatmap
from app.experiments.alignment import move
from app.experiments.alignment.move import MEASURES, Importance, Row
from app.experiments.alignment.reading import Reading
from app.labs.alignment_parts import pick, work
from app.labs.alignment_parts.settings import Settings
from app.ui import decision
from app.ui.cache import queue
from app.ui.decision import Column
from app.ui.export import table_view
from app.ui.page import Page

NO_ROW = (
    "A Transformer reads the source through every head of every layer, so no single row of weights is its whole read, "
    "and there is none to move. The importances below are measured all the same."
)
LEGEND = (
    "JS: Jensen-Shannon distance to the system's own weights, 0 same to 1 nothing in common. TV: total variation "
    "between the output distributions, 0 same to 1. The search is a lower bound: weights even farther away may exist."
)

MEASURED = (
    "Gradient: of log p of the chosen piece, by the embedded source row. Leave one out: total variation of the output "
    "when the row is removed and the sentence read again. τ (Kendall) near 1: the same ranking; near 0: unrelated."
)


def panel(page: Page[Settings], reading: Reading, at: Selection) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pick.decision(page, reading, at)
        st.slider("The output may move by (TV)", 0.01, 0.5, step=0.01, key=page.key("tolerance"), width=240)
        st.number_input("Seed of the permutations", 0, 999, key=page.key("seed"), width=190)
        st.toggle(
            "All decisions",
            key=page.key("every"),
            help="Search every decision of this output; may take a minute.",
        )
    t = pick.step_of(reading, at, page.settings)
    if move.movable(reading):
        moved(page.settings, reading, t)
    else:
        st.html(decision.note(NO_ROW))
    importances(page.settings, reading, t)
    if page.settings.every:
        everything(page.settings, reading)


def moved(settings: Settings, reading: Reading, t: int) -> None:
    """Four kinds of weights in one decision, drawn and measured."""
    found = queue().run(
        work.movement,
        reading.ask,
        t,
        settings.tolerance,
        settings.seed,
        label="Searching weights far away ...",
    )
    names, rows, indices = move.kinds(found)
    told = move.verdict(found, reading.target.pieces[t])
    st.html(
        decision.note(
            told,
            "A weight is not a reason:" if move.far(found) else "In this decision the weights matter:",
            "discover",
        )
    )
    left, right = st.columns([1.1, 1], gap="medium")
    with left:
        heatmap(
            np.stack(rows), names, list(reading.source.pieces), key="alignment.move.map", select="none",
            title=f"Weights put into decision {t + 1}: {reading.target.pieces[t]}", source_group="alignment:source",
            mask=None if reading.visible[t].all() else np.tile(~reading.visible[t], (len(rows), 1)), row_role="state",
        )  # fmt: skip
    with right:
        st.html(
            decision.table(
                "What they do to this decision", move.HEAD, move.table(reading, found, names, indices), 3
            )
        )
        st.html(decision.note(LEGEND))


def importances(settings: Settings, reading: Reading, t: int) -> None:
    """Weights beside three importances that do not look at them."""
    found: Importance = queue().run(
        work.importance, reading.ask, t, settings.show, label="Measuring importance ..."
    )
    columns = [
        Column("weight", found.weights.tolist(), "source", limit=1.0),
        Column(MEASURES["gradient"], found.gradient.tolist(), "state"),
        Column(MEASURES["times_input"], found.times_input.tolist(), "state", signed=True),
        Column(MEASURES["left_out"], found.left_out.tolist(), "decision", limit=1.0),
    ]
    caption = f"What mattered for {reading.target.pieces[t]}, by four measures"
    st.html(decision.bars(caption, "source", found.units, columns))
    told = [
        (
            MEASURES[name],
            _number(found.tau[name]),
            f"τ with the weights, Spearman ρ {_number(found.rho[name])}",
        )
        for name in MEASURES
    ]
    st.html(decision.facts(told))
    st.html(decision.note(MEASURED))


def everything(settings: Settings, reading: Reading) -> None:
    """One row a decision, and the means."""
    rows: list[Row] = queue().run(
        work.everything, reading.ask, settings.tolerance, settings.seed, settings.show,
        label="Searching every decision ...", reports=True,
    )  # fmt: skip
    means = [
        (f"mean τ, {MEASURES[name].lower()}", _number(move.mean_tau(rows, name)), "over the decisions")
        for name in MEASURES
    ]
    st.html(
        decision.table(
            "Every decision", move.EVERY_HEAD, [move.every_row(row, n) for n, row in enumerate(rows)]
        )
    )
    st.html(decision.facts(means))
    frame = pd.DataFrame(
        [move.every_row(row, n) for n, row in enumerate(rows)], columns=pd.Index(move.EVERY_HEAD)
    )
    table_view(frame, "every decision")


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
