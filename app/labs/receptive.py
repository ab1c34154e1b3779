"""Which input rows can an output row depend on, how does that field grow, and what does a real network make of it?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.labs.receptive_panels.export import export_all
from app.labs.receptive_panels.lattice import lattice_panel
from app.labs.receptive_panels.settings import Settings
from app.ui import contexts
from app.ui.errors import guarded
from app.ui.page import Page, open_page
from app.ui.sentence_box import checked, sentence_box

BESIDE = ("positions", "distance", "width")


def controls(page: Page[Settings]) -> Settings:
    """The sentence; other widgets stand beside their picture and are read from the session."""
    values: dict[str, Any] = {"layers": page.settings.layers, "output": page.settings.output}
    values["sentence"] = sentence_box(page)
    for name in BESIDE:
        values[name] = st.session_state[page.key(name)]
    return Settings(**values)


page = open_page("receptive_fields", Settings)
st.html(contexts.sheet())
with page.controls():
    page.commit(controls(page))
    sentence = checked(page.settings.sentence)
found: dict[str, Any] = {}
with guarded("The lattice"):
    found["lattice"] = lattice_panel(page)
export_all(page, found)
page.close()
