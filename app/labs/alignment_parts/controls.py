"""The Alignment page's controls: only systems that exist are offered; what a link asks beyond that is replaced."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.experiments.alignment import options
from app.experiments.alignment.options import CODES, SCORES, TRAINED_HALF_WIDTH, WINDOWS, Combination
from app.labs.alignment_parts.settings import DECODING, NOTHING, SHOWN, Settings
from app.ui.page import Page
from app.ui.sentence_box import sentence_box

Held = Mapping[str, Any]


def controls(page: Page[Settings], available: Sequence[str]) -> tuple[Settings, str | None]:
    """Draw every control; the settings, and a sentence where the system asked for does not exist here."""
    sentence = sentence_box(page)
    offers = options.offered(available)
    told = replace_missing(page, offers)
    chosen: dict[str, Any] = {"sentence": sentence}
    with st.container(key="alignment-system", horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen |= system(page, offers)
    with st.container(key="alignment-target", horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen |= target(page) | side(page, offers)
    rest = {f.name: held(page, f.name) for f in dataclasses.fields(Settings) if f.name not in chosen}
    return Settings(**chosen, **rest), told


def held(page: Page[Settings], name: str) -> Any:
    """The value of a field whose widget, if it has one, stands further down the page."""
    return st.session_state[page.key(name)]


def replace_missing(page: Page[Settings], offers: Mapping[Combination, str]) -> str | None:
    """Where the combination asked for is not offered, take the nearest one and say so."""
    wanted = Combination(*(held(page, name) for name in ("score", "window", "feeding")))
    found = options.nearest(wanted, offers)
    if found is None or found == wanted:
        return None
    for name in ("score", "window", "feeding"):
        page.put(name, getattr(found, name))
    if found.score == wanted.score:
        return None  # the visitor chose a score; its own windows are simply what is left
    return (
        f"No system with the {SCORES[wanted.score]} score is trained on this server yet. "
        f"This is the {SCORES[found.score]} score instead."
    )


def system(page: Page[Settings], offers: Mapping[Combination, str]) -> dict[str, Any]:
    """Score, window, feeding, and what the chosen window or the heads need."""
    scores = [one for one in SCORES if any(c.score == one for c in offers)]
    score = st.pills(
        "Score", scores, key=page.key("score"), format_func=lambda one: SCORES[one], required=True, wrap=True
    )
    found: dict[str, Any] = {"score": score}
    mine = [one for one in offers if one.score == score]
    windows = [one for one in WINDOWS if any(c.window == one for c in mine)]
    if len(windows) > 1:
        found["window"] = st.segmented_control(
            "Window", windows, key=page.key("window"), format_func=lambda one: WINDOWS[one], required=True
        )
    feeds = {c.feeding for c in mine if c.window == found.get("window", "global")}
    if len(feeds) > 1:
        found["feeding"] = st.toggle(
            "Input feeding",
            key=page.key("feeding"),
            help="Whether the next step sees h̃, what this step read.",
        )
    return found | (local(page) if found.get("window", "global") != "global" else {}) | heads(page, score)


def local(page: Page[Settings]) -> dict[str, Any]:
    return {
        "half_width": st.slider(
            "Half width D", 1, 10, key=page.key("half_width"), width=150,
            help=f"Rows within D of the centre may be read. Trained with D = {TRAINED_HALF_WIDTH}.",
        ),
        "shift": st.slider(
            "Move the centre", -6, 6, key=page.key("shift"), width=150,
            help="Rows added to the centre p(t) of every decision. 0 is the system's own centre.",
        ),
    }  # fmt: skip


def heads(page: Page[Settings], score: str | None) -> dict[str, Any]:
    """Layer and head of the Transformer's cross reads, as its checkpoint has them."""
    shape = options.head_shape("transformer") if score == "heads" else None
    if shape is None:
        return {}
    layers, count = shape
    layer = {0: f"{layers} (last)"} | {n: str(n) for n in range(1, layers)}
    head = {0: f"mean of {count}"} | {n: str(n) for n in range(1, count + 1)}
    return {
        "layer": place(page, "layer", "Layer", layer),
        "head": place(page, "head", "Head", head),
    }


def place(page: Page[Settings], field: str, label: str, names: dict[int, str]) -> int:
    if held(page, field) not in names:
        page.put(field, 0)  # a link from a larger Transformer
    return st.selectbox(label, tuple(names), key=page.key(field), format_func=lambda n: names[n], width=140)


def target(page: Page[Settings]) -> dict[str, Any]:
    """Whose French is read: the system's own, or the visitor's."""
    decoding = st.segmented_control(
        "Target",
        tuple(DECODING),
        key=page.key("decoding"),
        format_func=lambda one: DECODING[one],
        required=True,
    )
    found: dict[str, Any] = {"decoding": decoding}
    if decoding == "beam":
        found["beam"] = st.slider("Beam width", 2, 8, key=page.key("beam"), width=150)
    if decoding == "forced":
        found["forced"] = st.text_input(
            "French that the system is made to say", key=page.key("forced"), max_chars=200, width=380,
            placeholder="Le rapport n'était pas convaincant.", autocomplete="off",
        )  # fmt: skip
    return found


def side(page: Page[Settings], offers: Mapping[Combination, str]) -> dict[str, Any]:
    """Words or pieces, and a second system beside the first."""
    codes = [NOTHING, *(one.code for one in offers)]
    if held(page, "compare") not in codes:
        page.put("compare", NOTHING)
    return {
        "show": st.segmented_control(
            "Tokens", tuple(SHOWN), key=page.key("show"), format_func=lambda one: SHOWN[one], required=True
        ),
        "compare": st.selectbox(
            "Beside it", codes, key=page.key("compare"), format_func=name_of(offers), width=350
        ),
    }


def name_of(offers: Mapping[Combination, str]) -> Any:
    """Names of comparable systems; those without weights of their own are marked."""

    def name(code: str) -> str:
        if code == NOTHING:
            return "nothing"
        one = CODES[code]
        trained = options.TRAINED[offers[one]] == one
        parts = [SCORES[one.score], WINDOWS[one.window]] if one.recurrent else [SCORES[one.score]]
        return " · ".join(
            parts + ([] if one.feeding else ["no feeding"]) + ([] if trained else ["recombined"])
        )

    return name
