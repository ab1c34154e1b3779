"""Output quality against source length, one line a system (the figure of Bahdanau et al. 2015, on our test split)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from app.charts._figure import column, dash, figure, symbol, text


@dataclass(frozen=True)
class Line:
    """One system: values (B,) of the measure a length bucket, NaN where nothing was measured.

    spread (B,), optional: half-width of the error bar, in the unit of the measure.
    """

    name: str
    values: Sequence[float] | np.ndarray
    spread: Sequence[float] | np.ndarray | None = None
    colour: str | None = None


def quality_by_length(
    buckets: Sequence[str],
    counts: Sequence[int],
    lines: Sequence[Line],
    *,
    measure: str = "BLEU",
    height: int = 360,
) -> go.Figure:
    """`measure` of each line in each length bucket; the number of sentences n stands under its bucket.

    buckets: labels (B) such as "1-10"; counts (B). Raises ValueError when lengths do not agree.
    """
    sizes = column("counts", np.asarray(counts), len(buckets)).astype(int)
    chart = figure("source length (tokens)", measure, height)
    for index, line in enumerate(lines):
        chart.add_trace(_trace(line, index, sizes, measure))
    labels = [f"{text(bucket)}<br>n = {n:,}" for bucket, n in zip(buckets, sizes, strict=True)]
    chart.update_xaxes(tickmode="array", tickvals=list(range(len(buckets))), ticktext=labels, tickangle=0)
    chart.update_yaxes(rangemode="tozero")
    return chart


def _trace(line: Line, index: int, sizes: np.ndarray, measure: str) -> go.Scatter:
    values = column(line.name, line.values, len(sizes))
    spread = None if line.spread is None else column(line.name, line.spread, len(sizes))
    return go.Scatter(
        x=np.arange(len(sizes)),
        y=values,
        name=text(line.name, 40),
        mode="lines+markers",
        cliponaxis=False,
        line={"dash": dash(index), "width": 2, "color": line.colour},
        marker={"symbol": symbol(index), "size": 8, "color": line.colour},
        error_y=None if spread is None else {"type": "data", "array": spread, "thickness": 1.2, "width": 3},
        customdata=sizes,
        hovertemplate=f"%{{fullData.name}}<br>{measure} %{{y:.1f}}, n = %{{customdata}}<extra></extra>",
    )
