"""A schedule of convolutions as a short text that travels in a link, and back; what a visitor typed is kept as typed.

2x1,2x2,2x4     width 2, dilations 1, 2, 4; x reads the past, c reads both sides; s2 behind a layer is its stride
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from models.analysis import receptive
from models.analysis.receptive import (
    MAX_DILATION,
    MAX_LAYERS,
    MAX_SPAN,
    MAX_STRIDE,
    MAX_WIDTH,
    Layer,
    Schedule,
)

LONGEST = 480  # characters of the text: as many layers as are allowed, with room for numbers that are not
CELL = re.compile(r"^(\d{0,8})([xc])(\d{0,8})(?:s(\d{0,8}))?$")


@dataclass(frozen=True)
class RawLayer:
    """One layer as it was typed."""

    width: str
    dilation: str
    causal: bool
    stride: str = "1"


@dataclass(frozen=True)
class Written:
    """What a text says: the rows as typed, and the schedule, or a sentence why there is none and which row it is
    about (from 0; None: the whole)."""

    rows: tuple[RawLayer, ...]
    schedule: Schedule | None
    problem: str | None = None
    bad: int | None = None


def write(rows: Sequence[RawLayer | Layer]) -> str:
    """The text of a schedule, or of rows as typed; characters that are no digits are left out."""
    return ",".join(_cell(row) for row in rows)


def read(text: str) -> Written:
    """What `text` says. Never raises."""
    found = [CELL.match(part) for part in text.split(",")] if text else []
    if not found or not all(found):
        return Written((), None, "The layers in this link cannot be read; the page's own are shown.")
    rows = tuple(RawLayer(m[1], m[3], m[2] == "x", "1" if m[4] is None else m[4]) for m in found if m)
    for number, row in enumerate(rows):
        if not (row.width and row.dilation and row.stride):
            sentence = f"Layer {number + 1}: width, dilation and stride are whole numbers from 1."
            return Written(rows, None, sentence, number)
    return _checked(rows)


def known(text: str) -> Schedule:
    """The schedule of a text within bounds. Raises ValueError with its sentence otherwise."""
    found = read(text)
    if found.schedule is None:
        raise ValueError(found.problem)
    return found.schedule


def _checked(rows: tuple[RawLayer, ...]) -> Written:
    """The bounds are those of the model; the first row at which they are left is the bad one."""
    schedule = tuple(Layer(int(r.width), int(r.dilation), r.causal, int(r.stride)) for r in rows)
    for stop in range(1, len(schedule) + 1):
        try:
            receptive.check(schedule[:stop])
        except ValueError as error:
            return Written(rows, None, str(error), stop - 1)
    return Written(rows, schedule)


def raw(schedule: Sequence[Layer]) -> tuple[RawLayer, ...]:
    """A schedule's layers as they would be typed."""
    return tuple(RawLayer(str(r.width), str(r.dilation), r.causal, str(r.stride)) for r in schedule)


def _cell(row: RawLayer | Layer) -> str:
    width, dilation, stride = (
        "".join(filter(str.isdigit, str(v)))[:8] for v in (row.width, row.dilation, row.stride)
    )
    return f"{width}{'x' if row.causal else 'c'}{dilation}" + ("" if stride == "1" else f"s{stride}")


def fitting(text: str, lengths: Sequence[int]) -> int:
    """The least of `lengths` (ascending) that holds the span of a preset, or the last one."""
    wanted = receptive.span(known(text))
    return next((n for n in lengths if n >= wanted), lengths[-1])


LIMITS = {"width": MAX_WIDTH, "dilation": MAX_DILATION, "stride": MAX_STRIDE}
LAYERS, SPAN, WIDTH = MAX_LAYERS, MAX_SPAN, MAX_WIDTH
PRESETS: dict[str, str] = {title: write(schedule) for title, schedule in receptive.PRESETS.items()}
DEFAULT = PRESETS["Doubling 1, 2, 4, 8"]
