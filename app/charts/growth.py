"""Growth against length on two logarithmic axes, one line a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from app.charts._figure import dash, figure, symbol, text


@dataclass(frozen=True)
class Growth:
    """One system: the lengths it ran at, the value at each, and the spread around it where there is one."""

    name: str
    lengths: Sequence[int]
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def growth(lines: Sequence[Growth], *, measure: str, unit: str = "", height: int = 340) -> go.Figure:
    """Draw each line; bars from low to high. Raises ValueError when lengths and values do not agree."""
    chart = figure("rows read (log scale)", f"{measure} (log scale)", height)
    for index, line in enumerate(lines):
        if len(line.lengths) != len(line.values):
            raise ValueError(f"{line.name}: {len(line.lengths)} lengths, {len(line.values)} values")
        chart.add_trace(_trace(line, index, unit))
    ticks = sorted({n for line in lines for n in line.lengths})
    chart.update_xaxes(type="log", tickmode="array", tickvals=ticks, ticktext=[f"{n:,}" for n in ticks])
    chart.update_yaxes(type="log", exponentformat="SI", dtick=1)
    return chart


def _trace(line: Growth, index: int, unit: str) -> go.Scatter:
    spread = None
    if line.low is not None and line.high is not None:
        up = [h - v for h, v in zip(line.high, line.values, strict=True)]
        down = [v - low for low, v in zip(line.low, line.values, strict=True)]
        spread = {"type": "data", "array": up, "arrayminus": down, "thickness": 1.2, "width": 3}
    return go.Scatter(
        x=list(line.lengths), y=list(line.values), name=text(line.name, 40), mode="lines+markers", cliponaxis=False,
        line={"dash": dash(index), "width": 2}, marker={"symbol": symbol(index), "size": 8}, error_y=spread,
        hovertemplate="%{fullData.name}<br>%{x:,} rows: %{y:,.4s}" + unit + "<extra></extra>",
    )  # fmt: skip
