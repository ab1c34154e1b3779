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
PRESENT = Path(__file__).with_name("present.css")


def style() -> None:
    """Add the style sheet; in presenter mode also its large type."""
    st.html(f"<style>{_sheet()}{PRESENT.read_text() if presenting() else ''}</style>")


def sidebar(pages: dict[str, StreamlitPage], current: StreamlitPage) -> None:
    """Name, labs by group, and what this server is. `pages` are Streamlit's, by slug; `current` is one of them."""
    params = {"present": "1"} if presenting() else None
    with st.sidebar:
        st.html('<p class="se-brand">Sequence Explorer<small>What executes, on your sentence</small></p>')
        with st.container(key="se-nav", gap=None):
            for group, labs in catalog.groups().items():
                st.html(f"<h2>{escape(group)}</h2>")
                for lab in labs:
                    with st.container(key=f"se-nav-{'here' if pages[lab.slug] is current else lab.slug}"):
                        st.page_link(pages[lab.slug], label=lab.title, query_params=params, width="stretch")
        st.html(_server())


def _server() -> str:
    count = len(server.trained_systems())
    systems = f"{count} trained system{'' if count == 1 else 's'}"
    return f'<div class="se-server"><h2>This server</h2><p>{escape(server.device())} · float32<br>{systems}</p></div>'


@cache
def _sheet() -> str:
    return colours.css() + STYLE.read_text(encoding="utf-8")
