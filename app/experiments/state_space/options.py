"""What the page offers, and its bounds. No torch here: the controls are painted before it is imported."""

from __future__ import annotations

import math
from dataclasses import dataclass

STEPS = 48  # positions of the drawn input
MOST_U, MOST_A, MOST_B = 200, 800, 400  # hundredths
METHODS = {"bilinear": "Bilinear", "zoh": "Zero-order hold"}

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
DEFAULT_LENGTHS = ("16", "64", "256", "1024")
LIMITED = {
    "Transformer": 2048
}  # rows whose square of weights, times heads and layers, still fits beside other visitors
LIMITS = ("positions", "max_source")  # configuration fields that bound a table of positions


@dataclass(frozen=True)
class Preset:
    """A two-state system in hundredths: A row by row, B, C, D and the step."""

    title: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    c: tuple[int, ...]
    d: int
    delta: int
    told: str


PRESETS: dict[str, Preset] = {
    "ring": Preset(
        "Ringing", (-30, -300, 300, -30), (100, 0), (100, 0), 0, 20,
        "Complex eigenvalues: what is written turns while it fades.",
    ),
    "fade": Preset(
        "Fading", (-50, 0, 0, -300), (100, 100), (50, 50), 0, 20,
        "Two real rates: one channel forgets slowly, the other at once.",
    ),
    "legs": Preset(
        "HiPPO-LegS", (-100, 0, -173, -200), (100, 173), (100, 0), 0, 10,
        "The first two rows of HiPPO-LegS: the state holds the average and the slope of all that came.",
    ),
    "grow": Preset(
        "Growing", (20, -200, 200, 20), (100, 0), (100, 0), 0, 15,
        "Eigenvalues right of zero: every write grows, so no bounded memory is left.",
    ),
}  # fmt: skip


def _wave(k: int) -> float:
    return 0.9 * math.sin(2 * math.pi * k / 16)


INPUTS: dict[str, tuple[int, ...]] = {
    "Impulse": tuple(100 if k == 4 else 0 for k in range(STEPS)),
    "Two pulses": tuple(100 if k == 4 else -100 if k == 20 else 0 for k in range(STEPS)),
    "Step": tuple(60 if k >= 6 else 0 for k in range(STEPS)),
    "Wave": tuple(round(100 * _wave(k)) for k in range(STEPS)),
}
