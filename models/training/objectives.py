"""Objectives: which rows of a batch predict which labels (0x0B.2).

An objective takes a system and a batch and returns (rows, labels): rows (N, d_model) for the output table, labels (N,).
The trainer applies the same softmax loss to all of them. `Entry.objective` names one of OBJECTIVES.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from models.training.corpus import Batch

Objective = Callable[[Any, Batch], tuple[Tensor, Tensor]]


def target_rows(system: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """Every known target row predicts the next target token, EOS included (teacher forcing)."""
    rows, _ = system.features(batch.source, batch.target_in)
    return rows[batch.known], batch.labels[batch.known]


OBJECTIVES: dict[str, Objective] = {"target_rows": target_rows}
