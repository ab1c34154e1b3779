"""What the relations allow an output row to depend on after all layers, next to what is measured (0x05, 0x09)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from app.experiments.masks.relations import Relations
from app.experiments.masks.request import Request, loaded, tensors
from models.analysis.influence import influence
from models.analysis.reachability import outside, reachable
from models.layers.visibility import Empty


@dataclass(frozen=True)
class Reached:
    """allowed (T, N) and measured (T, N): output rows by input rows, source first. fault (T, N): measured where
    nothing is allowed, zero in a sound program."""

    allowed: np.ndarray
    measured: np.ndarray
    fault: np.ndarray

    @property
    def used(self) -> float:
        """Share of the allowed pairs whose measured influence is at least a hundredth of the largest."""
        most = float(self.measured.max())
        return float((self.measured[self.allowed] >= most / 100).mean()) if most else 0.0


def allowed(request: Request, relations: Relations) -> np.ndarray:
    """Boolean (T, N), from the relations of every layer alone; residual paths included."""
    stacks = {name: list(torch.from_numpy(stack)) for name, stack in relations.used.items()}
    found = reachable(stacks).numpy()
    return found[len(request.source) :] if "stream" in stacks else found


def reached(request: Request, relations: Relations, empty: Empty) -> Reached:
    """The same pairs measured on the real system: the norm of d row / d embedding, by four random probes a row."""
    may = allowed(request, relations)
    source, *target = tensors(request.source, request.target)
    found = influence(
        loaded(request.ask.slug)[1],
        source,
        target[0] if target else None,
        masks=relations.masks(),
        empty=empty,
    ).cpu()
    return Reached(may, found.numpy(), outside(found, torch.from_numpy(may)).numpy())
