"""Is a weight a reason? Weights moved in one decision, beside importances that do not look at weights (0x04J).

Importances are over units as shown (words or pieces), the end sign included: weights and gradient x input are added
over the pieces of a unit, gradient lengths joined by the square root of the sum of squares, and leave-one-out encodes
the sentence again without all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.experiments.alignment.reading import Reading, translator
from app.experiments.run import Show
from models.analysis import importance, moved_weights
from models.analysis.distances import kendall, spearman
from models.analysis.moved_weights import Movement

PERMUTATIONS = 20
MEASURES = {
    "gradient": "Gradient length",
    "times_input": "Gradient × input",
    "left_out": "Leave one out",
}


@dataclass(frozen=True)
class Importance:
    """One decision over U source units: weights, three importances, and their rank correlations with the weights.

    tau and rho: Kendall and Spearman by measure (magnitudes ranked), None where a measure ranks nothing.
    """

    units: tuple[str, ...]
    weights: np.ndarray
    gradient: np.ndarray
    times_input: np.ndarray
    left_out: np.ndarray
    log_prob_drop: np.ndarray
    tau: dict[str, float | None]
    rho: dict[str, float | None]


@dataclass(frozen=True)
class Row:
    """One decision of the table over all of them. movement is None where one row of weights is not the whole read."""

    piece: str
    movement: Movement | None
    importance: Importance


def movable(reading: Reading) -> bool:
    """Whether one row of weights is the whole read of a decision."""
    return reading.ask.choice.combination.recurrent


def movement(reading: Reading, t: int, tolerance: float, seed: int) -> Movement:
    """Permuted, equal and searched weights in decision t of a recurrent decoder."""
    using = translator(reading.ask.choice)
    rows = using.rows(list(reading.source.ids))
    decision = moved_weights.reach(using.system, rows, reading.target.ids, t)
    chosen = reading.target.ids[t]
    return moved_weights.move(decision, chosen, tolerance, seed=seed, permutations=PERMUTATIONS)


def pieces(reading: Reading, tokens: np.ndarray) -> list[str]:
    """Display forms of token ids."""
    return translator(reading.ask.choice).tokenizer.pieces(tokens.tolist())


def importances(reading: Reading, decisions: list[int], show: Show) -> list[Importance]:
    """The three importances of each decision, over source units as shown."""
    using, units = translator(reading.ask.choice), reading.columns(show)
    source, target = reading.source.ids, reading.target.ids
    slopes = importance.gradients(using.system, source, target, decisions)
    groups = [range(start, stop) for _, start, stop in units]
    without = importance.leave_out(using.system, source, target, decisions, groups)
    labels = tuple(text for text, _, _ in units)
    return [
        _importance(
            labels,
            _add(reading.weights[t], groups),
            np.sqrt(_add(slopes.norm[n] ** 2, groups)),
            _add(slopes.times_input[n], groups),
            without.total_variation[n],
            without.log_prob_drop[n],
        )
        for n, t in enumerate(decisions)
    ]


def everything(
    reading: Reading,
    tolerance: float,
    seed: int,
    show: Show,
    report: Callable[[float], None] = lambda share: None,
) -> list[Row]:
    """Every decision of the run: its moved weights and its importances."""
    steps = len(reading.target.ids)
    found = importances(reading, list(range(steps)), show)
    rows = []
    for t, one in enumerate(found):
        report(t / steps)
        moved = movement(reading, t, tolerance, seed) if movable(reading) else None
        rows.append(Row(reading.target.pieces[t], moved, one))
    return rows


def mean_tau(rows: list[Row], measure: str) -> float | None:
    """Mean of Kendall's tau over the decisions that have one."""
    found = [row.importance.tau[measure] for row in rows]
    known = [value for value in found if value is not None]
    return float(np.mean(known)) if known else None


def _importance(
    units: tuple[str, ...],
    weights: np.ndarray,
    gradient: np.ndarray,
    times_input: np.ndarray,
    left_out: np.ndarray,
    drop: np.ndarray,
) -> Importance:
    sizes = {"gradient": gradient, "times_input": np.abs(times_input), "left_out": left_out}
    tau = {name: kendall(weights, size) for name, size in sizes.items()}
    rho = {name: spearman(weights, size) for name, size in sizes.items()}
    return Importance(units, weights, gradient, times_input, left_out, drop, tau, rho)


def _add(values: np.ndarray, groups: list[range]) -> np.ndarray:
    return np.array([values[list(group)].sum() for group in groups])


HEAD = ("weights", "JS", "TV of outputs", "p of the choice", "most probable")
EVERY_HEAD = (
    "decision",
    "JS found",
    "TV",
    "choice",
    "TV uniform",
    *(f"τ {name.lower()}" for name in MEASURES.values()),
)


def far(found: Movement) -> bool:
    """Whether weights at more than half the largest distance were found within the tolerance."""
    return float(found.adversarial.js[0]) > 0.5


def kinds(found: Movement) -> tuple[list[str], list[np.ndarray], list[int]]:
    """Names and weights to draw: own, equal, the permutation that changes the output most, and the search's."""
    worst = int(found.permuted.tv.argmax())
    rows = [
        found.own.weights[0],
        found.uniform.weights[0],
        found.permuted.weights[worst],
        found.adversarial.weights[0],
    ]
    return ["own", "uniform", "permuted", "searched"], rows, [0, 0, worst, 0]


def table(reading: Reading, found: Movement, names: list[str], indices: list[int]) -> list[list[str]]:
    """Each kind of weights in words: distance, effect, probability, and what would have been chosen."""
    parts = (found.own, found.uniform, found.permuted, found.adversarial)
    return [
        [
            name,
            f"{part.js[n]:.3f}",
            f"{part.tv[n]:.3f}",
            f"{part.chosen[n]:.3f}",
            pieces(reading, part.top[n : n + 1])[0],
        ]
        for name, part, n in zip(names, parts, indices, strict=True)
    ]


def verdict(found: Movement, piece: str) -> str:
    """What the search and the permutations found, in two sentences."""
    hit, own = found.adversarial, found.own
    kept = "is still the choice" if hit.top[0] == own.top[0] else "is no longer the most probable"
    reached = (
        f"weights at distance {hit.js[0]:.2f} from the system's own (1 = nothing in common) move the output by only "
        f"{hit.tv[0]:.3f} (allowed {found.tolerance:.2f}), and “{piece}” {kept}."
        if far(found)
        else f"within the allowed {found.tolerance:.2f} the search got no farther than distance {hit.js[0]:.2f} from "
        f"the system's own weights (1 = nothing in common); there “{piece}” {kept}."
    )
    unchanged = int((found.permuted.top == own.top[0]).sum())
    return (
        f"{reached} Of {len(found.permuted.js)} random permutations {unchanged} leave the most probable piece as it "
        f"was; they move the output by {np.median(found.permuted.tv):.2f} in the median."
    )


def every_row(row: Row, place: int) -> list[str]:
    """One decision of the table over all of them."""
    tau = [_shown(row.importance.tau[name]) for name in MEASURES]
    name = f"{place + 1}: {row.piece}"
    if row.movement is None:
        return [name, "", "", "", "", *tau]
    hit, own = row.movement.adversarial, row.movement.own
    kept = "kept" if hit.top[0] == own.top[0] else "changed"
    return [name, f"{hit.js[0]:.3f}", f"{hit.tv[0]:.3f}", kept, f"{row.movement.uniform.tv[0]:.3f}", *tau]


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
