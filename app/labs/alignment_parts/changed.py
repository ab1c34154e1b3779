"""A changed run beside the first one: marked output, changed rows and weights."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components import heatmap
from app.experiments.alignment.change import moved_cells, new_rows
from app.experiments.alignment.reading import Reading
from app.experiments.difference import segments
from app.labs.alignment_parts.settings import Settings
from app.ui import cards, decision


def changed(before: Reading, after: Reading, settings: Settings, name: str, title: str) -> None:
    """The new output with its differences marked, and its weights with what moved."""
    rows = new_rows(before, after, settings.show)
    cells = moved_cells(before, after, settings.show)
    st.html(cards.marked([(one.text, one.kind) for one in segments(before.text, after.text)]))
    st.html(decision.note(tell(rows, cells)))
    weights = after.matrix(settings.show)
    heatmap(
        weights,
        after.target.labels(settings.show),
        after.source.labels(settings.show),
        key=f"alignment.{name}.map",
        title=title,
        source_group="alignment:source",
        scores=after.shown_scores(settings.show),
        mask=after.masked(settings.show),
        changed=cells,
        changed_rows=rows,
        select="none",
    )


def tell(rows: np.ndarray, cells: np.ndarray) -> str:
    """The difference in one sentence."""
    words, moved = int(rows.sum()), int(cells.sum())
    said = f"{words} of {len(rows)} output tokens are new" if words else "Every output token is the same"
    return f"{said}; {moved} weights of tokens found in both moved by 0.1 or more (marked by a corner)."
