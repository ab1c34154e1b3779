"""Panel 1: what crosses in each system, its bytes against the length, and what widening c does."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import streamlit as st

from app.charts import CONFIG
from app.charts.crossing import bytes_by_rows
from app.components.blocks import Block, Lane, blocks
from app.experiments import fixed_context as lab
from app.experiments.fixed_context import export, words
from app.labs.fixed_panels.settings import SCALES, Settings, check_row, heading
from app.ui import contexts, markup
from app.ui.cache import results
from app.ui.errors import escape
from app.ui.export import table_view
from app.ui.page import Page

if TYPE_CHECKING:
    from app.experiments.fixed_context.crossing import Crossing, Crossings


@results(max_entries=64)
def crossed(slugs: tuple[str, ...], sentence: str) -> Crossings:
    from app.experiments.fixed_context.crossing import crossings

    return crossings(slugs, sentence)


def crossing_panel(page: Page[Settings], found: Crossings) -> None:
    heading(1, "What crosses", words.CROSSING)
    for one in found.missing:
        st.caption(escape(one.sentence))
    if not found.systems:
        return
    lanes = [
        Lane(one.title, words.lane(one), tuple(Block(**asdict(g)) for g in one.groups))
        for one in found.systems
    ]
    blocks(lanes, key="fixed_context.blocks", title="Everything the decoder has of your sentence, to scale")
    left, right = st.columns([3, 2], gap="large")
    with left:
        byte_chart(page, found)
    with right:
        widening(page, found.systems)
    check_row(words.merged(found.systems))
    st.html(contexts.says(*words.CROSSING_SAYS))
    table_view(export.crossing_table(found), "tensors that cross")


def byte_chart(page: Page[Settings], found: Crossings) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.html(markup.card_title("Bytes against the length of the source"))
        st.segmented_control(
            "Scale", tuple(SCALES), key=page.key("scale"), format_func=SCALES.__getitem__, required=True,
            label_visibility="collapsed",
        )  # fmt: skip
    lines = {one.title: tuple(zip(*one.points, strict=True)) for one in found.systems}
    chart = bytes_by_rows(lines, own=found.rows, log=page.settings.scale == "log")  # pyright: ignore[reportArgumentType]
    st.plotly_chart(chart, key="fixed_context.bytes", config=CONFIG, theme="streamlit")
    table_view(export.bytes_table(found), "bytes by source rows", digits=0)


def widening(page: Page[Settings], systems: tuple[Crossing, ...]) -> None:
    from app.experiments.fixed_context.widening import widened

    st.html(markup.card_title("A wider c is still one row"))
    st.select_slider("Channels of c", tuple(map(str, lab.WIDTHS)), key=page.key("width"))
    wide = widened(int(page.settings.width))
    lanes = [Lane("c", words.wide_notes(wide), (Block(**words.wide_block(wide, systems)),))]
    memory = words.memory(systems)
    if memory is not None:
        one, group = memory
        lanes.append(Lane(f"H of {one.title}", words.memory_notes(group), (Block(**asdict(group)),)))
    blocks(lanes, key="fixed_context.wide", title="c and H at one scale")
    st.html(contexts.note(*words.widening(wide, memory)))
