"""A small grid of numbers that live in the link as hundredths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from app.ui.page import Page

Limits = tuple[int, int]  # least and most, in hundredths


def number_grid(
    page: Page[Any], field: str, rows: Sequence[str], columns: Sequence[str], limits: Limits
) -> None:
    """Edit field `field`, a tuple of len(rows) x len(columns) hundredths, row by row.

    Edits are kept against the numbers that the grid was opened with: a data editor with a constant key would apply
    its old edits to new numbers.
    """
    value, slug = getattr(page.settings, field), page.lab.slug
    memory = st.session_state.setdefault(f"{slug}:{field}", {"base": None, "seen": None, "turn": 0})
    key = f"{slug}.{field}.{memory['turn']}"
    if memory["seen"] != value or (key not in st.session_state and memory["base"] != value):
        memory.update(base=value, seen=value, turn=memory["turn"] + 1)
        key = f"{slug}.{field}.{memory['turn']}"
    low, high = limits
    frame = pd.DataFrame(
        np.reshape(memory["base"], (len(rows), len(columns))) / 100, list(rows), list(columns)
    )
    number = st.column_config.NumberColumn(
        min_value=low / 100, max_value=high / 100, step=0.01, format="%.2f", required=True
    )
    config: dict[str, Any] = dict.fromkeys(columns, number) | {
        "_index": st.column_config.Column(disabled=True)
    }
    args = (page, field, key, list(columns), limits)
    st.data_editor(frame, key=key, column_config=config, on_change=_edited, args=args)


def _edited(page: Page[Any], field: str, key: str, columns: list[str], limits: Limits) -> None:
    memory, (low, high) = st.session_state[f"{page.lab.slug}:{field}"], limits
    numbers = list(memory["base"])
    for row, cells in st.session_state[key]["edited_rows"].items():
        for column, value in cells.items():
            if value is not None:  # a cell that was emptied keeps its number
                place = int(row) * len(columns) + columns.index(column)
                numbers[place] = min(high, max(low, round(float(value) * 100)))
    memory["seen"] = tuple(numbers)
    page.put(field, tuple(numbers))
