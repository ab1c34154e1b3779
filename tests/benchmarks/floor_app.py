"""The least an edit can cost here: a text box and the text it holds, on the same server settings."""

from __future__ import annotations

import streamlit as st

st.write(st.text_input("Sentence"))
