"""Panel 3: stored test figures by length of the source and by distance of the negation."""

from __future__ import annotations

import streamlit as st

from app.charts import CONFIG, Line, quality_by_length
from app.experiments.fixed_context import export, words
from app.experiments.fixed_context.quality import Quality, Series
from app.labs.fixed_panels.settings import heading
from app.ui import contexts, markup
from app.ui.errors import escape
from app.ui.export import table_view


def quality_panel(found: Quality) -> None:
    heading(3, "Quality against length", words.QUALITY)
    if found.missing:
        st.caption(escape(words.unmeasured(found.missing)))
    for column, (title, series, measure, axis) in zip(
        st.columns(2, gap="large"), words.quality_charts(found), strict=True
    ):
        if series:
            with column:
                st.html(markup.card_title(title))
                draw(series, measure, axis)
                table_view(export.quality_table(found, measure), title)
    st.html(contexts.says(*words.QUALITY_SAYS))


def draw(series: tuple[Series, ...], measure: str, axis: str) -> None:
    """One line a system; a share is drawn in percent from 0 to 100."""
    share = measure == "kept"
    labels, counts, lines = words.buckets(series, 100.0 if share else 1.0)
    made = [Line(name, values) for name, values in lines]
    chart = quality_by_length(
        labels, counts, made, measure="negation kept, %" if share else "BLEU", height=390
    )
    chart.update_xaxes(title_text=axis)
    if share:
        chart.update_yaxes(range=[0, 104], dtick=25)
    st.plotly_chart(chart, key=f"fixed_context.{measure}", config=CONFIG, theme="streamlit")
