"""The controls of "Masks and families": sentence and target, the family, which layers the hand paints."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from app.experiments.masks import options
from app.labs.masks_parts.settings import SCOPES, Settings
from app.ui.page import Page
from app.ui.sentence_box import sentence_box
from models.catalog import entry


def controls(page: Page[Settings]) -> Settings:
    """The boxes and the family; widgets that stand beside their picture are read from the session."""
    sentence = sentence_box(page)
    there = options.available()
    if page.settings.family not in there:
        page.put("family", options.chosen(page.settings.family))
    named = {slug: entry(slug).title for slug in there}
    chosen: dict[str, Any] = {"sentence": sentence}
    with st.container(key="masks-where", horizontal=True, vertical_alignment="bottom", gap="medium"):
        family = st.pills(
            "Family",
            there,
            key=page.key("family"),
            format_func=named.__getitem__,
            required=True,
            width="content",
        )
        chosen["family"] = family = family or there[0]
        chosen |= layers(page, family) | answer(page, family)
    return dataclasses.replace(held(page), **chosen)


def held(page: Page[Settings]) -> Settings:
    """What stands further down the page: widgets from the session, the rest as it was."""
    beside = ("read", "row", "empty")
    return dataclasses.replace(page.settings, **{name: st.session_state[page.key(name)] for name in beside})


def answer(page: Page[Settings], family: str) -> dict[str, Any]:
    """The French that the decisions are scored on; an encoder alone hides a piece instead."""
    if not options.translates(family):
        return {}
    return {
        "target": st.text_input(
            "French that is scored", key=page.key("target"), max_chars=200,
            width=300, placeholder="what the system itself says", autocomplete="off",
        )
    }  # fmt: skip


def layers(page: Page[Settings], family: str) -> dict[str, Any]:
    """The layer that is shown, and whether the hand paints it alone."""
    count, _ = options.shape(family)
    if page.settings.layer > count:
        page.put("layer", count)
    return {
        "layer": st.segmented_control("Layer", list(range(1, count + 1)), key=page.key("layer"), required=True),
        "scope": st.segmented_control(
            "Painting changes", tuple(SCOPES), key=page.key("scope"), format_func=SCOPES.__getitem__, required=True
        ),
    }  # fmt: skip
