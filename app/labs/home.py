"""What does each trained system keep of one sentence, and what does it make of it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import catalog
from app.components import heatmap, token_strip
from app.experiments import home
from app.experiments.home import Look
from app.ui import cards, markup
from app.ui.cache import results
from app.ui.errors import guarded
from app.ui.export import export_panel
from app.ui.page import Page, open_page
from app.ui.sentence import Cleaned, check_sentence
from app.ui.sentence_box import checked, sentence_box
from app.ui.url import choice, choices, flag, text, whole
from models.catalog import TRANSLATORS, entry

if TYPE_CHECKING:
    from app.experiments.difference import Difference
    from app.experiments.run import Check, SentenceRun

Body = Callable[[], DeltaGenerator]
SLUGS = tuple(item.slug for item in TRANSLATORS)
MOST = 6  # systems side by side
SKELETON = 740  # pixels held for a card that was never painted
DECODING = {"greedy": "Greedy", "beam4": f"Beam {home.WIDTH}"}
SHOWN = {"words": "Words", "pieces": "Pieces"}


@dataclass(frozen=True)
class Settings:
    """What the visitor chose. layer 0 is the last one, head 0 the mean; pin is the pinned sentence, if any."""

    sentence: str = text("s", default="The report was not convincing.")
    systems: tuple[str, ...] = choices(
        "m", SLUGS, default=("rnn_encoder_decoder", "rnn_search", "luong", "transformer"), most=MOST
    )
    decoding: str = choice("d", tuple(DECODING), default="greedy")
    show: str = choice("w", tuple(SHOWN), default="words")
    layer: int = whole("l", 0, 12, default=0)
    head: int = whole("h", 0, 16, default=0)
    pin: str = text("p", default="")
    training: bool = flag("tr")

    @property
    def look(self) -> Look:
        return Look(self.show, self.layer, self.head)  # pyright: ignore[reportArgumentType]

    @property
    def beam(self) -> int:
        return 1 if self.decoding == "greedy" else home.WIDTH


@results(max_entries=192)
def result(slug: str, sentence: str, beam: int) -> SentenceRun:
    """One system on one sentence, kept for everybody: an edit elsewhere on the page computes nothing again."""
    return home.compute(slug, sentence, beam)


def controls(page: Page[Settings]) -> tuple[Settings, Cleaned]:
    sentence = sentence_box(page)
    cleaned = checked(sentence, home.count_pieces)
    systems = st.pills(
        "Systems",
        SLUGS,
        selection_mode="multi",
        key=page.key("systems"),
        format_func=lambda slug: entry(slug).title,
        label_visibility="collapsed",
        on_change=keep_most,
        args=(page,),
    )
    with st.container(key="home-choices", horizontal=True, vertical_alignment="center", gap="small"):
        chosen = Settings(
            sentence=sentence,
            systems=tuple(slug for slug in SLUGS if slug in systems),
            decoding=one_of(page, "decoding", "Decoding", DECODING),
            show=one_of(page, "show", "Tokens", SHOWN),
            **reads(page, "transformer" in systems),
            pin=pin_button(page),
            training=bool(st.session_state[page.key("training")]),  # its switch stands below the table
        )
    return chosen, cleaned


def one_of(page: Page[Settings], field: str, label: str, options: dict[str, str]) -> str:
    chosen = st.segmented_control(
        label,
        tuple(options),
        key=page.key(field),
        format_func=lambda value: options[value],
        required=True,
        label_visibility="collapsed",
    )
    return chosen or getattr(page.settings, field)


def reads(page: Page[Settings], drawn: bool) -> dict[str, int]:
    """Which of the Transformer's cross reads is drawn; its checkpoint says how many there are."""
    shape = home.head_shape("transformer") if drawn else None
    if shape is None:
        return {"layer": page.settings.layer, "head": page.settings.head}
    layers, heads = shape
    names = {"layer": {0: f"Transformer layer {layers}"}, "head": {0: f"Mean of {heads} heads"}}
    names["layer"] |= {n: f"Transformer layer {n}" for n in range(1, layers)}
    names["head"] |= {n: f"Head {n}" for n in range(1, heads + 1)}
    return {field: place(page, field, options) for field, options in names.items()}


