"""The lattice of one schedule, its span layer by layer, its holes, and the layers a distance takes (0x05B, 0x05C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.experiments.check import Check
from models.analysis import receptive
from models.analysis.receptive import Schedule


@dataclass(frozen=True)
class LayerField:
    """What a row reaches after this layer, far from the edges: `span` input rows R, of which `reached` by a path.

    added: the term (k - 1) d j by which the layer widens the span; jump j: input rows between neighbouring rows below.
    """

    number: int
    width: int
    dilation: int
    causal: bool
    stride: int
    jump: int
    added: int
    span: int
    reached: int

    @property
    def holes(self) -> int:
        return self.span - self.reached

    @property
    def coverage(self) -> float:
        return self.reached / self.span


@dataclass(frozen=True)
class Lattice:
    """A schedule over `positions` input rows. `output` is a row of the last layer; `reached` (positions,) what it can
    depend on among the rows that exist; oldest and newest are the field's ends relative to its place."""

    schedule: Schedule
    positions: int
    counts: tuple[int, ...]
    output: int
    place: int
    oldest: int
    newest: int
    reached: np.ndarray
    layers: tuple[LayerField, ...]
    checks: tuple[Check, ...]

    @property
    def last(self) -> LayerField:
        return self.layers[-1]

    @property
    def holes(self) -> np.ndarray:
        """Input rows between the first and the last reached one that no path reaches."""
        rows = np.flatnonzero(self.reached)
        return np.setdiff1d(np.arange(rows[0], rows[-1] + 1), rows)

    @property
    def cut(self) -> bool:
        """Whether the field reaches over an end of the rows."""
        return self.place + self.oldest < 0 or self.place + self.newest >= self.positions


def lattice(schedule: Schedule, positions: int, output: int | None) -> Lattice:
    """output None, or one that is not there: the last row, or the middle one where a layer reads both sides."""
    counts = receptive.lengths(schedule, positions)
    chosen = output if output is not None and output < counts[-1] else _default(schedule, counts[-1])
    jumps = receptive.jumps(schedule)
    fields, cone = receptive.fields(schedule), receptive.cone(schedule, positions, chosen)
    layers = tuple(
        LayerField(
            number, one.width, one.dilation, one.causal, one.stride, jump, (one.width - 1) * one.dilation * jump,
            field.span, int(field.reached.sum()),
        )
        for number, (one, jump, field) in enumerate(zip(schedule, jumps, fields[1:], strict=False), start=1)
    )  # fmt: skip
    last, place = fields[-1], chosen * jumps[-1]
    checks = _checks(schedule, positions, chosen, cone[0], last.offsets + place)
    return Lattice(
        schedule, positions, tuple(counts), chosen, place, last.oldest, last.newest, cone[0], layers, checks
    )


def _default(schedule: Schedule, rows: int) -> int:
    return rows - 1 if all(one.causal for one in schedule) else rows // 2


def _checks(
    schedule: Schedule, positions: int, output: int, reached: np.ndarray, field: np.ndarray
) -> tuple[Check, ...]:
    """The recurrence against the graph, the walk from the output against the field, and the walk back up."""
    formula, graph = receptive.span(schedule), receptive.field(schedule).span
    inside = field[(field >= 0) & (field < positions)]
    walked = len(np.setxor1d(np.flatnonzero(reached), inside))
    upward = sum(
        bool(receptive.shadow(schedule, positions, row)[-1][output]) != bool(reached[row])
        for row in _some(positions)
    )
    return (
        Check("formula = graph", formula == graph, abs(formula - graph),
              "Difference between R_L by the recurrence and the span of the union over all paths."),
        Check("walk = field", walked == 0, walked,
              "Input rows that the walk down from this output reaches and the shifted field does not, or the reverse."),
        Check("up = down", upward == 0, upward,
              "Input rows, of 16 spread over the sequence, whose cone upward disagrees with the cone of the output."),
    )  # fmt: skip


def _some(positions: int, count: int = 16) -> list[int]:
    return sorted({int(k) for k in np.linspace(0, positions - 1, count)})


# ---- how many layers a distance takes


@dataclass(frozen=True)
class Least:
    """Fewest layers of each rule from which a row can depend on one `distance` rows earlier, and of this schedule:
    own is None where its layers never get there, and `misses` says that the distance then falls into a hole."""

    distance: int
    width: int
    rules: dict[str, int]
    own: int | None
    misses: bool


def least(schedule: Schedule, distance: int, width: int) -> Least:
    """Raises ValueError with a sentence for a distance or width out of bounds."""
    rules = {rule: receptive.fewest(rule, distance, width) for rule in receptive.RULES}
    fields = receptive.fields(schedule)
    own = next((level for level, one in enumerate(fields) if -distance in one.offsets), None)
    return Least(distance, width, rules, own, own is None and -fields[-1].oldest >= distance)
