"""One invariant of one run. Kept apart from `app.experiments.run`: what needs no torch imports none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One invariant on this run: what it says, whether it held, and the measured size of the violation."""

    label: str
    passed: bool
    value: float
    explanation: str
