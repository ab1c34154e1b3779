"""Entry: `python -m streamlit run app/main.py`. Page configuration, and navigation read from the catalog."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:  # `streamlit run` puts app/ on the path, not the folder that holds it
    sys.path.insert(0, ROOT)

from app.ui import maintenance, shell
from app.ui.errors import guarded

st.set_page_config(
    page_title="Sequence Explorer",
    page_icon=f"{ROOT}/assets/images/favicon.png",
    layout="wide",
    initial_sidebar_state=256,
)
maintenance.start()
shell.style()
current = shell.navigation()
with guarded("This page"):
    current.run()
