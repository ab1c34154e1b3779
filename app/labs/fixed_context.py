"""What crosses from the encoder to the decoder, and what is lost when it is one vector?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.experiments import fixed_context as lab
from app.experiments.fixed_context import export, pair, quality
from app.labs.fixed_panels.crossing import crossed, crossing_panel
from app.labs.fixed_panels.figures import quality_panel
from app.labs.fixed_panels.numbers import fitting, read_panel
from app.labs.fixed_panels.sentences import pair_panel, summarised, travelled
from app.labs.fixed_panels.settings import CELLS, Settings
from app.labs.fixed_panels.transplant import count_pieces, transplant_panel
from app.ui import contexts
from app.ui.errors import guarded
from app.ui.export import export_panel
from app.ui.page import Page, open_page
from app.ui.sentence import check_sentence
from app.ui.sentence_box import checked, sentence_box
from models.catalog import entry


def controls(page: Page[Settings]) -> Settings:
    """The two boxes and the systems; widgets that stand beside their picture are read from the session."""
    sentence = sentence_box(page)
    other = second_box(page, sentence)
    names = ("scale", "width", "order", "host", "summary_part", "stack_part", "row", "donor")
    beside: dict[str, Any] = {name: st.session_state[page.key(name)] for name in names}
    systems = st.pills(
        "Systems", lab.SYSTEMS, selection_mode="multi", key=page.key("systems"),
        format_func=lambda slug: entry(slug).title, label_visibility="collapsed",
    )  # fmt: skip
    chosen = tuple(slug for slug in lab.SYSTEMS if slug in systems)
    h, alpha = (fitting(page, field) for field in CELLS)
    return Settings(sentence=sentence, other=other, systems=chosen, h=h, alpha=alpha, **beside)


def second_box(page: Page[Settings], sentence: str) -> str:
    """The box for B. It follows A until the visitor writes in it; "" stands for following."""
    key, made = page.key("other"), pair.counterpart(sentence)
    followed = page.settings.other == "" and page.settings.sentence != sentence
    if followed or not st.session_state[key].strip():
        st.session_state[key] = made
    typed = sentence_box(page, "other", "Sentence B")
    return "" if typed == made else typed


def panels(page: Page[Settings], a: str, b: str) -> export.Found:
    """The panels that run the systems, each guarded: one that fails says so and the others stand."""
    slugs = page.settings.systems
    made: dict[str, Any] = dict.fromkeys(("crossings", "summaries", "travel", "transplanted"))
    with page.pending(900):
        count_pieces(a)
        with guarded("What crosses"):
            made["crossings"] = crossed(slugs, a)
    if made["crossings"] is not None:
        with guarded("What crosses"):
            crossing_panel(page, made["crossings"])
    with guarded("The comparison"):
        made["summaries"], made["travel"] = summarised(slugs, a, b), travelled(slugs, a, b)
        pair_panel(page, made["summaries"], made["travel"])
    stored = quality.quality(slugs)
    with guarded("The test figures"):
        quality_panel(stored)
    made["transplanted"] = transplant_panel(page, a, b)
    return export.Found(quality=stored, mixed=read_panel(page), **made)


def export_all(page: Page[Settings], a: str, b: str, found: export.Found) -> None:
    settings = page.settings
    lines = export.python_lines(settings.systems, a, b, found, settings.part, settings.h, settings.alpha)
    with page.export, guarded("The export"):
        export_panel(
            "fixed-context", tables=export.tables(found), numbers=export.numbers(a, b, found), python=lines
        )


page = open_page("fixed_context", Settings)
st.html(contexts.sheet())
with page.controls():
    page.commit(controls(page))
    first = checked(page.settings.sentence, count_pieces)
    second = check_sentence(page.settings.other or pair.counterpart(first.text), count_pieces)
if first.problem is None and second.problem is not None:
    st.html(contexts.note("Sentence B:", second.problem))
if first.problem is None and second.problem is None:
    if not page.settings.systems:
        st.html(contexts.note("Choose at least one system above.", ""))
    export_all(page, first.text, second.text, panels(page, first.text, second.text))
page.close()
