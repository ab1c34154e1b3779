"""What crosses from the encoder to the decoder, and what is lost when it is one vector?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from app.charts import CONFIG, Line, quality_by_length
from app.charts.crossing import bytes_by_rows
from app.components import heatmap, token_strip
from app.components.barcode import barcode
from app.components.blocks import Block, Lane, blocks
from app.experiments import fixed_context as lab
from app.experiments.fixed_context import export, pair, quality, words
from app.ui import contexts, markup
from app.ui.cache import results
from app.ui.errors import escape, guarded
from app.ui.export import export_panel, table_view
from app.ui.page import Page, open_page
from app.ui.sentence import check_sentence, examples
from app.ui.sentence_box import checked, sentence_box
from app.ui.url import choice, choices, text, whole, wholes
from models.catalog import entry

if TYPE_CHECKING:
    from app.experiments.fixed_context.arithmetic import Mixed
    from app.experiments.fixed_context.contexts import Summaries, Summary
    from app.experiments.fixed_context.crossing import Crossing, Crossings
    from app.experiments.fixed_context.transplant import Transplanted
    from app.experiments.fixed_context.travel import Travel
    from app.experiments.run import Check

SCALES = {"log": "Log scale", "linear": "Linear scale"}
ORDERS = {"channel": "Channels in order", "difference": "Largest difference first"}
CELLS = {
    "h": (4, 3, -lab.MOST_H, lab.MOST_H),
    "alpha": (3, 4, 0, 100),
}  # rows, columns, least, most (hundredths)


@dataclass(frozen=True)
class Settings:
    """What the visitor chose. other "": A with or without its "not"; row and donor None: where the edit is."""

    sentence: str = text("s", default="The report was not convincing.")
    other: str = text("t", default="")
    systems: tuple[str, ...] = choices("m", lab.SYSTEMS, default=lab.SYSTEMS, most=len(lab.SYSTEMS))
    scale: str = choice("y", tuple(SCALES), default="log")
    width: str = choice("w", tuple(map(str, lab.WIDTHS)), default="384")
    order: str = choice("o", tuple(ORDERS), default="channel")
    host: str = choice("d", lab.SYSTEMS, default="rnn_encoder_decoder")
    summary_part: str = choice("p", tuple(lab.PARTS["rnn_encoder_decoder"]), default="both")
    stack_part: str = choice("q", tuple(lab.PARTS["lstm_seq2seq"]), default="both")
    row: int | None = whole("r", 0, 127, default=None)
    donor: int | None = whole("k", 0, 127, default=None)
    h: tuple[int, ...] = wholes("h", -lab.MOST_H, lab.MOST_H, default=lab.DEFAULT_H, most=12)
    alpha: tuple[int, ...] = wholes("a", 0, 100, default=lab.DEFAULT_ALPHA, most=12)

    @property
    def part(self) -> str:
        return self.stack_part if self.host == "lstm_seq2seq" else self.summary_part


@results(max_entries=64)
def crossed(slugs: tuple[str, ...], sentence: str) -> Crossings:
    from app.experiments.fixed_context.crossing import crossings

    return crossings(slugs, sentence)


@results(max_entries=64)
def summarised(slugs: tuple[str, ...], a: str, b: str) -> Summaries:
    from app.experiments.fixed_context.contexts import summaries

    return summaries(slugs, a, b, tuple(one.text for one in examples() if one.text not in (a, b)))


@results(max_entries=64)
def travelled(slugs: tuple[str, ...], a: str, b: str) -> Travel:
    from app.experiments.fixed_context.travel import travel

    return travel(slugs, a, b)


@results(max_entries=128)
def transplanted(slug: str, a: str, b: str, part: str, row: int | None, donor: int | None) -> Transplanted:
    from app.experiments.fixed_context.transplant import transplant

    return transplant(slug, a, b, part, row, donor)


def count_pieces(sentence: str) -> int:
    from app.experiments.fixed_context.common import count_pieces as count

    return count(sentence)


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


def fitting(page: Page[Settings], field: str) -> tuple[int, ...]:
    """The numbers of a link only where they fill the grid."""
    value, (rows, columns, _, _) = getattr(page.settings, field), CELLS[field]
    if len(value) == rows * columns:
        return value
    st.caption(
        f"This link gives {len(value)} numbers for a {rows} × {columns} grid, so the article's are used."
    )
    return getattr(Settings(), field)


def inside(page: Page[Settings], field: str, sentence: str) -> int | None:
    """The chosen source row where `sentence` has it."""
    value = getattr(page.settings, field)
    if value is not None and value > count_pieces(sentence):
        page.put(field, value := None)
    return value


def heading(number: int, title: str, told: str) -> None:
    st.html(contexts.section(number, title, told))


def check_row(found: tuple[Check, ...]) -> None:
    shown = [markup.Check(c.label, c.passed, f"{c.value:.1g}", c.explanation) for c in found]
    st.html(markup.checks(shown))


def crossing_panel(page: Page[Settings], found: Crossings) -> None:
    heading(1, "What crosses", words.CROSSING)
    for one in found.missing:
        st.caption(escape(one.sentence))
    if not found.systems:
        return
    lanes = [
        Lane(one.title, words.lane(one), tuple(Block(**asdict(g)) for g in one.groups))
        for one in found.systems
    ]
    blocks(lanes, key="fixed_context.blocks", title="Everything the decoder has of your sentence, to scale")
    left, right = st.columns([3, 2], gap="large")
    with left:
        byte_chart(page, found)
    with right:
        widening(page, found.systems)
    check_row(tuple(c for one in found.systems for c in named(one)))
    st.html(contexts.says(*words.CROSSING_SAYS))
    table_view(export.crossing_table(found), "tensors that cross")


def named(one: Crossing) -> tuple[Check, ...]:
    return words.with_name(one.title, one.checks)


def byte_chart(page: Page[Settings], found: Crossings) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.html(markup.card_title("Bytes against the length of the source"))
        st.segmented_control(
            "Scale", tuple(SCALES), key=page.key("scale"), format_func=SCALES.__getitem__, required=True,
            label_visibility="collapsed",
        )  # fmt: skip
    lines = {one.title: tuple(zip(*one.points, strict=True)) for one in found.systems}
    chart = bytes_by_rows(lines, own=found.rows, log=page.settings.scale == "log")  # pyright: ignore[reportArgumentType]
    st.plotly_chart(chart, key="fixed_context.bytes", config=CONFIG, theme="streamlit")
    table_view(export.bytes_table(found), "bytes by source rows", digits=0)


def widening(page: Page[Settings], systems: tuple[Crossing, ...]) -> None:
    from app.experiments.fixed_context.widening import widened

    st.html(markup.card_title("A wider c is still one row"))
    st.select_slider("Channels of c", tuple(map(str, lab.WIDTHS)), key=page.key("width"))
    wide = widened(int(page.settings.width))
    lanes = [Lane("c", words.wide_notes(wide), (Block(**words.wide_block(wide, systems)),))]
    memory = words.memory(systems)
    if memory is not None:
        one, group = memory
        lanes.append(Lane(f"H of {one.title}", words.memory_notes(group), (Block(**asdict(group)),)))
    blocks(lanes, key="fixed_context.wide", title="")
    st.html(contexts.note(*words.widening(wide, memory)))


def pair_panel(page: Page[Settings], found: Summaries, moved: Travel) -> None:
    heading(2, "Two sentences, one edit", words.PAIR)
    if moved.columns:
        st.html(contexts.pair(*words.marked(moved)))
    st.segmented_control(
        "Order", tuple(ORDERS), key=page.key("order"), format_func=ORDERS.__getitem__, required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    for one in found.missing:
        st.caption(escape(one.sentence))
    for one in found.systems:
        summary(page, one)
    if moved.lines:
        travel_map(moved)
    check_row((*(c for one in found.systems for c in words.with_name(one.title, one.checks)), *moved.checks))
    st.html(contexts.says(*words.PAIR_SAYS))


def summary(page: Page[Settings], one: Summary) -> None:
    with st.container(border=True, key=f"fixed_context-summary-{one.slug}"):
        st.html(contexts.figures(words.summary_figures(one)))
        barcode(
            one.a, one.b, key=f"fixed_context.code.{one.slug}", title=f"{one.title}: all channels that cross",
            parts=one.parts, by_difference=page.settings.order == "difference",
        )  # fmt: skip


def travel_map(moved: Travel) -> None:
    values = np.stack([line.values for line in moved.lines])
    mask = np.broadcast_to(~moved.paired, values.shape)
    heatmap(
        np.nan_to_num(values), [line.label for line in moved.lines], moved.columns, key="fixed_context.travel",
        title="How the edit travels: difference of the encoder's rows", mask=mask, limits=(0.0, words.top(values)),
        value="relative difference", row_role="state", select="none", print_from=0.005,
    )  # fmt: skip
    st.html(contexts.note(*words.travel(moved)))


def quality_panel(found: quality.Quality) -> None:
    heading(3, "Quality against length", words.QUALITY)
    if found.missing:
        st.caption(escape(words.unmeasured(found.missing)))
    columns = st.columns(2, gap="large")
    for column, (title, series, measure, axis) in zip(columns, words.quality_charts(found), strict=True):
        if series:
            with column:
                st.html(markup.card_title(title))
                labels, counts, lines = words.buckets(series, 100.0 if measure == "kept" else 1.0)
                made = [Line(name, values) for name, values in lines]
                chart = quality_by_length(
                    labels, counts, made, measure="negation kept, %" if measure == "kept" else "BLEU"
                )
                chart.update_xaxes(title_text=axis)
                st.plotly_chart(chart, key=f"fixed_context.{measure}", config=CONFIG, theme="streamlit")
                table_view(export.quality_table(found, measure), title)
    st.html(contexts.says(*words.QUALITY_SAYS))


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


def read_panel(page: Page[Settings]) -> Mixed:
    from app.experiments.fixed_context.arithmetic import mixed

    heading(5, "Try the numbers", words.READ)
    left, right = st.columns(2, gap="large")
    with left:
        st.html(markup.card_title("H", "four rows, three channels"))
        grid(page, "h", [f"h_{k + 1}" for k in range(4)], [f"channel {k + 1}" for k in range(3)])
        st.html(markup.card_title("α", "a row of weights for each target step"))
        grid(page, "alpha", [f"α_{t + 1}" for t in range(3)], [f"h_{k + 1} " for k in range(4)])
        changed = (page.settings.h, page.settings.alpha) != (lab.DEFAULT_H, lab.DEFAULT_ALPHA)
        st.button(
            "The article's numbers",
            key="fixed_context-reset",
            on_click=reset,
            args=(page,),
            disabled=not changed,
        )
    found = mixed(page.settings.h, page.settings.alpha)
    with right:
        heatmap(
            np.vstack([found.contexts, found.fixed]), [*(f"c_{t + 1}" for t in range(3)), "fixed c = h_4"],
            [f"channel {k + 1}" for k in range(3)], key="fixed_context.read", title="c_t = Σ α_tj h_j",
            limits=(-words.most(found), words.most(found)), scale="diverging", value="value", row_role="state",
            column_role="state", select="none", print_from=0.0,
        )  # fmt: skip
        st.html(contexts.sums([(f"c_{t + 1}, channel 1", found.terms(t, 0)) for t in range(3)]))
        check_row(words.read_checks(found))
    st.html(contexts.says(*words.READ_SAYS))
    table_view(export.read_table(found), "c_t and the fixed context")
    return found


def grid(page: Page[Settings], field: str, rows: list[str], columns: list[str]) -> None:
    """An editable grid of hundredths. Edits are kept against the numbers that the grid was opened with."""
    value = getattr(page.settings, field)
    memory = st.session_state.setdefault(f"fixed_context:{field}", {"base": None, "seen": None, "turn": 0})
    key = f"fixed_context.{field}.{memory['turn']}"
    if memory["seen"] != value or (key not in st.session_state and memory["base"] != value):
        memory.update(base=value, seen=value, turn=memory["turn"] + 1)
        key = f"fixed_context.{field}.{memory['turn']}"
    _, _, low, high = CELLS[field]
    frame = pd.DataFrame(np.reshape(memory["base"], (len(rows), len(columns))) / 100, rows, columns)
    number = st.column_config.NumberColumn(
        min_value=low / 100, max_value=high / 100, step=0.01, format="%.2f", required=True
    )
    config, args = dict.fromkeys(columns, number), (page, field, key, columns)
    st.data_editor(frame, key=key, column_config=config, on_change=edited, args=args)


def edited(page: Page[Settings], field: str, key: str, columns: list[str]) -> None:
    memory, (_, _, low, high) = st.session_state[f"fixed_context:{field}"], CELLS[field]
    numbers = list(memory["base"])
    for row, cells in st.session_state[key]["edited_rows"].items():
        for column, value in cells.items():
            place = int(row) * len(columns) + columns.index(column)
            numbers[place] = min(high, max(low, round(float(value) * 100)))
    memory["seen"] = tuple(numbers)
    page.put(field, tuple(numbers))


def reset(page: Page[Settings]) -> None:
    page.put("h", lab.DEFAULT_H)
    page.put("alpha", lab.DEFAULT_ALPHA)


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
