"""What surrounds every page: the style sheet and the sidebar, both painted before anything heavy is imported."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page as StreamlitPage

from app import catalog
from app.ui import colours, server
from app.ui.page import presenting

STYLE = Path(__file__).with_name("style.css")
BRAND = "Sequence Explorer<small>What executes, on your sentence</small>"
PRESENT = Path(__file__).with_name("present.css")


def style() -> None:
    """Add the style sheet, and in presenter mode the large type."""
    st.html(f"<style>{_sheet()}{PRESENT.read_text() if presenting() else ''}</style>")


def navigation() -> StreamlitPage:
    """Labs by group in the sidebar, with the name above them and what this server is below; returns the open page."""
    groups = {
        group: [
            st.Page(lab.page, title=lab.title, url_path=lab.slug, default=lab is catalog.LABS[0])
            for lab in labs
        ]
        for group, labs in catalog.groups().items()
    }
    current = st.navigation(groups, expanded=True)
    st.sidebar.html(f'<p class="se-brand">{BRAND}</p>{_server()}')
    return current


def _server() -> str:
    count = len(server.trained_systems())
    systems = f"{count} trained system{'' if count == 1 else 's'}"
    return f'<div class="se-server"><h2>This server</h2><p>{escape(server.device())} · float32<br>{systems}</p></div>'


@cache
def _sheet() -> str:
    return colours.css() + STYLE.read_text(encoding="utf-8")
