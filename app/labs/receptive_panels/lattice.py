"""Panel 1: a schedule edited layer by layer, its lattice, and the numbers of 0x05B and 0x05C for it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.components.lattice import LatticeLayer, lattice
from app.components.layer_table import LayerRow, layer_table
from app.experiments.receptive import field, schedule
from app.experiments.receptive.field import Lattice, LayerField, Least
from app.experiments.receptive.schedule import RawLayer, Written
from app.labs.receptive_panels.settings import POSITIONS, Settings, check_row, heading
from app.ui import contexts, markup
from app.ui.cache import results
from app.ui.export import table_view
from app.ui.page import Page

TOLD = (
    "Each layer reads k rows of the layer below, d rows apart. Edit the layers, point at any row to see what it reads "
    "and what reads it, click to choose the output, and play to let its field grow layer by layer."
)
SAYS = (
    "Every edge is a read of the schedule; the field is everything that a path of edges connects to the chosen output. "
    "Ringed positions lie in the span, and no path reaches them.",
    "A path permits, it does not say that a trained layer uses it: the next panel measures that. Fewer layers are not "
    "less time.",
)
GOOD = "receptive_fields:good"  # the session's last schedule within bounds


@results(max_entries=256)
def lattice_of(text: str, positions: int, output: int | None) -> Lattice:
    return field.lattice(schedule.known(text), positions, output)


@results(max_entries=256)
def least_of(text: str, distance: int, width: int) -> Least:
    return field.least(schedule.known(text), distance, width)


def shown_schedule(page: Page[Settings]) -> tuple[Written, str]:
    """What the table says, and the text of the schedule that is drawn: this one, or the last one within bounds."""
    written = schedule.read(page.settings.layers)
    if written.schedule is not None:
        st.session_state[GOOD] = page.settings.layers
    good = st.session_state.get(GOOD, schedule.DEFAULT)
    return written, good


def lattice_panel(page: Page[Settings]) -> Lattice:
    heading(1, "The lattice", TOLD)
    written, good = shown_schedule(page)
    found = lattice_of(good, int(page.settings.positions), page.settings.output)
    presets(page, written)
    left, right = st.columns([1.15, 1.75], gap="large")
    with right:
        picture(page, found)
    with left:
        table(page, written, found)
        st.html(markup.card_title("The span", "0x05B, with these numbers"))
        st.html(contexts.sums(sums(found)))
        st.html(contexts.figures(figures(found)))
    check_row(found.checks)
    distances(page, good)
    st.html(contexts.says(*SAYS))
    table_view(frame(found), "The field after each layer")
    return found


def presets(page: Page[Settings], written: Written) -> None:
    key = f"{page.lab.slug}-presets"
    text = schedule.write(written.rows)
    st.session_state[key] = next((name for name, one in schedule.PRESETS.items() if one == text), None)
    st.pills(
        "Presets",
        list(schedule.PRESETS),
        key=key,
        on_change=take,
        args=(page, key),
        label_visibility="collapsed",
    )


def take(page: Page[Settings], key: str) -> None:
    """Put a preset into the page, with at least as many rows as it spans."""
    text = schedule.PRESETS.get(st.session_state[key] or "")
    if text is None:
        return
    page.put("layers", text)
    page.put("output", None)
    fitting = schedule.fitting(text, [int(n) for n in POSITIONS])
    if int(page.settings.positions) < fitting:
        page.put("positions", str(fitting))


def table(page: Page[Settings], written: Written, found: Lattice) -> None:
    rows = written.rows or schedule.raw(found.schedule)
    notes = [f"R = {one.span:,}" for one in found.layers] if written.schedule else [""] * len(rows)
    shown = [
        LayerRow(row.width, row.dilation, row.causal, row.stride, note, number == written.bad)
        for number, (row, note) in enumerate(zip(rows, notes, strict=True))
    ]
    layer_table(
        shown,
        key="receptive_fields.layers",
        limits=schedule.LIMITS,
        most=schedule.LAYERS,
        on_edit=lambda rows: edited(page, rows),
    )
    if written.problem:
        st.html(contexts.note(written.problem, "The picture shows the last schedule that could be drawn."))


def edited(page: Page[Settings], rows: tuple[LayerRow, ...]) -> None:
    page.put("layers", schedule.write([RawLayer(r.width, r.dilation, r.causal, r.stride) for r in rows]))


def picture(page: Page[Settings], found: Lattice) -> None:
    layers = [
        LatticeLayer(told(one), layer.offsets, layer.stride)
        for one, layer in zip(found.layers, found.schedule, strict=True)
    ]
    lattice(
        layers, found.positions, key="receptive_fields.lattice", title="Layers by positions", output=found.output,
        on_choose=lambda row: page.put("output", row),
    )  # fmt: skip
    st.segmented_control(
        "Input positions",
        POSITIONS,
        key=page.key("positions"),
        format_func=lambda n: f"{int(n):,}",
        required=True,
    )


def told(one: LayerField) -> str:
    stride = f" s={one.stride}" if one.stride > 1 else ""
    return f"k={one.width} d={one.dilation}{stride}" + ("" if one.causal else " ↔")


def sums(found: Lattice) -> list[tuple[str, str]]:
    """The recurrence and its numbers; long schedules are shortened in the middle."""
    strided = any(one.jump > 1 for one in found.layers)
    terms = [f"({one.width}−1)·{one.dilation}" + (f"·{one.jump}" if strided else "") for one in found.layers]
    if len(terms) > 12:
        terms = [*terms[:8], "…", *terms[-3:]]
    law = "1 + Σ (k_l − 1) d_l" + (" j_l,  j_l the product of the strides below" if strided else "")
    return [("R_L", law), (f"R_{len(found.layers)}", f"1 + {' + '.join(terms)} = {found.last.span:,}")]


def figures(found: Lattice) -> list[tuple[str, str, str]]:
    last, inside = found.last, int(found.reached.sum())
    edge = "the field reaches over the edge" if found.cut else "all of the field"
    return [
        ("Span R_L", f"{last.span:,}", f"rows, {signed(found.oldest)} to {signed(found.newest)}"),
        (
            "Coverage",
            f"{last.coverage:.0%}",
            f"{last.reached:,} of {last.span:,} reached, {last.holes:,} holes",
        ),
        ("In this sequence", f"{inside:,}", f"of {found.positions:,} rows; {edge}"),
    ]


def signed(offset: int) -> str:
    return f"{offset:+,}".replace("-", "−") if offset else "0"


def distances(page: Page[Settings], good: str) -> None:
    st.html(markup.card_title("Layers for a distance", "0x05C, 0x07G"))
    left, right = st.columns([1.15, 1.75], gap="large", vertical_alignment="bottom")
    with left, st.container(horizontal=True, gap="small"):
        st.number_input("Distance Δ", 1, schedule.SPAN - 1, key=page.key("distance"))
        st.number_input("Width k", 2, schedule.WIDTH, key=page.key("width"))
    found = least_of(good, page.settings.distance, page.settings.width)
    with right:
        st.html(contexts.figures(counted(found)))
    st.html(
        contexts.note(
            f"Δ = {found.distance:,}, k = {found.width}.",
            "The least number of causal layers after which a row can depend on one Δ rows earlier. It counts edges of "
            "a graph, not milliseconds.",
        )
    )


def counted(found: Least) -> list[tuple[str, str, str]]:
    rows = [(rule, f"{count:,}", "layers" if count != 1 else "layer") for rule, count in found.rules.items()]
    missed = "it falls into a hole" if found.misses else "its span ends before"
    own = ("never", missed) if found.own is None else (f"{found.own:,}", "of its layers")
    return [*rows, ("this schedule", own[0], own[1])]


def frame(found: Lattice) -> pd.DataFrame:
    """One line a layer."""
    rows = [
        (
            o.width,
            o.dilation,
            o.stride,
            "past" if o.causal else "both",
            o.added,
            o.span,
            o.reached,
            o.holes,
            o.coverage,
        )
        for o in found.layers
    ]
    names = ["width", "dilation", "stride", "reads", "added", "span", "reached", "holes", "coverage"]
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="layer"), columns=pd.Index(names))
