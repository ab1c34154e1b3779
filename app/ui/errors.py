"""One failing panel says a clear sentence and leaves the rest of the page, and every other visitor, alone.

An exception that is meant for the visitor carries its sentence in an attribute `sentence`
(`models.CheckpointError` does). Any other is logged by type and place, never by message: a message may quote the
visitor's text.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

logger = logging.getLogger("sequence_explorer")


class Trouble(Exception):
    """Something the visitor can be told in one sentence."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@contextmanager
def guarded(panel: str) -> Iterator[None]:
    """Run a panel's body; on an error show one sentence in its place instead of a traceback."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the one place where a page is kept alive
        sentence = getattr(error, "sentence", None)
        if isinstance(sentence, str):
            st.warning(escape(sentence), icon=":material/info:")
            return
        logger.error("%s failed: %s at %s", panel, type(error).__name__, _place(error))
        st.error(
            f"{panel} could not be computed. The server's log names the fault; the rest of the page is not affected."
        )


def escape(text: str) -> str:
    """`text` with Markdown's signs escaped, so that Streamlit shows it as typed."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|<>$~:" else c for c in text)


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames[-4:]))
