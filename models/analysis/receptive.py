"""Receptive fields of a schedule of convolutions: which input rows one output row can depend on (0x05B, 0x05C, 0x07G).

    o_i     = (i - (k-1)) d causal,  (i - (k-1)/2) d centred,  i = 0 .. k-1       offsets one layer reads, oldest first
    j_l     = j_(l-1) s_l,  j_0 = 1                                               input rows between neighbouring rows
    F_l     = { f + o j_(l-1) : f in F_(l-1), o in o_l },  F_0 = {0}              what a row of layer l reaches
    R_l     = R_(l-1) + (k_l - 1) d_l j_(l-1),  R_0 = 1                           the span of F_l (s = 1 in 0x05B)

Row t of layer l stands at input row t j_l. R counts the span's rows; a schedule can skip some of them, the holes.
Reachable is not used: how much of the field a trained system draws on is measured (`models/layers/schedule.py`).

Glossary: width k, dilation d, stride s, span R, jump j, distance the number of rows between an output and its evidence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

MAX_LAYERS, MAX_WIDTH, MAX_DILATION, MAX_STRIDE = 40, 64, 1_024, 8
MAX_SPAN = 4_096  # input rows: three WaveNet cycles of 1 .. 512 span 3,070
MAX_ROWS = 4_096


@dataclass(frozen=True)
class Layer:
    """One convolution: a causal one ends at its own row, a centred one has as many rows on both sides."""

    width: int
    dilation: int = 1
    causal: bool = True
    stride: int = 1

    @property
    def offsets(self) -> tuple[int, ...]:
        """Rows read, relative to the row's own place in the layer below, oldest first."""
        first = -(self.width - 1) * self.dilation
        start = first if self.causal else first // 2
        return tuple(start + i * self.dilation for i in range(self.width))


Schedule = tuple[Layer, ...]


def check(schedule: Sequence[Layer]) -> Schedule:
    """The schedule, when its sizes are within bounds. Raises ValueError with a sentence for a visitor otherwise."""
    if not 1 <= len(schedule) <= MAX_LAYERS:
        raise ValueError(f"A schedule has 1 to {MAX_LAYERS} layers; this one has {len(schedule)}.")
    for number, layer in enumerate(schedule, start=1):
        _check_layer(number, layer)
    reached = span(schedule)
    if reached > MAX_SPAN:
        raise ValueError(f"This schedule spans {reached:,} input rows; at most {MAX_SPAN:,} are drawn.")
    return tuple(schedule)


def _check_layer(number: int, layer: Layer) -> None:
    bounds = {"width": MAX_WIDTH, "dilation": MAX_DILATION, "stride": MAX_STRIDE}
    for name, most in bounds.items():
        value = getattr(layer, name)
        if not 1 <= value <= most:
            raise ValueError(f"Layer {number}: the {name} must be from 1 to {most:,}, not {value:,}.")
    if not layer.causal and layer.width % 2 == 0:
        raise ValueError(
            f"Layer {number}: a centred layer needs an odd width, so that both sides are equal; {layer.width} is even."
        )


def jumps(schedule: Sequence[Layer]) -> list[int]:
    """Input rows between neighbouring rows of each level: the input's own 1 first, then one a layer."""
    found = [1]
    for layer in schedule:
        found.append(found[-1] * layer.stride)
    return found


def spans(schedule: Sequence[Layer]) -> list[int]:
    """R_0 = 1, R_1 .. R_L by the recurrence: input rows from the oldest to the newest that one row can reach."""
    found = [1]
    for layer, jump in zip(schedule, jumps(schedule), strict=False):
        found.append(found[-1] + (layer.width - 1) * layer.dilation * jump)
    return found


def span(schedule: Sequence[Layer]) -> int:
    """R_L."""
    return spans(schedule)[-1]


# ---- the field of one row far from the edges


