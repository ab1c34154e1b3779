"""Panel 5: what can reach a decision through all layers, next to what does (0x05, 0x09)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from app.components import heatmap
from app.labs.masks_parts import work
from app.labs.masks_parts.scene import Scene
from app.labs.masks_parts.settings import heading
from app.ui import contexts, markup
from app.ui.cache import queue
from app.ui.export import matrix, table_view

if TYPE_CHECKING:
    from app.experiments.masks.reach import Reached

TOLD = (
    "Left: a path exists from the input row to the decision, through the open cells of every layer and the residuals. "
    "Right: how far the decision really moves with that row's embedding, the norm of the derivative on this model."
)
SAYS = (
    "Reachability follows from the grids alone; influence is differentiated through the real model, by four random "
    "probes a row: zero is exact, sizes are estimates.",
    "A reachable row need not be used, and a derivative tells of small changes of an embedding, not of other words.",
)


def reach_panel(scene: Scene) -> Reached:
    heading(5, "What can reach a decision, and what does", TOLD)
    args = (scene.ask, scene.chosen, scene.empty)
    found = queue().run(work.reached, *args, label="Differentiating ...", reports=True)
    left, right = st.columns(2, gap="large")
    with left:
        draw(
            scene,
            found.allowed.astype(float),
            ~found.allowed,
            "masks.reach",
            "Reachable after all layers",
            1.0,
        )
    with right:
        most = float(found.measured.max()) or 1.0
        closed = ~found.allowed & (found.fault == 0)
        draw(scene, found.measured, closed, "masks.influence", "Measured influence", most, found.fault > 0)
    st.html(markup.checks([check(found)]))
    st.html(
        contexts.note(
            f"{found.used:.0%} of the reachable pairs", "have at least a hundredth of the largest influence."
        )
    )
    st.html(contexts.says(*SAYS))
    table_view(table(scene, found), "Measured influence")
    return found


def draw(
    scene: Scene,
    values: np.ndarray,
    mask: np.ndarray,
    key: str,
    title: str,
    most: float,
    fault: np.ndarray | None = None,
) -> None:
    """Decisions by input rows; `fault` cells are marked."""
    request = scene.request
    heatmap(
        values, request.decisions, request.inputs, key=key, title=title, group="masks:reach", mask=mask,
        limits=(0.0, most), value="influence" if fault is not None else "reachable", changed=fault, select="none",
        source_columns=len(request.pieces), exact=False, print_from=1e9,
        row_role="source" if request.encoder_only else "target",
    )  # fmt: skip


def check(found: Reached) -> markup.Check:
    """Red where anything was measured outside what the relations allow."""
    worst = float(found.fault.max())
    told = f"{int((found.fault > 0).sum())} pairs moved although no path exists: a fault of the program."
    return markup.Check("no influence outside reach", worst == 0.0, markup.worst(worst), told)


def table(scene: Scene, found: Reached) -> pd.DataFrame:
    """Decisions by input rows."""
    return matrix(found.measured, list(scene.request.decisions), scene.request.inputs)
