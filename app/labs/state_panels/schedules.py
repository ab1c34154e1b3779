"""Panel 1: one small linear system under two schedules, its numbers and its input open to the hand (0x0C.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from app.components import heatmap
from app.components.tracks import Curve, Track, tracks
from app.experiments.state_space import options
from app.labs.state_panels.settings import Settings, check_row, heading
from app.ui import contexts, markup
from app.ui.cache import results
from app.ui.export import table_view
from app.ui.number_grid import number_grid
from app.ui.page import Page

if TYPE_CHECKING:
    from app.experiments.state_space.schedules import Ask, Schedules

TOLD = (
    "x′ = A x + B u, y = C x + D u, made discrete with the step Δ. Draw the input u with the pointer, or change any "
    "number: the same layer runs as a recurrence, one row after another, and as one convolution with its kernel K."
)
SAYS = (
    "K_l = C Ā^l B̄ is what one unit of input adds to the output l rows later. While A, B, C and Δ stay the same at "
    "every row, both schedules give the same output.",
    "Two states only, and no nonlinearity: a trained S4 layer has many such systems side by side, and mixes them.",
)
LIMITS = {"a": (-options.MOST_A, options.MOST_A), "b": (-options.MOST_B, options.MOST_B)}


@results(max_entries=128)
def found_for(ask: Ask) -> Schedules:
    from app.experiments.state_space.schedules import schedules

    return schedules(ask)


def ask_of(settings: Settings) -> Ask:
    from app.experiments.state_space.schedules import Ask

    delta, d = round(settings.delta * 100), round(settings.d * 100)
    return Ask(settings.a, settings.b, settings.c, d, delta, settings.method, settings.u, settings.vary)


def schedules_panel(page: Page[Settings]) -> Schedules:
    heading(1, "One layer, two schedules", TOLD)
    left, right = st.columns([1, 2.1], gap="large")
    with left:
        numbers(page)
    with right:
        inputs(page)
        found = found_for(ask_of(page.settings))
        draw(page, found)
    check_row(found.checks)
    st.html(contexts.note(*verdict(page.settings, found)))
    with st.expander("What each input adds to each output", expanded=page.settings.vary > 0):
        response(found)
    st.html(contexts.says(*SAYS))
    table_view(table(found), "Both schedules, row by row")
    return found


def numbers(page: Page[Settings]) -> None:
    with st.container(horizontal=True, gap="small"):
        for slug, preset in options.PRESETS.items():
            st.button(
                preset.title, key=f"state_space-{slug}", on_click=take, args=(page, slug), help=preset.told
            )
    st.html(markup.card_title("A", "how the state moves by itself"))
    number_grid(page, "a", ["x_1", "x_2"], ["from x_1", "from x_2"], LIMITS["a"])
    st.html(markup.card_title("B", "what an input writes"))
    number_grid(page, "b", ["u"], ["into x_1", "into x_2"], LIMITS["b"])
    st.html(markup.card_title("C", "what an output reads"))
    number_grid(page, "c", ["y"], ["of x_1", "of x_2"], LIMITS["b"])
    st.slider("Step Δ", 0.01, 1.0, step=0.01, key=page.key("delta"))
    st.slider("D, straight from input to output", -2.0, 2.0, step=0.01, key=page.key("d"))
    st.segmented_control(
        "Made discrete by", tuple(options.METHODS), key=page.key("method"),
        format_func=options.METHODS.__getitem__, required=True,
    )  # fmt: skip
    st.slider(
        "A swings by (%)", 0, 100, step=5, key=page.key("vary"),
        help="0: the same A at every row. Otherwise A is multiplied by a slow wave, so no two rows have the same.",
    )  # fmt: skip


def take(page: Page[Settings], slug: str) -> None:
    """Put a preset's numbers into the page."""
    preset = options.PRESETS[slug]
    for field in ("a", "b", "c"):
        page.put(field, getattr(preset, field))
    page.put("d", preset.d / 100)
    page.put("delta", preset.delta / 100)


def inputs(page: Page[Settings]) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for title, values in options.INPUTS.items():
            st.button(title, key=f"state_space-u-{title}", on_click=page.put, args=("u", values))


def draw(page: Page[Settings], found: Schedules) -> None:
    edge = options.MOST_U / 100
    difference = found.convolved - found.recurrent
    states = tuple(Curve(f"x_{n + 1}", found.states[:, n], role) for n, role in enumerate(("state", "muted")))
    outputs = (
        Curve("recurrence", found.recurrent, "target"),
        Curve("convolution K * u + D u", found.convolved, "decision", "dot"),
    )
    shown = [
        Track("Input u, drawn by hand", (Curve("u", found.u, "source", "stem"),), (-edge, edge), drawn=True),
        Track("Kernel K", (Curve("K", found.kernel, "decision", "stem"),)),
        Track("State x", states),
        Track("Output y", outputs),
        Track("Convolution − recurrence", (Curve("difference", difference, "change"),), scale_of(difference)),
    ]  # fmt: skip
    tracks(
        shown, key="state_space.tracks", title="The same layer, both ways",
        on_draw=lambda values: page.put("u", values),
    )  # fmt: skip


def scale_of(difference: np.ndarray) -> tuple[float, float]:
    """At least a thousandth, so that rounding does not look like a finding."""
    edge = max(1e-3, 1.1 * float(np.abs(difference).max()))
    return -edge, edge


def verdict(settings: Settings, found: Schedules) -> tuple[str, str]:
    if settings.vary == 0:
        grows = "" if found.radius <= 1 else " |λ| above 1: the answer to one input grows without bound."
        return "One kernel exists.", (
            f"Along each diagonal of the answers all entries agree to {found.spread:.1g}, so the lag alone decides. "
            f"The largest eigenvalue of Ā has length {found.radius:.3f}.{grows}"
        )
    return "No kernel exists.", (
        f"A is another one at every row, so the answer to an input depends on where it stands, not on the lag alone: "
        f"along a diagonal the entries differ by up to {found.spread:.2g}. The kernel of row 0 is wrong by up to "
        f"{found.mismatch:.2g}. A recurrence (or a scan) is still exact: this is the price of a selective update."
    )


def response(found: Schedules) -> None:
    most = float(np.abs(found.response).max()) or 1.0
    places = [str(k) for k in range(len(found.u))]
    heatmap(
        found.response, places, places, key="state_space.response", title="∂ y_t / ∂ u_s, one impulse a column",
        limits=(-most, most), scale="diverging", value="answer", select="none", print_from=9.0, exact=False,
        mask=np.triu(np.ones_like(found.response, dtype=bool), 1),
    )  # fmt: skip
    st.caption("Equal along every diagonal: a convolution. Different along a diagonal: no fixed kernel.")


def table(found: Schedules) -> pd.DataFrame:
    columns = {
        "u": found.u, "K": found.kernel, "x_1": found.states[:, 0], "x_2": found.states[:, 1],
        "recurrence": found.recurrent, "convolution": found.convolved,
    }  # fmt: skip
    return pd.DataFrame(columns, index=pd.RangeIndex(len(found.u), name="position"))