def place(page: Page[Settings], field: str, options: dict[int, str]) -> int:
    if getattr(page.settings, field) not in options:
        page.put(field, 0)  # a link from a larger Transformer
    return st.selectbox(
        f"Transformer {field}",
        tuple(options),
        key=page.key(field),
        format_func=lambda value: options[value],
        label_visibility="collapsed",
        width=178 if field == "layer" else 162,
    )


def keep_most(page: Page[Settings]) -> None:
    """At most six side by side: the latest choice beyond that is taken back."""
    if len(st.session_state[page.key("systems")]) > MOST:
        page.put("systems", page.settings.systems)
        st.toast(f"At most {MOST} systems fit side by side. Take one away first.")


def pin_button(page: Page[Settings]) -> str:
    if page.settings.pin:
        st.button("Unpin", icon=":material/keep_off:", key="home-unpin", on_click=page.put, args=("pin", ""))
    else:
        st.button(
            "Pin this sentence",
            icon=":material/keep:",
            key="home-pin",
            on_click=pin,
            args=(page,),
            help="Keep this sentence, edit a copy of it, and see what changes.",
        )
    return page.settings.pin


def pin(page: Page[Settings]) -> None:
    cleaned = check_sentence(st.session_state[page.key("sentence")], home.count_pieces)
    if not cleaned.problem:
        page.put("pin", cleaned.text)


def pinned_sentence(settings: Settings, sentence: str) -> str | None:
    """The pinned sentence where it can be used, with the bar that says so."""
    if not settings.pin:
        return None
    pinned = check_sentence(settings.pin, home.count_pieces)
    if pinned.problem:
        st.info("The pinned sentence of this link cannot be used, so nothing is compared. Unpin it.")
        return None
    st.html(cards.pin_bar(pinned.text, [(s.text, s.kind) for s in home.segments(pinned.text, sentence)]))
    return pinned.text


def frames(systems: tuple[str, ...]) -> dict[str, Body]:
    """The cards' frames, painted before anything is computed; for each what opens the place of its body."""
    bodies: dict[str, Body] = {}
    for start in range(0, len(systems), 2):
        pair = systems[start : start + 2]
        for column, slug in zip(st.columns(min(2, len(systems)), gap="small"), pair, strict=False):
            item = entry(slug)
            with column.container(border=True, key=f"home-card-{slug}", height="stretch"):
                st.html(cards.head(item.title, item.family, item.paper, item.summary))
                bodies[slug] = body(slug)
    return bodies


def body(slug: str) -> Body:
    """A new card holds its height with a skeleton; one that was painted keeps its picture until the next is ready."""
    painted = st.session_state.setdefault("home:painted", set())
    if slug in painted:
        kept = st.container()
        return lambda: kept
    painted.add(slug)
    held = st.empty()
    held.skeleton(height=SKELETON)
    return held.container


def fill(
    open_body: Body, slug: str, sentence: str, pinned: str | None, settings: Settings
) -> SentenceRun | None:
    """Compute one system and paint its card; a failure says its sentence there and nowhere else."""
    with open_body(), guarded(entry(slug).title):
        run = result(slug, sentence, settings.beam)
        before = result(slug, pinned, settings.beam) if pinned else None
        card(run, before, settings.look)
        return run
    return None


def card(run: SentenceRun, before: SentenceRun | None, look: Look) -> None:
    difference = home.compare(before, run, look) if before else None
    output(run, before, difference)
    strip(run, difference, look)
    if run.weights is None:
        crossing(run)
    else:
        alignment(run, difference, look)
    st.html(markup.checks([check(one) for one in run.checks]))
    st.html(markup.four_answers([markup.Answer(a.question, a.value, a.detail) for a in home.answers(run)]))


def check(found: Check) -> markup.Check:
    return markup.Check(
        found.label, found.passed, f"{found.value:.0e}" if found.value else "", found.explanation
    )


def output(run: SentenceRun, before: SentenceRun | None, difference: Difference | None) -> None:
    if before is None or difference is None:
        st.html(markup.output(run.text))
        return
    st.html(
        cards.marked([(one.text, one.kind) for one in difference.segments])
        + cards.pinned_output(before.text, home.told(difference))
    )


def strip(run: SentenceRun, difference: Difference | None, look: Look) -> None:
    words = run.target.words if look.show == "words" else None
    token_strip(
        run.target.pieces,
        np.log(run.probabilities),
        spans=words,
        changed=None if difference is None else difference.rows,
        key=f"home.{run.slug}.strip",
        title="Probability of each word" if words else "Probability of each piece",
        group=f"home:{run.slug}",
    )


