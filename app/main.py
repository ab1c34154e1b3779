"""Entry: `python -m streamlit run app/main.py`. Page configuration, and navigation read from the catalog."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:  # `streamlit run` puts app/ on the path, not the folder that holds it
    sys.path.insert(0, ROOT)

from app import catalog
from app.ui import maintenance, shell
from app.ui.errors import guarded

st.set_page_config(
    page_title="Sequence Explorer",
    page_icon=f"{ROOT}/assets/images/favicon.png",
    layout="wide",
    initial_sidebar_state=256,
)
maintenance.start()
pages = {
    lab.slug: st.Page(lab.page, title=lab.title, url_path=lab.slug, default=lab is catalog.LABS[0])
    for lab in catalog.LABS
}
current = st.navigation(list(pages.values()), position="hidden")
shell.style()
shell.sidebar(pages, current)
with guarded("This page"):
    current.run()
