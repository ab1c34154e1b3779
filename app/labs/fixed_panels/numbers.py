"""Panel 5: the article's synthetic read, with every number open to the hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from app.components import heatmap
from app.experiments import fixed_context as lab
from app.experiments.fixed_context import export, words
from app.labs.fixed_panels.settings import CELLS, Settings, check_row, heading
from app.ui import contexts, markup
from app.ui.export import table_view
from app.ui.number_grid import number_grid
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
        states, channels = [f"h_{k + 1}" for k in range(4)], [f"channel {k + 1}" for k in range(3)]
        number_grid(page, "h", states, channels, CELLS["h"][2:])
        st.html(markup.card_title("α", "a row of weights for each target step"))
        weights = [f"α_{t + 1}" for t in range(3)]
        number_grid(page, "alpha", weights, [f"{name} " for name in states], CELLS["alpha"][2:])
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


def reset(page: Page[Settings]) -> None:
    page.put("h", lab.DEFAULT_H)
    page.put("alpha", lab.DEFAULT_ALPHA)
