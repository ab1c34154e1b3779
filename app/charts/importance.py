"""Attention weights beside other measures of importance (0x04J): does the ranking agree?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from app.charts._figure import column, dash, figure, symbol, text, word_axis


def importance_scatter(
    words: Sequence[str],
    weights: Sequence[float] | np.ndarray,
    measures: Mapping[str, Sequence[float] | np.ndarray],
    *,
    correlations: Mapping[str, float] | None = None,
    height: int = 360,
) -> go.Figure:
    """Each source word: its weight (S,) to the right, its importance by each measure (S,) upwards.

    Each measure is divided by its largest magnitude, so that both fit one axis; the tooltip gives the raw value.
    correlations: rank correlation with the weights by measure, written into the legend.
    Raises ValueError when lengths do not agree.
    """
    chart = figure("attention weight", "importance (share of its largest)", height)
    across = column("weights", weights, len(words))
    for index, (name, values) in enumerate(measures.items()):
        raw = column(name, values, len(words))
        note = "" if correlations is None else f" (rank correlation {correlations[name]:.2f})"
        chart.add_trace(_points(across, raw, [text(w) for w in words], f"{text(name, 40)}{note}", index))
    chart.update_xaxes(showgrid=True, rangemode="tozero")
    return chart


def _points(across: np.ndarray, raw: np.ndarray, words: list[str], name: str, index: int) -> go.Scatter:
    return go.Scatter(
        x=across,
        y=raw / (np.abs(raw).max() or 1.0),
        name=name,
        mode="markers+text" if index == 0 else "markers",
        text=words,
        textposition="top center",
        cliponaxis=False,
        marker={"symbol": symbol(index), "size": 10, "opacity": 0.85},
        customdata=raw,
        hovertemplate="%{text}<br>weight %{x:.3f}, value %{customdata:.4g}<extra></extra>",
    )


def rank_comparison(
    words: Sequence[str], measures: Mapping[str, Sequence[float] | np.ndarray], *, height: int = 360
) -> go.Figure:
    """Rank of each source word (1 = most important, ties share a mean rank) by each measure: crossing lines disagree.

    Raises ValueError when lengths do not agree.
    """
    chart = figure("", "rank", max(height, 60 + 24 * len(words)))
    names = list(measures)
    table = np.stack([ranks(column(name, measures[name], len(words))) for name in names])  # (M, S)
    for position, word in enumerate(words):
        trace = go.Scatter(
            x=np.arange(len(names)),
            y=table[:, position],
            name=text(word),
            mode="lines+markers+text",
            text=[text(word)] + [""] * (len(names) - 2) + [text(word)] * (len(names) > 1),
            textposition=["middle left"] + ["middle right"] * (len(names) - 1),
            cliponaxis=False,
            line={"width": 2, "dash": dash(position // 8)},
            marker={"size": 8},
            hovertemplate="%{fullData.name}: rank %{y}<extra></extra>",
        )
        chart.add_trace(trace)
    word_axis(chart, names)
    chart.update_xaxes(range=[-0.9, len(names) - 0.1], side="top")
    chart.update_yaxes(range=[len(words) + 0.5, 0.5], showgrid=False, dtick=max(1, len(words) // 12))
    return chart.update_layout(showlegend=False)


def ranks(values: np.ndarray) -> np.ndarray:
    """Descending ranks (S,) from 1; equal values share the mean of their places."""
    above = (values[None, :] > values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return above + (equal + 1) / 2
