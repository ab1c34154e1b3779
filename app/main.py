"""Entry: `python -m streamlit run app/main.py`. Page configuration, and navigation read from the catalog."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import streamlit as st

# One row through a small model gains nothing from a second thread, which spins while it waits: an edit cost 121 ms of
# processor time with two threads and 30 ms with one. torch reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

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
