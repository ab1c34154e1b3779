"""Sentences about a run, made from its numbers. No torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.experiments.masks.leak import Leak
    from app.experiments.masks.request import Request
    from app.experiments.masks.run import Run

FELL = (
    "A loss that falls because a row can see its answer is the first sign of a missing causal mask (0x0B.8): nothing "
    "was learned that a decoder could use, since at decoding the later token does not exist yet."
)
ROSE = (
    "A leak, and still no lower loss: this model was trained with those cells closed and never learned to use them. A "
    "model that is trained under such a relation learns to copy the answer, and its loss falls far below what can be "
    "known: the suspicious sign of 0x0B.8."
)


def loss_told(run: Run, request: Request, found: Leak) -> tuple[str, str]:
    """What the leak, or its absence, does to the teacher-forced loss."""
    rows = list(request.scored)
    fell = float(run.log_after[rows].mean() - run.log_before[rows].mean())
    if not found.leaks:
        return (
            "No later token reaches an earlier row.",
            "The loss is a fair one: each row is scored on what it can know.",
        )
    count = len(found.rows)
    lead = f"{count} of {len(request.decisions)} rows hear of a later token."
    return lead, FELL if fell > 0.001 else ROSE
