"""Gold links over a system's raw weights, while it is made to say the gold French; and the alignment error rate."""

from __future__ import annotations

import streamlit as st

from app.components import heatmap
from app.experiments.alignment import gold
from app.experiments.alignment.reading import Reading
from app.labs.alignment_parts import work
from app.labs.alignment_parts.settings import Settings
from app.ui import decision
from app.ui.page import Page

PAIR = "alignment-pair"
RAW = (
    "The cells are the system's raw weights over this pair, not “the alignment”: a person's links say which words "
    "translate each other, a weight says what was mixed into one step. Recurrent systems often read a row before or "
    "after the word."
)

RATE = (
    "Each French word is linked to its heaviest English word, the end sign left out. "
    "AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|), S sure, P possible links (Och and Ney 2003)."
)


def panel(page: Page[Settings], reading: Reading) -> None:
    chooser(page, reading.ask.sentence)
    found = work.aligned(reading.ask, reading.ask.sentence)
    if found is None:
        st.html(decision.note("This sentence has no gold links. Choose one of the hand-aligned pairs above."))
        return
    left, right = st.columns([1.2, 1], gap="medium")
    with left:
        heatmap(
            found.reading.matrix("words"), found.reading.target.labels("words"), found.reading.source.labels("words"),
            key="alignment.gold.map", title="Raw weights, with the gold links framed", gold=found.gold,
            source_group="alignment:source", mask=found.reading.masked("words"), select="none",
        )  # fmt: skip
        st.html(decision.note(RAW))
    with right:
        figures(found, reading)


def figures(found: gold.GoldMap, reading: Reading) -> None:
    counts = found.counts
    st.html(
        decision.facts(
            [
                ("AER of this pair", f"{counts.error_rate:.3f}", "0 is best"),
                (
                    "AER one row late",
                    f"{found.late_counts.error_rate:.3f}",
                    "linked to the word before the one read",
                ),
                ("links in gold", f"{counts.proposed_and_possible} of {counts.proposed}", "proposed"),
                ("sure links found", f"{counts.proposed_and_sure} of {counts.sure}", ""),
            ]
        )
    )
    st.html(decision.note(RATE))
    rates = gold.stored(reading.ask.choice.slug)
    if rates and not reading.ask.choice.changes:
        rows = [[gold.SETS.get(name, name), f"{rate:.3f}"] for name, rate in rates.items()]
        st.html(decision.table("AER of this system, stored evaluation", ("pairs", "AER"), rows))
    else:
        why = "recombinations are not evaluated" if reading.ask.choice.changes else "not measured yet"
        st.html(decision.note(f"No stored AER for this system: {why}."))


def chooser(page: Page[Settings], sentence: str) -> None:
    """The hand-aligned pairs; a choice becomes the page's sentence."""
    known = [one.english for one in gold.pairs()]
    french = {one.english: one.french for one in gold.pairs()}
    st.session_state[PAIR] = sentence if sentence in known else None
    st.selectbox(
        f"Hand-aligned pairs ({len(known)})", known, key=PAIR, placeholder="Choose a pair",
        format_func=lambda one: f"{one}  ·  {french[one]}",
        on_change=lambda: page.put("sentence", st.session_state[PAIR] or sentence),
    )  # fmt: skip
