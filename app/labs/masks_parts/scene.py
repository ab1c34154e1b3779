"""What every panel looks at: one request of one family under the relations that hold now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.experiments.masks import options
from app.experiments.masks.options import Empty
from app.labs.masks_parts import work
from app.labs.masks_parts.settings import Settings
from app.ui import contexts
from app.ui.page import Page

if TYPE_CHECKING:
    from app.experiments.masks.leak import Leak
    from app.experiments.masks.relations import Relations
    from app.experiments.masks.request import Ask, Request
    from app.experiments.masks.run import Run

EMPTY_HELP = (
    "A softmax over nothing has no value. With this, such a row reads the zero vector; its residual stays."
)


@dataclass(frozen=True)
class Scene:
    """The request, its relations, and how to run it. Results are computed on first use and cached for everybody."""

    ask: Ask
    request: Request
    relations: Relations
    chosen: tuple[tuple[str, str], ...]
    empty: Empty
    layer: int  # from 0, of the pictures
    read: str  # the relation whose weights are shown

    @property
    def run(self) -> Run:
        return work.run(self.ask, self.chosen, self.empty)

    @property
    def leak(self) -> Leak | None:
        return work.leak(self.ask, self.chosen, self.empty)


def look(page: Page[Settings], sentence: str) -> Scene:
    """The scene of the page's settings. Raises CheckpointError and Refused, with a sentence."""
    settings = page.settings
    fills = not options.translates(settings.family)
    ask = work.ask_for(
        settings.family,
        sentence,
        "" if fills else settings.target.strip(),
        settings.hidden if fills else None,
    )
    request = work.request(ask)
    chosen = tuple((name, text) for name, text in settings.chosen if name in request.own)
    return Scene(
        ask, request, work.relations(ask, chosen), chosen, "zero" if settings.empty else "error",
        min(settings.layer, request.layers) - 1, settings.shown(request.own),
    )  # fmt: skip


def sides(scene: Scene) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Where the grids and the weights stand: one grid beside its weights, three above them."""
    if len(scene.request.own) > 1:
        return st.container(), st.container()
    left, right = st.columns([1.15, 1], gap="large")
    return left, right


def readable(page: Page[Settings], scene: Scene) -> bool:
    """Whether the model can run: a row with nothing to read is named, and stops it unless it may output zero."""
    rows = scene.relations.empty
    if not rows:
        return True
    st.toggle("Output zero for a row that may read nothing", key=page.key("empty"), help=EMPTY_HELP)
    first = rows[0]
    where = scene.request.row_name(first.relation, first.row)
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    what = (
        f"Row {where} of the {options.RELATIONS[first.relation].short} relation has no visible key in layer "
    )
    text = f"{what}{first.layer + 1}{more}, so its softmax has nothing to sum over."
    if scene.empty == "zero":
        st.html(
            contexts.note(
                "It outputs zero.", f"{text} It reads the zero vector here, and its residual stays."
            )
        )
        return True
    st.html(
        contexts.note("The model was not run.", f"{text} Open a cell of that row, or let it output zero.")
    )
    return False
