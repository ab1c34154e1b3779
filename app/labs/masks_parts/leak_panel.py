"""Panel 4: does a row hear of later tokens? Replace each, and measure (0x09B, 0x0B.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from app.components import heatmap
from app.experiments.masks.words import loss_told
from app.labs.masks_parts.scene import Scene
from app.labs.masks_parts.settings import check_row, heading
from app.ui import contexts
from app.ui.export import matrix, table_view

if TYPE_CHECKING:
    from app.experiments.masks.leak import Leak

TOLD = (
    "A row that decides token t may read target inputs up to t − 1 and no later one. Each target input is replaced in "
    "turn, and the logits of every earlier row are compared."
)
SAYS = (
    "The largest change of each row's logits when one later input is replaced: exactly what causality forbids.",
    "A closed test does not prove that a model is right, only that no row has seen its answer.",
)
NONE = (
    "No left-to-right boundary.",
    "An encoder alone reads both sides by design, so a later row may move an earlier one. What it must not see is the "
    "hidden piece itself, and that is not among its inputs: a mask token stands there.",
)


def leak_panel(scene: Scene) -> Leak | None:
    heading(4, "Does the future leak?", TOLD)
    found = scene.leak
    if found is None:
        st.html(contexts.note(*NONE))
        st.html(contexts.figures(figures(scene)))
        return None
    # All zero without a leak: the picture would only cost bytes, the table below has the numbers.
    left, right = st.columns([1.15, 1], gap="large") if found.leaks else (None, st.container())
    if left is not None:
        with left:
            picture(scene, found)
    with right:
        st.html(contexts.figures(figures(scene)))
        check_row([found.check])
        st.html(contexts.note(*loss_told(scene.run, scene.request, found)))
    st.html(contexts.says(*SAYS))
    table_view(table(scene, found), "Change of each row's logits")
    return found


def picture(scene: Scene, found: Leak) -> None:
    most = max(float(np.triu(found.moved, 1).max()), 1.0)
    heatmap(
        found.moved, scene.request.decisions, scene.request.given, key="masks.leak",
        title="Change of a row's logits when a later input is replaced", mask=np.tri(len(found.moved), dtype=bool),
        limits=(0.0, most), value="largest change", row_role="target", column_role="target", select="none",
        exact=False, print_from=0.05,
    )  # fmt: skip


def figures(scene: Scene) -> list[tuple[str, str, str]]:
    """Teacher-forced loss before and after, over the rows whose loss counts."""
    rows = list(scene.request.scored)
    before, after = (-float(one[rows].mean()) for one in (scene.run.log_before, scene.run.log_after))
    return [
        ("Teacher-forced loss before", f"{before:.3f}", "nats a token, own relations"),
        ("Loss after", f"{after:.3f}", f"{after - before:+.3f}".replace("-", "−")),
    ]


def table(scene: Scene, found: Leak) -> pd.DataFrame:
    """Rows by replaced inputs; the lower triangle is what a row may hear of."""
    return matrix(found.moved, list(scene.request.decisions), list(scene.request.given))
