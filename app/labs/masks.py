"""Which row may read which, and what becomes of a trained model when the visitor changes it?"""

from __future__ import annotations

import streamlit as st

from app.experiments import home
from app.labs.masks_parts.controls import controls
from app.labs.masks_parts.export import export
from app.labs.masks_parts.grid_panel import grid_panel
from app.labs.masks_parts.leak_panel import leak_panel
from app.labs.masks_parts.moved_panel import moved_panel
from app.labs.masks_parts.reach_panel import reach_panel
from app.labs.masks_parts.scene import Scene, look, readable, sides
from app.labs.masks_parts.settings import Settings
from app.labs.masks_parts.weights_panel import weights_panel
from app.ui import contexts, decision
from app.ui.errors import guarded
from app.ui.page import open_page
from app.ui.sentence_box import checked

page = open_page("masks", Settings)
st.html(contexts.sheet() + decision.sheet())
with page.controls():
    page.commit(controls(page))
    sentence = checked(page.settings.sentence, home.count_pieces)
scene: Scene | None = None
if sentence.problem is None:
    with page.pending(900), guarded("This request"):
        scene = look(page, sentence.text)
if scene is not None:
    left, right = sides(scene)
    with left, guarded("Who may read whom"):
        grid_panel(page, scene.request, scene.relations)
    if readable(page, scene):
        with right, guarded("What is read"):
            weights_panel(page, scene)
        with guarded("What is decided"):
            moved_panel(page, scene)
        with guarded("The leak test"):
            leak_panel(scene)
        with guarded("Reachability"):
            reach_panel(scene)
        export(page, scene)
page.close()
