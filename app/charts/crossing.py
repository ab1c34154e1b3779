"""Bytes that cross from the encoder to the decoder against source rows, and the share of negations kept by distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from app.charts._figure import column, dash, figure, symbol, text


def bytes_by_rows(
    systems: Mapping[str, tuple[Sequence[int], Sequence[int]]],
    *,
    own: int | None = None,
    log: bool = True,
    height: int = 340,
) -> go.Figure:
    """One line a system: name -> (source rows (P,), bytes (P,)). own: the visitor's sentence, marked.

    Raises ValueError when lengths do not agree.
    """
    chart = figure(
        "source rows (pieces and EOS)", "bytes that cross" + (", log scale" if log else ""), height
    )
    for index, (name, (rows, sizes)) in enumerate(systems.items()):
        chart.add_trace(_line(name, np.asarray(rows), column(name, sizes, len(rows)), index))
    if own is not None:
        label = {"text": "your sentence", "font": {"size": 12}}
        chart.add_vline(
            x=own,
            line={"width": 1.2, "dash": "dot", "color": "#8a94a3"},
            annotation=label,
            annotation_position="top right",
        )
    if log:
        chart.update_yaxes(type="log", exponentformat="SI", dtick=1)
    else:
        chart.update_yaxes(exponentformat="SI", rangemode="tozero")
    return chart


def _line(name: str, rows: np.ndarray, sizes: np.ndarray, index: int) -> go.Scatter:
    return go.Scatter(
        x=rows,
        y=sizes,
        name=text(name, 40),
        mode="lines+markers",
        cliponaxis=False,
        line={"dash": dash(index), "width": 2},
        marker={"symbol": symbol(index), "size": 7},
        hovertemplate="%{fullData.name}<br>%{x} source rows: %{y:,.0f} bytes<extra></extra>",
    )
