"""Training as it was logged: loss, gradient norm, tokens a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from app.charts._figure import column, dash, figure, text


@dataclass(frozen=True)
class Curve:
    """One line of a training log: x (N,) steps or hours, y (N,) values. points=True: markers (validation)."""

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    points: bool = False


def training_curve(
    curves: Sequence[Curve],
    *,
    x_title: str = "step",
    y_title: str = "loss",
    log: bool = False,
    height: int = 320,
) -> go.Figure:
    """Curves over training. Raises ValueError when an x and its y differ in length."""
    chart = figure(x_title, y_title, height)
    for index, curve in enumerate(curves):
        across = np.asarray(curve.x, dtype=float)
        trace = go.Scatter(
            x=across,
            y=column(curve.name, curve.y, len(across)),
            name=text(curve.name, 40),
            mode="lines+markers" if curve.points else "lines",
            line={"width": 2, "dash": dash(index)},
            hovertemplate=f"%{{fullData.name}}<br>{x_title} %{{x:,}}: %{{y:.4g}}<extra></extra>",
        )
        chart.add_trace(trace)
    chart.update_yaxes(type="log" if log else "linear")
    return chart
