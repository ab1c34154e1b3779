"""Panel 5: the article's synthetic read, with every number open to the hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from app.components import heatmap
from app.experiments import fixed_context as lab
from app.experiments.fixed_context import export, words
from app.labs.fixed_panels.settings import CELLS, Settings, check_row, heading
from app.ui import contexts, markup
from app.ui.export import table_view
from app.ui.page import Page

if TYPE_CHECKING:
    from app.experiments.fixed_context.arithmetic import Mixed


def fitting(page: Page[Settings], field: str) -> tuple[int, ...]:
    """The numbers of a link only where they fill the grid."""
    value, (rows, columns, _, _) = getattr(page.settings, field), CELLS[field]
    if len(value) == rows * columns:
        return value
    st.caption(
        f"This link gives {len(value)} numbers for a {rows} × {columns} grid, so the article's are used."
    )
    return getattr(Settings(), field)


def read_panel(page: Page[Settings]) -> Mixed:
    from app.experiments.fixed_context.arithmetic import mixed

    heading(5, "Try the numbers", words.READ)
    left, right = st.columns(2, gap="large")
    with left:
        st.html(markup.card_title("H", "four rows, three channels"))
        grid(page, "h", [f"h_{k + 1}" for k in range(4)], [f"channel {k + 1}" for k in range(3)])
        st.html(markup.card_title("α", "a row of weights for each target step"))
        grid(page, "alpha", [f"α_{t + 1}" for t in range(3)], [f"h_{k + 1} " for k in range(4)])
        changed = (page.settings.h, page.settings.alpha) != (lab.DEFAULT_H, lab.DEFAULT_ALPHA)
        st.button(
            "The article's numbers",
            key="fixed_context-reset",
            on_click=reset,
            args=(page,),
            disabled=not changed,
        )
    found = mixed(page.settings.h, page.settings.alpha)
    with right:
        heatmap(
            np.vstack([found.contexts, found.fixed]), [*(f"c_{t + 1}" for t in range(3)), "fixed c = h_4"],
            [f"channel {k + 1}" for k in range(3)], key="fixed_context.read", title="c_t = Σ α_tj h_j",
            limits=(-words.most(found), words.most(found)), scale="diverging", value="value", row_role="state",
            column_role="state", select="none", print_from=0.0,
        )  # fmt: skip
        st.html(contexts.sums(words.reads(found)))
        check_row(words.read_checks(found))
    st.html(contexts.says(*words.READ_SAYS))
    table_view(export.read_table(found), "c_t and the fixed context")
    return found


def grid(page: Page[Settings], field: str, rows: list[str], columns: list[str]) -> None:
    """An editable grid of hundredths. Edits are kept against the numbers that the grid was opened with."""
    value = getattr(page.settings, field)
    memory = st.session_state.setdefault(f"fixed_context:{field}", {"base": None, "seen": None, "turn": 0})
    key = f"fixed_context.{field}.{memory['turn']}"
    if memory["seen"] != value or (key not in st.session_state and memory["base"] != value):
        memory.update(base=value, seen=value, turn=memory["turn"] + 1)
        key = f"fixed_context.{field}.{memory['turn']}"
    _, _, low, high = CELLS[field]
    frame = pd.DataFrame(np.reshape(memory["base"], (len(rows), len(columns))) / 100, rows, columns)
    number = st.column_config.NumberColumn(
        min_value=low / 100, max_value=high / 100, step=0.01, format="%.2f", required=True
    )
    config = dict.fromkeys(columns, number) | {"_index": st.column_config.Column(disabled=True)}
    args = (page, field, key, columns)
    st.data_editor(frame, key=key, column_config=config, on_change=edited, args=args)


def edited(page: Page[Settings], field: str, key: str, columns: list[str]) -> None:
    memory, (_, _, low, high) = st.session_state[f"fixed_context:{field}"], CELLS[field]
    numbers = list(memory["base"])
    for row, cells in st.session_state[key]["edited_rows"].items():
        for column, value in cells.items():
            if value is not None:  # a cell that was emptied keeps its number
                place = int(row) * len(columns) + columns.index(column)
                numbers[place] = min(high, max(low, round(float(value) * 100)))
    memory["seen"] = tuple(numbers)
    page.put(field, tuple(numbers))


def reset(page: Page[Settings]) -> None:
    page.put("h", lab.DEFAULT_H)
    page.put("alpha", lab.DEFAULT_ALPHA)
