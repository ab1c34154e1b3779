"""What every figure shares: transparent ground, small margins, a legend that wraps on a phone, words as plain text."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

# Nothing to drag: a finger that scrolls the page must not zoom a chart.
CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "svg", "filename": "sequence-explorer"},
}
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")


def figure(x_title: str, y_title: str, height: int) -> go.Figure:
    """An empty figure with the common layout; `height` in pixels."""
    empty = go.Figure()
    empty.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 12, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        dragmode=False,
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": None},
    )
    axis = {"automargin": True, "fixedrange": True, "zeroline": False}
    empty.update_xaxes(title={"text": x_title}, showgrid=False, **axis)
    empty.update_yaxes(title={"text": y_title}, **axis)
    return empty


def text(word: str, longest: int = 18) -> str:
    """A visitor's word as Plotly text: markup escaped, control characters made visible, long words shortened."""
    seen = "".join(chr(0x2400 + ord(c)) if ord(c) < 32 else c for c in word)
    seen = seen if seen.strip() else "␣"
    return html.escape(seen if len(seen) <= longest else seen[: longest - 1] + "…", quote=False)


def word_axis(figure: go.Figure, words: Sequence[str], axis: str = "x") -> None:
    """Put words at 0, 1, 2, ... of an axis; the same word may occur twice."""
    ticks = {"tickmode": "array", "tickvals": list(range(len(words))), "ticktext": [text(w) for w in words]}
    update = figure.update_xaxes if axis == "x" else figure.update_yaxes
    update(**ticks)


def column(name: str, values: Sequence[float] | np.ndarray, length: int) -> np.ndarray:
    """`values` as (length,) floats; ValueError when they are not that many."""
    array = np.asarray(values, dtype=float)
    if array.shape != (length,):
        raise ValueError(f"{name} has shape {array.shape}, expected ({length},)")
    return array


def dash(index: int) -> str:
    """Line style number `index`, so that no line is told by colour alone."""
    return DASHES[index % len(DASHES)]


def symbol(index: int) -> str:
    """Marker number `index`."""
    return SYMBOLS[index % len(SYMBOLS)]
