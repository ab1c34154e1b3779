"""Panel 1: the relations that the family really has, each a grid that can be painted (0x09A to 0x09D)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from app.components.mask_grid import mask_grid
from app.experiments.masks import grids, options
from app.labs.masks_parts.settings import Settings, heading
from app.ui import contexts
from app.ui.page import Page

if TYPE_CHECKING:
    from app.experiments.masks.relations import Relations
    from app.experiments.masks.request import Request

TOLD = (
    "Query rows stand vertically, key columns horizontally; a filled cell may be read. Click or drag to paint, shift "
    "click to fill a rectangle, click a token to open or close its line. When the hand lifts, the real model runs."
)
SAYS = (
    "Each grid is one relation that this family owns, and what its softmaxes get: structure and key validity together.",
    "A filled cell permits a read; whether it is used is for the weights below. Painted relations were not trained.",
)
ONE = "One stack reads one stream: source and target rows share a grid. Target inputs start at BOS."
THREE = (
    "Three reads, three relations: source rows build the memory, target rows read their own past, and each target row "
    "reads the memory. Causality belongs to the target grid alone; no order of the target applies along the source."
)
ALONE = (
    "An encoder alone: one relation, and no target. One piece is hidden; its row has to say what stood there."
)


def grid_panel(page: Page[Settings], request: Request, found: Relations) -> None:
    heading(1, "Who may read whom", TOLD)
    st.html(contexts.note(request.title, told(request)))
    names = list(request.own)
    places = st.columns(len(names), gap="medium") if len(names) > 1 else [st.container()]
    for place, name in zip(places, names, strict=True):
        with place:
            one_grid(page, request, found, name)
    for sentence in found.told:
        st.html(contexts.note("Left out.", sentence))
    own_layers(page, names)
    st.html(contexts.says(*SAYS))


def told(request: Request) -> str:
    kind = ALONE if request.encoder_only else ONE if "stream" in request.own else THREE
    return " ".join(filter(None, [kind, request.note]))


def one_grid(page: Page[Settings], request: Request, found: Relations, name: str) -> None:
    known, layer = options.RELATIONS[name], page.settings.paints
    title, _, _ = known.title.partition(":")
    code = grids.at(page.settings.painted(name), layer)
    presets(page, request, name, code)
    rows, columns = request.labels(name)
    split = len(request.pieces) if name == "stream" else None
    where = f"layer {layer}" if layer else "all layers"
    mask = found.used[name][layer - 1] if layer else found.everywhere[name]
    mask_grid(
        mask, rows, columns, key=f"masks.grid.{request.ask.slug}.{name}.{layer}",
        title=f"{title}, {where}", own=request.own[name], group=f"masks:{name}", row_role=known.rows,
        column_role=known.columns, source_rows=split, source_columns=split, on_paint=painter(page, name, layer),
    )  # fmt: skip


def painter(page: Page[Settings], name: str, layer: int) -> Callable[[np.ndarray], None]:
    """What a finished stroke does: its bits become the relation of the painted layers."""

    def paint(mask: np.ndarray) -> None:
        put(page, name, layer, grids.pack(mask))

    return paint


def put(page: Page[Settings], name: str, layer: int, code: str | None) -> None:
    page.put(name, grids.write(grids.put(page.settings.painted(name), layer, code)))


def presets(page: Page[Settings], request: Request, name: str, code: str | None) -> None:
    """Buttons above a grid, and the slider of the preset that holds now."""
    rows, columns = request.own[name].shape
    now, number = grids.preset_of(code)
    with st.container(horizontal=True, gap="small", key=f"masks-presets-{name}"):
        for preset, title, help_ in offered(name):
            start = options.number_of(preset, name, rows, columns, len(request.pieces))
            st.button(
                title, key=f"masks.preset.{name}.{preset}", help=help_, on_click=put,
                type="primary" if preset == now else "secondary",
                args=(page, name, page.settings.paints, grids.coded(preset, start)),
            )  # fmt: skip
    if number is not None:
        slider(page, name, now, number, grids.limits(now, rows, columns)[:2])


def offered(name: str) -> list[tuple[str, str, str]]:
    """(preset, title, what it does) for a relation; the cross read has no prefix of its own rows."""
    told = [(preset, one.title, one.told) for preset, one in grids.PRESETS.items()]
    if name == "cross":
        told = [(p, "Cross full" if p == "full" else t, d) for p, t, d in told if p != "prefix"]
    return [("own", "The model's own", "What this family was trained with."), *told]


def slider(page: Page[Settings], name: str, preset: str, number: int, ends: tuple[int, int]) -> None:
    """The number of a preset. Its value comes from the painted text, which is what the link holds."""
    key, layer = f"masks.number.{name}.{preset}", page.settings.paints
    st.session_state[key] = min(max(number, ends[0]), ends[1])

    def moved() -> None:
        put(page, name, layer, grids.coded(preset, st.session_state[key]))

    st.slider(grids.PRESETS[preset].number or "", *ends, key=key, on_change=moved)


def own_layers(page: Page[Settings], names: list[str]) -> None:
    """Layers whose relation differs from what is painted for all."""
    apart = sorted({n for name in names for n in page.settings.painted(name) if n != grids.ALL})
    if apart and page.settings.paints == grids.ALL:
        listed = ", ".join(map(str, apart))
        text = "Painting all layers replaces that."
        st.html(contexts.note(f"A relation of its own in layer {listed}.", text))
