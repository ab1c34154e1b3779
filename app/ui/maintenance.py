"""Garbage collection on a timer instead of after every run.

torch brings some hundred thousand long-lived objects. Walking them after each rerun is what made thirty sessions wait
seconds, so `.streamlit/config.toml` turns that off; here, once no import is under way, what is loaded is frozen out of
the collector's sight, and what sessions leave behind is collected every half minute.
"""

from __future__ import annotations

import gc
import sys
import threading

import streamlit as st

PERIOD = 30.0  # seconds


class Maintenance:
    """A daemon thread: freeze what was imported, collect the rest on a timer."""

    def __init__(self, period: float = PERIOD) -> None:
        self.period = period
        self.stop = threading.Event()
        self.frozen_modules = 0  # how many modules were loaded at the last freeze
        self._seen = -1
        self.thread = threading.Thread(target=self._loop, name="maintenance", daemon=True)

    def tick(self) -> None:
        """Collect; freeze first where modules were imported since the last freeze and none since the last tick."""
        gc.collect()
        loaded = len(sys.modules)
        if loaded == self._seen and loaded != self.frozen_modules:
            gc.freeze()
            self.frozen_modules = loaded
        self._seen = loaded

    def _loop(self) -> None:
        while not self.stop.wait(self.period):
            self.tick()


@st.cache_resource(show_spinner=False, max_entries=1)
def start() -> Maintenance:
    """Start the thread; once in the server's life, however many sessions ask."""
    maintenance = Maintenance()
    maintenance.thread.start()
    return maintenance