@dataclass(frozen=True)
class Field:
    """What a row reaches, from the graph: `reached` (R,) bool, the first entry at offset `oldest` (never above 0)."""

    oldest: int
    reached: np.ndarray

    @property
    def newest(self) -> int:
        return self.oldest + len(self.reached) - 1

    @property
    def span(self) -> int:
        return len(self.reached)

    @property
    def offsets(self) -> np.ndarray:
        """Reached offsets in input rows, relative to the row's own place, ascending."""
        return np.flatnonzero(self.reached) + self.oldest

    @property
    def holes(self) -> np.ndarray:
        """Offsets inside the span that no path reaches, ascending."""
        return np.flatnonzero(~self.reached) + self.oldest

    @property
    def coverage(self) -> float:
        """Reached rows over the span's rows, above 0 and at most 1."""
        return float(self.reached.mean())


def fields(schedule: Sequence[Layer]) -> list[Field]:
    """The field of a row of every level, the input's own {0} first, then one a layer: the union over all paths."""
    found = [Field(0, np.ones(1, dtype=bool))]
    for layer, jump in zip(check(schedule), jumps(schedule), strict=False):
        found.append(_widened(found[-1], [offset * jump for offset in layer.offsets]))
    return found


def field(schedule: Sequence[Layer]) -> Field:
    """The field of a row of the last layer."""
    return fields(schedule)[-1]


def _widened(before: Field, offsets: list[int]) -> Field:
    reached = np.zeros(before.span + offsets[-1] - offsets[0], dtype=bool)
    for offset in offsets:
        start = offset - offsets[0]
        reached[start : start + before.span] |= before.reached
    return Field(before.oldest + offsets[0], reached)


# ---- rows that exist: the input has an end on both sides


