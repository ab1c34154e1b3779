"""Panel 2: what a trained selective layer decides about each row of the visitor's sentence (0x0C.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from app.components import heatmap
from app.components.tracks import Curve, Track, tracks
from app.labs.state_panels.settings import EDITS, Settings, check_row, heading
from app.ui import contexts, markup
from app.ui.cache import results
from app.ui.errors import guarded
from app.ui.export import matrix, table_view
from app.ui.page import Page

if TYPE_CHECKING:
    from app.experiments.state_space.selective import Edited, LayerView, Selection

TOLD = (
    "Mamba reads your sentence and writes its translation in one stream. At every row it chooses a step Δ, what to "
    "write (B) and what to read (C): a large Δ forgets what was there and takes this row in, a small one passes it by."
)
SAYS = (
    "Δ, writing and reading are means over the channels of one layer. Survival is the product of Ā between two rows: "
    "the share of what row s put into the state that is still there after row t.",
    "That something survives does not say it is used: compare it with the influence, which is measured on the whole "
    "system, and passes through every layer.",
)


@results(max_entries=64)
def selected(sentence: str) -> Selection:
    from app.experiments.state_space.selective import selection

    return selection(sentence)


@results(max_entries=128)
def after_edit(sentence: str, token: int, edit: str) -> Edited:
    from app.experiments.state_space.selective import edited

    return edited(sentence, token, edit)


def selective_panel(page: Page[Settings], sentence: str) -> Selection:
    heading(2, "A selective update", TOLD)
    found = selected(sentence)
    st.html(markup.card_title("Mamba", f"{found.nbytes:,} bytes of state, whatever the length"))
    st.html(markup.output(found.output))
    layers = [str(k + 1) for k in range(len(found.layers))]
    if page.settings.layer not in layers:
        page.put("layer", "1")
    st.segmented_control("Layer", layers, key=page.key("layer"), required=True)
    view = found.layers[int(page.settings.layer) - 1]
    decided(found, view)
    left, right = st.columns(2, gap="large")
    with left:
        survives(found, view)
    with right:
        moves(found)
    check_row(found.checks)
    with guarded("The edit"):
        edit_panel(page, found, sentence)
    st.html(contexts.says(*SAYS))
    table_view(table(found, view), "What the layer decided, row by row")
    return found


def decided(found: Selection, view: LayerView) -> None:
    shown = [
        Track("Step Δ", (Curve("Δ", view.delta, "state", "stem"),)),
        Track("Written, |Δ u| |B|", (Curve("written", view.write, "source", "stem"),)),
        Track("Read, |C|", (Curve("read", view.read, "target", "stem"),)),
    ]
    tracks(
        shown, key="state_space.decided", title="What each row decides", labels=found.tokens, position="row"
    )


def survives(found: Selection, view: LayerView) -> None:
    later = np.triu(np.ones_like(view.survival, dtype=bool), 1)
    heatmap(
        view.survival, found.tokens, found.tokens, key="state_space.survival", title="Left of row s after row t",
        mask=later, value="survival", row_role="state", column_role="state", select="none", print_from=9.0, exact=False,
        group="state_space",
    )  # fmt: skip


def moves(found: Selection) -> None:
    reach = found.influence == 0
    most = float(found.influence.max()) or 1.0
    heatmap(
        found.influence, found.decisions, found.tokens, key="state_space.influence",
        title="Measured: how far each decision moves with each row", mask=reach, value="influence", limits=(0.0, most),
        column_role="state", select="none", print_from=1e9, exact=False,
    )  # fmt: skip


def edit_panel(page: Page[Settings], found: Selection, sentence: str) -> None:
    places = list(range(found.source - 1))
    if page.settings.token not in (None, *places):
        page.put("token", None)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            "A piece of the sentence", [None, *places], key=page.key("token"), width=260,
            format_func=lambda k: "none" if k is None else f"{k + 1}: {found.tokens[k]}",
        )  # fmt: skip
        st.segmented_control(
            "What happens to it",
            tuple(EDITS),
            key=page.key("edit"),
            format_func=EDITS.__getitem__,
            required=True,
        )
    if page.settings.token is None:
        st.caption("Choose a piece to remove it, or to say it twice, and see how far the states move.")
        return
    after = after_edit(sentence, page.settings.token, page.settings.edit)
    same = "the same as before" if after.output == after.before else "before: " + after.before
    st.html(markup.card_title("After the edit", same))
    st.html(markup.output(after.output))
    st.html(
        contexts.figures(
            [
                (f"Layer {k + 1}", f"{100 * share:.0f}%", "of |x| after the sentence")
                for k, share in enumerate(after.moved)
            ]
        )
    )


def table(found: Selection, view: LayerView) -> pd.DataFrame:
    return matrix(
        np.stack([view.delta, view.write, view.read], axis=1), list(found.tokens), ["step", "written", "read"]
    )
