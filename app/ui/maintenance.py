"""Garbage collection on a timer instead of after every run.

torch brings some hundred thousand long-lived objects. Walking them after each rerun is what made thirty sessions wait
seconds, so `.streamlit/config.toml` turns that off; here, once no import is under way, what is loaded is frozen out of
the collector's sight, and what sessions leave behind is collected every half minute.
"""

from __future__ import annotations

import gc
import sys
import threading
import time

import streamlit as st

PERIOD = 30.0  # seconds from one collection to the next
LOOK = 2.0  # seconds from one look at the loaded modules to the next


class Maintenance:
    """A daemon thread: freeze what was imported as soon as imports rest, collect the rest on a timer."""

    def __init__(self, period: float = PERIOD, look: float = LOOK) -> None:
        self.period = period
        self.pause = min(look, period)
        self.stop = threading.Event()
        self.frozen_modules = 0  # how many modules were loaded at the last freeze
        self._seen = -1
        self.thread = threading.Thread(target=self._loop, name="maintenance", daemon=True)

    def look(self) -> None:
        """Freeze where modules were imported since the last freeze and none since the last look.

        The collection before it keeps garbage from being frozen with the rest.
        """
        loaded = len(sys.modules)
        if loaded == self._seen and loaded != self.frozen_modules:
            gc.collect()
            gc.freeze()
            self.frozen_modules = loaded
        self._seen = loaded

    def _loop(self) -> None:
        collected = time.monotonic()
        while not self.stop.wait(self.pause):
            self.look()
            if time.monotonic() - collected >= self.period:
                gc.collect()
                collected = time.monotonic()


@st.cache_resource(show_spinner=False, max_entries=1)
def start() -> Maintenance:
    """Start the thread; once in the server's life, however many sessions ask."""
    maintenance = Maintenance()
    maintenance.thread.start()
    return maintenance
