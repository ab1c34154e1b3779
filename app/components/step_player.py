"""Step player: the values of a decoder step in the order in which they are computed, played in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from app.components import _payload
from app.components._build import register
from app.components._payload import matrix, pack_numbers, words

_mount = register("step_player", ("formula.js", "player.js", "player_hand.js"), ("player.css",))

Kind = Literal["vector", "scores", "weights", "token"]
Role = Literal["source", "target", "state", "decision"]


@dataclass(frozen=True)
class Stage:
    """One value of the step.

    symbol may hold _{..} and ^{..}, as in "s_{t-1}". inputs: ids of the stages it is computed from, and "H" for the
    source annotations; none: the value is given before the step begins. kind "scores" and "weights" draw the (T, S)
    arrays of the player, "token" the decision, "vector" `preview` (T, k): a few components a step, as bars.
    norm (T,): the length of the whole vector, for tooltip and table.
    """

    id: str
    symbol: str
    label: str
    role: Role = "state"
    kind: Kind = "vector"
    inputs: tuple[str, ...] = ()
    shape: str = ""
    equation: str = ""
    preview: np.ndarray | None = None
    norm: np.ndarray | None = None


def step_player(
    stages: Sequence[Stage],
    target: Sequence[str],
    source: Sequence[str],
    *,
    key: str,
    weights: np.ndarray,
    log_probs: np.ndarray | Sequence[float],
    scores: np.ndarray | None = None,
    centre: np.ndarray | Sequence[float] | None = None,
    window: np.ndarray | Sequence[tuple[int, int]] | None = None,
    title: str = "",
    group: str | None = None,
    source_group: str | None = None,
    pace: int = 900,
    version: str | None = None,
) -> None:
    """Play `stages`, in the order given, for every target token.

    weights, scores (T, S); log_probs (T,) of the chosen tokens, in nats. centre (T,): a position on the source axis,
    0 = first token; window (T, 2): first and last position that may be read. pace: milliseconds a stage.
    Raises ValueError when shapes do not agree or a stage uses one that comes later.
    """
    rows, columns = words("target", target), words("source", source)
    steps, shape = len(rows), (len(rows), len(columns))
    _check(stages)
    data = {
        "target": rows,
        "source": columns,
        "stages": [_stage(stage, steps) for stage in stages],
        "weights": pack_numbers(matrix("weights", weights, shape)),
        "scores": None if scores is None else pack_numbers(matrix("scores", scores, shape)),
        "log_probs": matrix("log_probs", np.asarray(log_probs, dtype=float), (steps,)).tolist(),
        "centre": None
        if centre is None
        else matrix("centre", np.asarray(centre, dtype=float), (steps,)).tolist(),
        "window": None
        if window is None
        else matrix("window", np.asarray(window, dtype=int), (steps, 2)).tolist(),
        "title": title,
        "pace": pace,
    }
    links = {"group": group, "source_group": source_group, "version": version or _payload.digest(data)}
    _mount(key=key, data=data | links)


def _stage(stage: Stage, steps: int) -> dict[str, Any]:
    preview = None if stage.preview is None else np.asarray(stage.preview)
    if preview is not None and (preview.ndim != 2 or len(preview) != steps):
        raise ValueError(f"preview of {stage.id} has shape {preview.shape}, expected ({steps}, k)")
    return {
        "id": stage.id,
        "symbol": stage.symbol,
        "label": stage.label,
        "role": stage.role,
        "kind": stage.kind,
        "inputs": list(stage.inputs),
        "shape": stage.shape,
        "equation": stage.equation,
        "preview": None if preview is None else pack_numbers(preview),
        "norm": None if stage.norm is None else pack_numbers(matrix("norm", stage.norm, (steps,))),
    }


def _check(stages: Sequence[Stage]) -> None:
    known = {"H"}
    for stage in stages:
        missing = set(stage.inputs) - known
        if missing:
            raise ValueError(f"stage {stage.id} reads {sorted(missing)}, which no earlier stage computes")
        if stage.id in known:
            raise ValueError(f"stage id {stage.id} is used twice")
        known.add(stage.id)
    if not any(stage.inputs for stage in stages):
        raise ValueError("a step needs at least one stage with inputs")