def alignment(run: SentenceRun, difference: Difference | None, look: Look) -> None:
    weights = run.matrix(look.show, **look.place)
    assert weights is not None
    heatmap(
        weights,
        run.target.labels(look.show),
        run.source.labels(look.show),
        key=f"home.{run.slug}.map",
        title=home.picture_title(run, look),
        group=f"home:{run.slug}",
        source_group="home:source",
        mask=run.masked(look.show),
        changed=None if difference is None else difference.cells,
        changed_rows=None if difference is None else difference.rows,
        select="none",
    )


def crossing(run: SentenceRun) -> None:
    tensors = home.crossing(run)
    rows = [(one.symbol, one.name, " × ".join(map(str, one.shape)), f"{one.nbytes:,} B") for one in tensors]
    total = home.size(sum(one.nbytes for one in tensors))
    readable = run.visible is not None
    st.html(cards.crossing(run.source.labels("pieces"), run.answers.encode_steps, rows, total, readable))


def figures() -> None:
    """Every system of the catalog, from the manifest."""
    st.html('<h2 class="se-section">All systems on the test split</h2>')
    with guarded("The table of test figures"):
        frame = pd.DataFrame(home.figures()).drop(columns="slug").set_index("System")
        number = st.column_config.NumberColumn
        columns = {name: number(format="%.1f") for name in frame.columns if name.startswith(("BLEU", "chrF"))}
        columns |= {name: number(format="%.1f%%") for name in ("Negation kept", "AER stories", "AER by hand")}
        columns |= {"Parameters": number(format="localized"), "Year": number(format="%d")}
        st.dataframe(frame, column_config=columns, row_height=32, height="content", placeholder="–")
        st.caption(home.figures_caption())


def training(page: Page[Settings]) -> None:
    """The log of each run: validation loss against updates, and how it was started."""
    st.toggle("Show how they were trained", key=page.key("training"))
    if not page.settings.training:
        return
    from app import charts
    from app.experiments import training_log

    with guarded("The training curves"):
        logs = training_log.logs()
        if not logs:
            st.info("No training log is kept beside the checkpoints on this server.")
            return
        curves = [charts.Curve(log.title, log.steps, log.valid_loss, points=True) for log in logs]
        chart = charts.training_curve(curves, y_title="validation loss (nats a piece)")
        st.plotly_chart(chart, key="home.curves", config=charts.CONFIG, theme="streamlit")
        frame = pd.DataFrame(training_log.table(logs)).set_index("System")
        digits = {"Minutes": "%.0f", "Validation loss": "%.3f"}
        columns = {name: st.column_config.NumberColumn(format=shape) for name, shape in digits.items()}
        st.dataframe(frame, column_config=columns, row_height=32, height="content")
        st.caption(
            "Lower is better. A system that began with another one's weights has a short log of its own."
        )


def go_on(sentence: str) -> None:
    params = {"v": "1", "s": sentence} if sentence != Settings().sentence else {}
    st.html('<h2 class="se-section">Where to go next</h2>')
    st.html(cards.next_steps([lab for lab in catalog.LABS if lab.slug != "home"], params))


def export(page: Page[Settings], sentence: str, runs: list[SentenceRun], settings: Settings) -> None:
    from app.experiments import home_export

    slugs = [run.slug for run in runs]
    with page.export, guarded("The export"):
        export_panel(
            "one-sentence",
            tables=home_export.tables(runs, settings.look),
            numbers=home_export.numbers(sentence, settings.beam, runs, settings.look),
            python=home_export.python_lines(sentence, settings.beam, slugs, settings.look),
        )


page = open_page("home", Settings)
st.html(cards.sheet())
with page.controls():
    chosen, cleaned = controls(page)
    settings = page.commit(chosen)
if cleaned.problem is None:
    if page.presenting:
        st.html(cards.presented(cleaned.text))
    pinned = pinned_sentence(settings, cleaned.text)
    if not settings.systems:
        st.info("Choose at least one system above.")
    bodies = frames(settings.systems)
    runs = [fill(open_body, slug, cleaned.text, pinned, settings) for slug, open_body in bodies.items()]
    export(page, cleaned.text, [run for run in runs if run is not None], settings)
go_on(cleaned.text if cleaned.problem is None else Settings().sentence)
figures()
training(page)
page.close()
