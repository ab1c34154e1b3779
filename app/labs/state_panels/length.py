"""Panel 3: bytes kept for the next token and time a token, against the length of what was read (0x0C.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.charts import CONFIG, Growth, growth
from app.experiments.state_space import options
from app.labs.state_panels.settings import SLUGS, Settings, heading
from app.ui import contexts, markup
from app.ui.cache import queue, results
from app.ui.errors import escape
from app.ui.export import table_view
from app.ui.page import Page
from models.catalog import entry

if TYPE_CHECKING:
    from app.experiments.state_space.length import Kept

TOLD = (
    "Each system reads so many rows on this server, now; then the live state is weighed, and a dozen steps are timed. "
    "What follows the length (annotations, keys and values) is told from what does not (a summary, x, buffers)."
)
SAYS = (
    "Bytes of every tensor that the next step receives, and the median of measured steps with their quartiles.",
    "Fewer bytes are not better memory: a state of fixed size has to forget. And times belong to this machine, one "
    "request at a time, with these small models.",
)
Measured = tuple[list["Kept"], list[str]]


def measured(slugs: tuple[str, ...], lengths: tuple[int, ...], report: Callable[[float], None]) -> Measured:
    return _measured(slugs, lengths, report)


@results(max_entries=24)
def _measured(slugs: tuple[str, ...], lengths: tuple[int, ...], _report: Callable[[float], None]) -> Measured:
    from app.experiments.state_space.length import every

    return every(slugs, lengths, _report)


def length_panel(page: Page[Settings]) -> list[Kept]:
    heading(3, "State against length", TOLD)
    st.pills(
        "Systems",
        SLUGS,
        selection_mode="multi",
        key=page.key("systems"),
        format_func=lambda slug: entry(slug).title,
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.pills(
            "Rows read", [str(n) for n in options.LENGTHS], selection_mode="multi", key=page.key("lengths"),
            format_func=lambda n: f"{int(n):,}",
        )  # fmt: skip
        st.toggle(
            "Measure",
            key=page.key("measure"),
            help="Runs in a queue, so that other visitors are not held up.",
        )
    settings = page.settings
    lengths = tuple(sorted(int(n) for n in settings.lengths))
    if not settings.measure:
        st.caption("Turn “Measure” on to run the chosen systems at the chosen lengths.")
        return []
    if not settings.systems or not lengths:
        st.html(contexts.note("Choose at least one system and one length.", ""))
        return []
    found, missing = queue().run(
        measured, settings.systems, lengths, label="Reading and stepping ...", reports=True
    )
    for sentence in missing:
        st.caption(escape(sentence))
    if found:
        draw(found)
    return found


def draw(found: list[Kept]) -> None:
    kept, time = st.columns(2, gap="large")
    with kept:
        st.html(markup.card_title("Kept for the next token", "bytes of the live state"))
        lines = [Growth(k.title, [p.length for p in k.points], [p.nbytes for p in k.points]) for k in found]
        st.plotly_chart(growth(lines, measure="bytes", unit="B"), config=CONFIG, key="state_space-bytes")
    with time:
        st.html(markup.card_title("Time a token", "median of a dozen steps, quartiles as bars"))
        st.plotly_chart(
            growth([timed(k) for k in found], measure="seconds", unit="s"),
            config=CONFIG,
            key="state_space-time",
        )
    for one in found:
        if one.told:
            st.caption(f"{escape(one.title)}: {escape(one.told)}")
    st.table(contracts(found))
    st.html(contexts.says(*SAYS))
    table_view(table(found), "Every measurement")


def timed(one: Kept) -> Growth:
    points = one.points
    return Growth(
        one.title, [p.length for p in points], [p.step for p in points],
        [p.low for p in points], [p.high for p in points],
    )  # fmt: skip


def contracts(found: list[Kept]) -> pd.DataFrame:
    """The table of 0x0C.6, from the same objects: what is kept, and what grows."""
    rows = []
    for one in found:
        growing = ", ".join(f"{p.symbol} {_shape(p.shape)}" for p in one.parts if p.grows)
        fixed = ", ".join(f"{p.symbol} {_shape(p.shape)}" for p in one.parts if not p.grows)
        slope = one.bytes_a_row
        rows.append(
            (one.title, growing or "nothing", fixed or "nothing", f"{slope:,.0f} B" if slope >= 1 else "0 B")
        )
    names = ["System", "Grows with the rows read", "Stays the same", "One more row"]
    return pd.DataFrame(rows, columns=pd.Index(names)).set_index("System")


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape[1:])) or "1"


def table(found: list[Kept]) -> pd.DataFrame:
    """One line a system and length; times in milliseconds."""
    rows = [
        (k.title, p.length, p.nbytes, *(1e3 * t for t in (p.read, p.step, p.low, p.high)), _weights(k))
        for k in found
        for p in k.points
    ]
    names = ["system", "rows", "bytes", "read ms", "step ms", "quartile 1", "quartile 3", "weights"]
    return pd.DataFrame(rows, columns=pd.Index(names)).set_index("system")


def _weights(one: Kept) -> str:
    return "random" if one.random else "trained"
