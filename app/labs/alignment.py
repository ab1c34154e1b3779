"""Which source rows does each output word read, and when in the step?"""

from __future__ import annotations

import streamlit as st

from app.experiments import home
from app.experiments.alignment import options
from app.labs.alignment_parts.controls import controls
from app.labs.alignment_parts.settings import Settings
from app.ui import cards, decision
from app.ui.page import open_page
from app.ui.sentence_box import checked

SKELETON = 620  # pixels held while the models load for the first time

page = open_page("alignment", Settings)
st.html(cards.sheet() + decision.sheet())
with page.controls():
    settings, told = controls(page, options.available())
    settings = page.commit(settings)
    cleaned = checked(settings.sentence, home.count_pieces)
    if told:
        st.html(decision.note(told))
if cleaned.problem is None:
    with page.pending(SKELETON):
        from app.labs.alignment_parts import body
    body.draw(page, cleaned.text)
page.close()
