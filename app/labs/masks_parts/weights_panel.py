"""Panel 2: what each head of a layer makes of the cells that it may read (0x08)."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from app.components import heatmap
from app.components.heads import heads
from app.experiments.masks import options
from app.labs.masks_parts import work
from app.labs.masks_parts.scene import Scene
from app.labs.masks_parts.settings import Settings, check_row, heading
from app.ui import contexts
from app.ui.export import matrix, table_view
from app.ui.page import Page

TOLD = "All heads of the chosen layer read under the relation above; point at a cell in any picture to find it in all."
SAYS = (
    "Weights of this run after the softmax, a row a query: they sum to one over its open cells and are zero elsewhere.",
    "A weight says how a row mixes values, not what it needs: see the measured influence below.",
)


def weights_panel(page: Page[Settings], scene: Scene) -> None:
    heading(2, "What is read", TOLD)
    if len(scene.request.own) > 1:
        choose_read(page, scene)
    stack = scene.run.weights[scene.read][scene.layer]  # (h, R, C)
    head = min(page.settings.head, len(stack)) - 1
    rows, columns = scene.request.labels(scene.read)
    hidden = ~scene.relations.used[scene.read][scene.layer]
    split = len(scene.request.pieces) if scene.read == "stream" else None
    known = options.RELATIONS[scene.read]
    beside = len(scene.request.own) > 1  # one stream has the grid beside these
    left, right = st.columns(2, gap="large") if beside else (st.container(), st.container())
    with left:
        heads(
            stack, rows, columns, key=f"masks.heads.{scene.ask.slug}", title=f"Layer {scene.layer + 1}, all heads",
            mask=hidden, group=f"masks:{scene.read}", chosen=head, on_choose=lambda n: page.put("head", n + 1),
        )  # fmt: skip
    with right:
        heatmap(
            stack[head], rows, columns, key="masks.weights", title=f"Layer {scene.layer + 1}, head {head + 1}",
            mask=hidden, group=f"masks:{scene.read}", row_role=known.rows, column_role=known.columns, source_rows=split,
            source_columns=split, select="none", exact=False, print_from=0.1,
        )  # fmt: skip
    check_row([*scene.run.checks, work.untouched(scene.ask.slug)])
    st.html(contexts.says(*SAYS))
    table_view(table(page, scene), f"Weights of layer {scene.layer + 1}, head {head + 1}")


def choose_read(page: Page[Settings], scene: Scene) -> None:
    """Which of the family's reads is shown."""
    if page.settings.read != scene.read:
        page.put("read", scene.read)
    names = list(scene.request.own)
    st.segmented_control(
        "Read",
        names,
        key=page.key("read"),
        format_func=lambda name: options.RELATIONS[name].short,
        required=True,
    )


def table(page: Page[Settings], scene: Scene) -> pd.DataFrame:
    """The enlarged head, query rows by key columns."""
    stack: Any = scene.run.weights[scene.read][scene.layer]
    return matrix(stack[min(page.settings.head, len(stack)) - 1], *scene.request.labels(scene.read))
