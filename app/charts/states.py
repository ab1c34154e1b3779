"""State as pictures: how far an edited word travels through it, and what it weighs in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from app.charts._figure import column, dash, figure, symbol, text, word_axis


def state_travel(
    words: Sequence[str],
    distances: Mapping[str, Sequence[float] | np.ndarray],
    *,
    edited: Sequence[int] = (),
    measure: str = "‖difference of h‖",
    edit_colour: str = "#d9730d",
    height: int = 300,
) -> go.Figure:
    """How much the state after each word differs between two sentences: distances name -> (T,), one line a name.

    edited: positions of the words that differ; they are marked. Raises ValueError when lengths do not agree.
    """
    chart = figure("", measure, height)
    for position in edited:
        chart.add_vrect(
            x0=position - 0.5, x1=position + 0.5, fillcolor=edit_colour, opacity=0.16, line_width=0
        )
    for index, (name, values) in enumerate(distances.items()):
        line = column(name, values, len(words))
        chart.add_trace(_walk(name, line, index, [text(w, 40) for w in words]))
    word_axis(chart, words)
    chart.update_xaxes(range=[-0.5, len(words) - 0.5])
    chart.update_yaxes(rangemode="tozero")
    chart.update_layout(showlegend=len(distances) > 1)
    return chart


def _walk(name: str, values: np.ndarray, index: int, words: list[str]) -> go.Scatter:
    return go.Scatter(
        x=np.arange(len(values)),
        y=values,
        name=text(name, 40),
        mode="lines+markers",
        cliponaxis=False,
        line={"dash": dash(index), "width": 2},
        marker={"symbol": symbol(index), "size": 8},
        customdata=words,
        hovertemplate="%{customdata}<br>%{fullData.name} %{y:.3f}<extra></extra>",
    )


def channel_difference(difference: np.ndarray, words: Sequence[str], *, height: int = 280) -> go.Figure:
    """Signed difference (T, d) of two state sequences: words from left to right, channels from top to bottom.

    Colours: the template's diverging scale around zero. ValueError when `difference` has not one row a word.
    """
    values = np.asarray(difference, dtype=float)
    if values.ndim != 2 or len(values) != len(words):
        raise ValueError(f"difference has shape {values.shape}, expected ({len(words)}, channels)")
    most = float(np.abs(values).max()) or 1.0
    chart = figure("", "channel", height)
    heat = go.Heatmap(
        z=values.T,
        # Plotly takes the diverging scale when both signs occur, a sequential one otherwise.
        autocolorscale=True,
        zmin=-most if (values < 0).any() else 0.0,
        zmax=most if (values > 0).any() or not (values < 0).any() else 0.0,
        colorbar={"thickness": 10, "outlinewidth": 0, "len": 0.9},
        hovertemplate="position %{x}, channel %{y}<br>difference %{z:.3f}<extra></extra>",
    )
    chart.add_trace(heat)
    word_axis(chart, words)
    chart.update_yaxes(autorange="reversed", showgrid=False)
    return chart


def state_bytes(
    lengths: Sequence[int], systems: Mapping[str, Sequence[int] | np.ndarray], *, height: int = 320
) -> go.Figure:
    """Bytes of runtime state kept for a source of each length (L,): grouped bars, one colour a system, log scale.

    Raises ValueError when lengths do not agree.
    """
    chart = figure("source length (tokens)", "bytes kept (log scale)", height)
    for name, sizes in systems.items():
        bars = column(name, sizes, len(lengths))
        hover = "%{fullData.name}<br>length %{x}: %{y:,.0f} bytes<extra></extra>"
        labels = [str(length) for length in lengths]
        chart.add_trace(go.Bar(x=labels, y=bars, name=text(name, 40), hovertemplate=hover))
    chart.update_layout(barmode="group", bargap=0.25, bargroupgap=0.06)
    chart.update_xaxes(type="category")
    chart.update_yaxes(type="log", exponentformat="SI", dtick=1)
    return chart
