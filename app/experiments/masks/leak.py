"""Leak test: replace each later target token, and see whether any earlier row's logits move (0x09, 0x0B.8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from app.experiments.masks.relations import Relations
from app.experiments.masks.request import Request, loaded, tensors
from app.experiments.run import Check
from models.analysis.invariants import TOLERANCE
from models.interface import Rows
from models.layers.visibility import Empty
from models.training.tokenizer import N_SPECIAL


@dataclass(frozen=True)
class Leak:
    """moved[i, j]: the largest change of row i's logits when target input j is replaced. A later input (j > i) must
    change nothing. worst: the largest of those, at row and token; check says whether it is more than rounding."""

    moved: np.ndarray
    worst: float
    row: int
    token: int
    check: Check

    @property
    def leaks(self) -> bool:
        return not self.check.passed

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that a later token reaches."""
        later = np.triu(self.moved, 1)
        return tuple(int(i) for i in np.flatnonzero(later.max(axis=1) > TOLERANCE))


@torch.inference_mode()
def leak(request: Request, relations: Relations, empty: Empty) -> Leak | None:
    """Every replacement in one batch beside the unchanged request; None for a family without a target."""
    if request.encoder_only:
        return None
    _, system = loaded(request.ask.slug)
    source, given = tensors(request.source, request.target)
    length = given.shape[1]
    many = given.expand(length + 1, -1).clone()  # copy 0 is unchanged, copy j + 1 has another token j
    places = torch.arange(length, device=given.device)
    many[places + 1, places] = _other(given[0], system.output_table()[0].shape[0])
    rows = Rows(source.ids.expand(length + 1, -1), source.valid.expand(length + 1, -1))
    features, _ = system.features(rows, many, masks=relations.masks(), empty=empty)
    logits = system.project(features)  # (T + 1, T, V)
    moved = (logits[1:] - logits[0]).abs().amax(-1).T.cpu().numpy()  # (row, replaced token)
    later = np.triu(moved, 1)
    worst, (row, token) = float(later.max()), map(int, np.unravel_index(int(later.argmax()), later.shape))
    return Leak(moved, worst, row, token, _check(request, worst, row, token))


def _check(request: Request, worst: float, row: int, token: int) -> Check:
    what = f"row {row + 1} ({request.decisions[row]}) when input {token + 1} ({request.given[token]}) is replaced"
    told = f"Largest change of an earlier row's logits: {worst:.2g}, {what}. Up to {TOLERANCE} is rounding."
    return Check("the future changes nothing", worst <= TOLERANCE, worst, told)


def _other(ids: torch.Tensor, vocabulary: int) -> torch.Tensor:
    """Another ordinary piece for each."""
    return N_SPECIAL + (ids + 1) % (vocabulary - N_SPECIAL)
