"""The main picture of each system: output, heatmap and ribbon, linked on hover; below it the checks of this run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components import Selection, heatmap, ribbon, token_strip
from app.experiments.alignment.reading import Reading
from app.labs.alignment_parts import work
from app.labs.alignment_parts.settings import Settings
from app.ui import decision, markup
from app.ui.page import Page

SAME_ROWS = (
    "Every output word reads the same mixture. Why? Open “Step by step”: Eq. 8 is linear, so h(t) adds one number to "
    "every score of its row, and the softmax removes it."
)
NOT_NORMALISED = "the Gaussian comes after the softmax and nothing is normalised again (Eq. 10)."
LARGE = 30  # tokens on one side from which weights travel as bytes


def selection(reading: Reading, settings: Settings) -> Selection:
    """The cell pointed at; where the link names none that exists, the decision the system was least sure of."""
    rows, columns = reading.rows(settings.show), reading.columns(settings.show)
    row = (
        settings.row
        if settings.row is not None and settings.row < len(rows)
        else row_of(rows, reading.unsure)
    )
    column = settings.column if settings.column is not None and settings.column < len(columns) else None
    return Selection(row, column)


def row_of(rows: list[tuple[str, int, int]], t: int) -> int:
    """The shown row that holds decision t."""
    return next(place for place, (_, start, stop) in enumerate(rows) if start <= t < stop)


def card(
    reading: Reading,
    settings: Settings,
    name: str,
    *,
    selected: Selection | None = None,
    on_select: Callable[[Selection | None], None] | None = None,
    wide: bool = True,
) -> DeltaGenerator:
    """One system; returns the place where its checks go once they are computed."""
    choice = reading.ask.choice
    with st.container(border=True, key=f"alignment-card-{name}"):
        st.html(decision.card_head(choice.title, choice.order, choice.notes))
        left, right = st.columns([1.12, 1], gap="medium") if wide else (st.container(), st.container())
        with left:
            picture(reading, settings, name, selected, on_select)
        with right:
            strip(reading, settings, name)
            arcs(reading, settings, name)
            remarks(reading)
        return st.container()


def picture(
    reading: Reading,
    settings: Settings,
    name: str,
    selected: Selection | None,
    on_select: Callable[[Selection | None], None] | None,
) -> None:
    weights = reading.matrix(settings.show)
    heatmap(
        weights,
        reading.target.labels(settings.show),
        reading.source.labels(settings.show),
        key=f"alignment.{name}.map",
        title=f"Weights {reading.ask.choice.symbol}: each row is one decision",
        group=f"alignment:{name}",
        source_group="alignment:source",
        scores=reading.shown_scores(settings.show),
        mask=reading.masked(settings.show),
        selected=selected,
        select="cell" if on_select else "none",
        on_select=on_select,
        exact=max(weights.shape) < LARGE,
    )


def strip(reading: Reading, settings: Settings, name: str) -> None:
    words = reading.target.words if settings.show == "words" else None
    token_strip(
        reading.target.pieces,
        reading.log_probs,
        spans=words,
        key=f"alignment.{name}.strip",
        title="Output, with the probability of each " + ("word" if words else "piece"),
        group=f"alignment:{name}",
    )


def arcs(reading: Reading, settings: Settings, name: str) -> None:
    ribbon(
        np.maximum(reading.matrix(settings.show), 0),
        reading.target.labels(settings.show),
        reading.source.labels(settings.show),
        key=f"alignment.{name}.ribbon",
        title="The same weights as arcs",
        group=f"alignment:{name}",
        source_group="alignment:source",
    )


def remarks(reading: Reading) -> None:
    """What this kind of read lets one discover, with the number that decides."""
    combination = reading.ask.choice.combination
    change = reading.row_difference
    size = f"{change:.2f}" if change >= 0.005 else f"{change:.1e}"
    measured = f"Largest difference between the weights of any two decisions: {size}."
    if combination.score == "concat" and not combination.local:
        st.html(decision.note(f"Look down any column. {measured} {SAME_ROWS}", "Discover:", "discover"))
        return
    if reading.envelope is not None:
        sums = f"The coefficients of a row add up to {reading.sums.min():.2f} to {reading.sums.max():.2f}, not to 1"
        st.html(decision.note(f"{sums}: {NOT_NORMALISED}", "Local-p:"))
    st.html(decision.note(measured))


def verify(place: DeltaGenerator, reading: Reading) -> None:
    """Fill in the checks of this run: the same tokens decided again, one at a time and together."""
    run = work.checks(reading.ask)
    found = [markup.Check(c.label, c.passed, markup.worst(c.value), c.explanation) for c in run.checks]
    again = float(np.abs(run.probabilities - np.exp(reading.log_probs)).max())
    found.append(markup.Check("decided again: same", again < 1e-4, markup.worst(again),
                              "Largest difference of a token's probability when the run is repeated."))  # fmt: skip
    with place:
        st.html(markup.checks(found))


def choose(page: Page[Settings]) -> Callable[[Selection | None], None]:
    """What a click in the main picture does: point at the cell, for the panels below and for the link."""

    def chosen(picked: Selection | None) -> None:
        page.put("row", None if picked is None else picked.row)
        page.put("column", None if picked is None else picked.column)

    return chosen
