"""Panel 4: the decoder runs on A with a part of what B gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from app.components import token_strip
from app.experiments import fixed_context as lab
from app.experiments.fixed_context import words
from app.labs.fixed_panels.settings import Settings, check_row, heading
from app.ui import contexts
from app.ui.cache import results
from app.ui.errors import guarded
from app.ui.page import Page
from models.catalog import entry

if TYPE_CHECKING:
    from app.experiments.fixed_context.transplant import Transplanted


@results(max_entries=128)
def transplanted(slug: str, a: str, b: str, part: str, row: int | None, donor: int | None) -> Transplanted:
    from app.experiments.fixed_context.transplant import transplant

    return transplant(slug, a, b, part, row, donor)


def count_pieces(sentence: str) -> int:
    from app.experiments.fixed_context.common import count_pieces as count

    return count(sentence)


def transplant_panel(page: Page[Settings], sentence: str, other: str) -> Transplanted | None:
    heading(4, "Transplant", words.TRANSPLANT)
    settings = page.settings
    st.pills(
        "System", lab.SYSTEMS, key=page.key("host"), required=True, format_func=lambda slug: entry(slug).title,
        label_visibility="collapsed",
    )  # fmt: skip
    with guarded("The transplant"):
        rows = inside(page, "row", sentence), inside(page, "donor", other)
        found = transplanted(settings.host, sentence, other, settings.part, *rows)
        choose_part(page, found)
        for number, one in enumerate(found.outputs):
            token_strip(
                one.axis.pieces, one.log_probs, spans=one.axis.words, changed=one.changed,
                key=f"fixed_context.out.{number}", title=words.output_title(found, number),
            )  # fmt: skip
        st.html(contexts.note(*words.outcome(found)))
        check_row(found.checks)
        st.html(contexts.says(*words.TRANSPLANT_SAYS))
        return found
    return None


def inside(page: Page[Settings], field: str, sentence: str) -> int | None:
    """The chosen source row where `sentence` has it."""
    value = getattr(page.settings, field)
    if value is not None and value > count_pieces(sentence):
        page.put(field, value := None)
    return value


def choose_part(page: Page[Settings], found: Transplanted) -> None:
    """Which part is moved: of a summary by name, of a memory by row."""
    if found.rows is None:
        field = "stack_part" if found.slug == "lstm_seq2seq" else "summary_part"
        names = lab.PARTS[found.slug]
        st.segmented_control(
            "From B", tuple(names), key=page.key(field), format_func=names.__getitem__, required=True
        )
        return
    columns = st.columns(2)
    for column, field, axis, row, label in zip(
        columns, ("row", "donor"), (found.a, found.b), found.rows,
        ("Row of A that is replaced", "Row of B that takes its place"), strict=True,
    ):  # fmt: skip
        names = [f"{k + 1} · {piece}" for k, piece in enumerate(axis.pieces)]
        column.selectbox(
            label, range(len(names)), index=None, key=page.key(field), format_func=names.__getitem__,
            placeholder=f"where the edit is: {names[row]}",
        )  # fmt: skip