def lengths(schedule: Sequence[Layer], rows: int) -> list[int]:
    """Rows of every level when the input has `rows`: a stride s keeps every s-th, from row 0 on."""
    if not 1 <= rows <= MAX_ROWS:
        raise ValueError(f"The input must have 1 to {MAX_ROWS:,} rows, not {rows:,}.")
    found = [rows]
    for layer in check(schedule):
        found.append(-(-found[-1] // layer.stride))
    return found


def cone(schedule: Sequence[Layer], rows: int, output: int) -> list[np.ndarray]:
    """Rows of every level that one output row can depend on, input level first: bool, one array of its length a level.

    What lies outside the input is padding, a constant that nothing can come from. Raises ValueError for an output
    that is not there.
    """
    counts = lengths(schedule, rows)
    _check_row(output, counts[-1], "output")
    found = [_only(output, counts[-1])]
    for layer, count in zip(reversed(schedule), reversed(counts[:-1]), strict=True):
        found.append(_read_by(layer, np.flatnonzero(found[-1]), count))
    return found[::-1]


def shadow(schedule: Sequence[Layer], rows: int, place: int) -> list[np.ndarray]:
    """Rows of every level that one input row can change, input level first: the cone upward."""
    counts = lengths(schedule, rows)
    _check_row(place, rows, "input")
    found = [_only(place, rows)]
    for layer, count in zip(schedule, counts[1:], strict=True):
        found.append(_reads_any(layer, found[-1], count))
    return found


def reach(schedule: Sequence[Layer], rows: int) -> np.ndarray:
    """Every output row by every input row, (rows of the last layer, rows) bool: cones and shadows in one matrix."""
    found = np.eye(lengths(schedule, rows)[0], dtype=bool)
    for layer in schedule:
        above = np.zeros((-(-len(found) // layer.stride), rows), dtype=bool)
        own = np.arange(len(above)) * layer.stride
        for offset in layer.offsets:
            there = (own + offset >= 0) & (own + offset < len(found))
            above[there] |= found[own[there] + offset]
        found = above
    return found


def _only(row: int, count: int) -> np.ndarray:
    found = np.zeros(count, dtype=bool)
    found[row] = True
    return found


def _check_row(row: int, count: int, name: str) -> None:
    if not 0 <= row < count:
        raise ValueError(f"The {name} row must be from 0 to {count - 1:,}, not {row:,}.")


def _read_by(layer: Layer, chosen: np.ndarray, count: int) -> np.ndarray:
    places = (chosen[:, None] * layer.stride + np.array(layer.offsets)).ravel()
    found = np.zeros(count, dtype=bool)
    found[places[(places >= 0) & (places < count)]] = True
    return found


def _reads_any(layer: Layer, below: np.ndarray, count: int) -> np.ndarray:
    places = np.arange(count)[:, None] * layer.stride + np.array(layer.offsets)
    inside = (places >= 0) & (places < len(below))
    return np.any(below[places.clip(0, len(below) - 1)] & inside, axis=1)


# ---- how many layers a distance takes


def contiguous(layers: int, width: int, causal: bool = True) -> Schedule:
    """Dilation 1 everywhere: R_L = 1 + L (k - 1)."""
    return (Layer(width, 1, causal),) * layers


def doubling(layers: int, width: int, causal: bool = True) -> Schedule:
    """Dilations 1, 2, 4, ..: R_L = 1 + (k - 1)(2^L - 1)."""
    return tuple(Layer(width, 2**level, causal) for level in range(layers))


def powers(layers: int, width: int, causal: bool = True) -> Schedule:
    """Dilations 1, k, k^2, ..: R_L = k^L, every row reached by one path alone (0x07G)."""
    return tuple(Layer(width, width**level, causal) for level in range(layers))


def cycles(count: int, highest: int = 512, width: int = 2) -> Schedule:
    """WaveNet's: dilations 1, 2, 4, .. highest, the whole cycle `count` times."""
    levels = range(highest.bit_length())
    return tuple(Layer(width, 2**level) for _ in range(count) for level in levels if 2**level <= highest)


Rule = Callable[[int, int], Schedule]
RULES: dict[str, Rule] = {"contiguous": contiguous, "doubling": doubling, "powers of k": powers}


def fewest(rule: str, distance: int, width: int) -> int:
    """Least number of causal layers of RULES[rule] after which a row can depend on one `distance` rows earlier.

    By the spans of the rule's own schedules; these three leave no hole (doubling from width 2 on). Raises ValueError
    for a distance out of bounds, and for width 1, which never reaches another row.
    """
    if not 0 <= distance < MAX_SPAN:
        raise ValueError(f"The distance must be from 0 to {MAX_SPAN - 1:,} rows, not {distance:,}.")
    if not 2 <= width <= MAX_WIDTH:
        raise ValueError(
            f"The width must be from 2 to {MAX_WIDTH}, not {width}: one row alone reaches no other."
        )
    counts = range(distance + 1)  # every layer adds one row at least
    return bisect_left(counts, distance, key=lambda layers: span(RULES[rule](layers, width)) - 1)


PRESETS: dict[str, Schedule] = {
    "Contiguous, six of width 5": contiguous(6, 5),
    "Doubling 1, 2, 4, 8": doubling(4, 2),
    "Powers of 3": powers(4, 3),
    "WaveNet, one cycle 1 to 512": cycles(1),
    "WaveNet, three cycles": cycles(3),
    "With holes": (Layer(2, 1), Layer(2, 4)),
    "Centred, four of width 3": contiguous(4, 3, causal=False),
    "Strided": (Layer(3, stride=2), Layer(3, stride=2), Layer(3)),
}


# ---- what a measured derivative says about the field


def effective(mass: np.ndarray, place: int, share: float = 0.9) -> int:
    """Smallest distance D such that the input rows within D of `place` hold `share` of the gradient mass.

    mass (N,), not negative: the derivative's norm at each input row. Raises ValueError where there is none at all.
    """
    mass = np.asarray(mass, dtype=float)
    if not 0 < share <= 1:
        raise ValueError("The share of the gradient mass must be above 0 and at most 1.")
    if not mass.sum() > 0:
        raise ValueError("This output does not move with any input row: there is no gradient mass.")
    distance = np.abs(np.arange(len(mass)) - place)
    held = np.bincount(distance, weights=mass).cumsum() / mass.sum()
    return int(np.argmax(held >= share - 1e-12))
