"""Panel 3: every decision before and after, and the tokens whose probability moved most."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from app.labs.masks_parts.scene import Scene
from app.labs.masks_parts.settings import Settings, heading
from app.ui import contexts, decision
from app.ui.decision import Column
from app.ui.export import table_view
from app.ui.page import Page

TOLD = (
    "Every row is decided by a distribution over the vocabulary. Before: under the model's own relations. After: under "
    "those above. Nothing else differs."
)
SAYS = (
    "The probability of the right token at each row, and for one row the tokens whose probability moved most.",
    "A changed distribution tells that the model depends on the cell, not which of both outputs is right.",
)


def moved_panel(page: Page[Settings], scene: Scene) -> None:
    heading(3, "What is decided", TOLD)
    run, request = scene.run, scene.request
    row = chosen(page, scene)
    st.html(contexts.note(*outcome(scene)))
    left, right = st.columns(2, gap="large")
    with left:
        st.html(
            decision.bars(
                "The right token of every row", "Row decides", numbered(request.decisions),
                [Column("p before", np.exp(run.log_before).tolist(), "source", limit=1.0),
                 Column("p after", np.exp(run.log_after).tolist(), "decision", limit=1.0),
                 Column("moved", run.distance.tolist(), "target", limit=1.0)],
                marked=row, role="target",
            )
        )  # fmt: skip
    with right:
        pick(page, scene)
        moves = run.moves[row]
        st.html(
            decision.bars(
                f"Row {row + 1}: tokens that moved most", "Token", [one.token for one in moves],
                [Column("p before", [one.before for one in moves], "source", limit=1.0),
                 Column("p after", [one.after for one in moves], "decision", limit=1.0)],
                role="target",
            )
        )  # fmt: skip
    st.html(contexts.says(*SAYS))
    table_view(table(scene), "Every row before and after")


def numbered(labels: tuple[str, ...]) -> list[str]:
    return [f"{place + 1} · {label}" for place, label in enumerate(labels)]


def chosen(page: Page[Settings], scene: Scene) -> int:
    """The row that is looked at: the visitor's, or the one that moved most (a hidden one where none did)."""
    row = page.settings.row
    if row is not None and row < len(scene.request.decisions):
        return row
    if row is not None:
        page.put("row", None)
    moved = scene.run.distance
    return int(moved.argmax()) if moved.max() > 1e-6 else scene.request.scored[0]


def pick(page: Page[Settings], scene: Scene) -> None:
    names = numbered(scene.request.decisions)
    st.selectbox(
        "Row", list(range(len(names))), index=None, key=page.key("row"), width=260, format_func=names.__getitem__,
        placeholder="the one that moved most",
    )  # fmt: skip


def outcome(scene: Scene) -> tuple[str, str]:
    """What became of the greedy choices, in a sentence."""
    run, request = scene.run, scene.request
    if not scene.relations.changed:
        return "Before and after are the same.", "These are the model's own relations. Paint a cell above."
    rows = [k for k in range(len(request.decisions)) if run.distance[k] > 0.01]
    other = [k for k in rows if run.said[k] != request.decisions[k] and run.log_before[k] > np.log(0.5)]
    moved = f"{len(rows)} of {len(request.decisions)} distributions moved by more than 0.01"
    return f"{moved}.", f"{len(other)} tokens that were likelier than not are no longer the first choice."


def table(scene: Scene) -> pd.DataFrame:
    """One line a row: log-probability of the right token before and after, distance, and the first choice now."""
    run = scene.run
    columns = {
        "log p before": run.log_before,
        "log p after": run.log_after,
        "moved": run.distance,
        "says": run.said,
    }
    return pd.DataFrame(columns, index=pd.Index(numbered(scene.request.decisions), name="row"))
