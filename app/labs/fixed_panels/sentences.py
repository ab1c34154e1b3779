"""Panel 2: the contexts of two sentences, and how the edit travels through the encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from app.components import heatmap
from app.components.barcode import barcode
from app.experiments.fixed_context import words
from app.labs.fixed_panels.settings import ORDERS, Settings, check_row, heading
from app.ui import contexts, markup
from app.ui.cache import results
from app.ui.errors import escape
from app.ui.page import Page
from app.ui.sentence import examples

if TYPE_CHECKING:
    from app.experiments.fixed_context.contexts import Summaries, Summary
    from app.experiments.fixed_context.travel import Travel


@results(max_entries=64)
def summarised(slugs: tuple[str, ...], a: str, b: str) -> Summaries:
    from app.experiments.fixed_context.contexts import summaries

    return summaries(slugs, a, b, tuple(one.text for one in examples() if one.text not in (a, b)))


@results(max_entries=64)
def travelled(slugs: tuple[str, ...], a: str, b: str) -> Travel:
    from app.experiments.fixed_context.travel import travel

    return travel(slugs, a, b)


def pair_panel(page: Page[Settings], found: Summaries, moved: Travel) -> None:
    heading(2, "Two sentences, one edit", words.PAIR)
    if moved.columns:
        st.html(contexts.pair(*words.marked(moved)))
    st.segmented_control(
        "Order", tuple(ORDERS), key=page.key("order"), format_func=ORDERS.__getitem__, required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    for one in found.missing:
        st.caption(escape(one.sentence))
    for one in found.systems:
        summary(page, one)
    if moved.lines:
        travel_map(moved)
    check_row([*words.merged(found.systems), *moved.checks])
    st.html(contexts.says(*words.PAIR_SAYS))


def summary(page: Page[Settings], one: Summary) -> None:
    with st.container(border=True, key=f"fixed_context-summary-{one.slug}"):
        st.html(markup.card_title(one.title, "all that crosses, for A and for B"))
        st.html(contexts.figures(words.summary_figures(one)))
        barcode(
            one.a, one.b, key=f"fixed_context.code.{one.slug}", title=f"{len(one.a):,} channels",
            parts=one.parts, by_difference=page.settings.order == "difference",
        )  # fmt: skip


def travel_map(moved: Travel) -> None:
    values = np.stack([line.values for line in moved.lines])
    mask = np.broadcast_to(~moved.paired, values.shape)
    heatmap(
        np.nan_to_num(values), [line.label for line in moved.lines], moved.columns, key="fixed_context.travel",
        title="How the edit travels: difference of the encoder's rows", mask=mask, limits=(0.0, words.top(values)),
        value="relative difference", row_role="state", select="none", print_from=0.005,
    )  # fmt: skip
    st.html(contexts.note(*words.travel(moved)))
