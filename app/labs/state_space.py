"""How one linear system runs as a recurrence and as a convolution, and what a selective update gives up for what."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.experiments.state_space import options
from app.labs.state_panels.length import length_panel
from app.labs.state_panels.schedules import schedules_panel
from app.labs.state_panels.settings import Settings
from app.ui import contexts
from app.ui.errors import guarded
from app.ui.page import Page, open_page

SIZES = {"a": 4, "b": 2, "c": 2, "u": options.STEPS}


def settled(page: Page[Settings]) -> Settings:
    """Widgets stand beside their pictures, so their values are read from the session; grids must be full."""
    values: dict[str, Any] = {}
    for name in ("d", "delta", "method", "vary", "systems", "lengths", "measure"):
        page.key(name)
        values[name] = st.session_state[page.key(name)]
    for name, size in SIZES.items():
        given = getattr(page.settings, name)
        if len(given) != size:
            st.caption(
                f"This link gives {len(given)} numbers for {name}, which has {size}; the page's own are used."
            )
            given = getattr(Settings(), name)
        values[name] = given
    return Settings(sentence=page.settings.sentence, **values)


page = open_page("state_space", Settings)
st.html(contexts.sheet())
page.commit(settled(page))
with page.pending(900), guarded("One layer, two schedules"):
    schedules_panel(page)
with guarded("State against length"):
    length_panel(page)
page.close()
