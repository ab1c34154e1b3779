"""How can one layer be a recurrence and a convolution at once, and what does a selective update give up for what?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.experiments import home
from app.experiments.state_space import options
from app.labs.state_panels.export import export_all
from app.labs.state_panels.length import length_panel
from app.labs.state_panels.schedules import schedules_panel
from app.labs.state_panels.selective import selective_panel
from app.labs.state_panels.settings import Settings
from app.ui import contexts
from app.ui.errors import guarded
from app.ui.page import Page, open_page
from app.ui.sentence_box import checked, sentence_box

SIZES = {"a": 4, "b": 2, "c": 2, "u": options.STEPS}
BESIDE = ("d", "delta", "method", "vary", "layer", "token", "edit", "systems", "lengths", "measure")


def controls(page: Page[Settings]) -> Settings:
    """The sentence; other widgets stand beside their picture and are read from the session. Grids must be full."""
    values: dict[str, Any] = {"sentence": sentence_box(page)}
    for name in BESIDE:
        values[name] = st.session_state[page.key(name)]
    for name, size in SIZES.items():
        given = getattr(page.settings, name)
        if len(given) != size:
            st.caption(
                f"This link gives {len(given)} numbers for {name}, which has {size}; the page's own are used."
            )
            given = getattr(Settings(), name)
        values[name] = given
    return Settings(**values)


page = open_page("state_space", Settings)
st.html(contexts.sheet())
with page.controls():
    page.commit(controls(page))
    sentence = checked(page.settings.sentence, home.count_pieces)
found: dict[str, Any] = {}
with page.pending(900), guarded("One layer, two schedules"):
    found["schedules"] = schedules_panel(page)
if sentence.problem is None:
    with guarded("The selective update"):
        found["selection"] = selective_panel(page, sentence.text)
with guarded("State against length"):
    found["kept"] = length_panel(page)
export_all(page, found)
page.close()
