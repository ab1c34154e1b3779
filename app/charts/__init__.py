"""Charts that change seldom: plain arrays and labels in, a Plotly figure out. No torch, no streamlit.

Colours are left to the template (`st.plotly_chart(figure, theme="streamlit", config=CONFIG)` takes them from the
theme, light or dark) unless the caller gives some.
"""

from __future__ import annotations

from app.charts._figure import CONFIG
from app.charts.growth import Growth, growth
from app.charts.importance import importance_scatter, rank_comparison
from app.charts.quality import Line, quality_by_length
from app.charts.states import channel_difference, state_bytes, state_travel
from app.charts.training import Curve, training_curve

__all__ = [
    "CONFIG",
    "Curve",
    "Growth",
    "Line",
    "channel_difference",
    "growth",
    "importance_scatter",
    "quality_by_length",
    "rank_comparison",
    "state_bytes",
    "state_travel",
    "training_curve",
]
