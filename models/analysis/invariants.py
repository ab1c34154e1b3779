"""What must hold in every run, computed on the run itself: the checks that stand beside a picture.

Each function returns the size of the violation, 0 when the invariant holds exactly. TOLERANCE is what float32
rounding may leave between two orders of the same sums.
"""

from __future__ import annotations

import torch
from torch import Tensor

from models.interface import Rows, System
from models.training.tokenizer import N_SPECIAL, PAD

TOLERANCE = 1e-3  # logits; a convention error moves them by 0.01 to 2 (shared golden mutation_check)
WEIGHT_TOLERANCE = 1e-5


def step_difference(stepped: Tensor, scored: Tensor) -> float:
    """Largest |difference| of logits (T, V) between repeated steps and one teacher-forced pass."""
    return float((stepped - scored).abs().max())


@torch.inference_mode()
def future_difference(system: System, source: Rows, target_in: Tensor, logits: Tensor) -> float:
    """Change the last supplied target token; the largest change of any earlier row's logits (causality).

    target_in (1, T), logits (1, T, V) of the unchanged input. A single row has no earlier one: 0.
    """
    if target_in.shape[1] < 2:
        return 0.0
    after = system.score(source, _other_last(system, target_in)).logits
    return float((after[:, :-1] - logits[:, :-1]).abs().max())


def _other_last(system: System, target_in: Tensor) -> Tensor:
    """The same tokens with another one in the last place."""
    changed = target_in.clone()
    changed[:, -1] = N_SPECIAL + (changed[:, -1] + 1) % (system.output_table()[0].shape[0] - N_SPECIAL)
    return changed


@torch.inference_mode()
def padding_difference(
    system: System, source: Rows, target_in: Tensor, logits: Tensor, extra: int = 3
) -> float:
    """Append `extra` padded source rows; the largest change of any logit."""
    return float((system.score(_padded(source, extra), target_in).logits - logits).abs().max())


def _padded(source: Rows, extra: int) -> Rows:
    ids = torch.nn.functional.pad(source.ids, (0, extra), value=PAD)
    return Rows(ids, torch.nn.functional.pad(source.valid, (0, extra), value=False))


@torch.inference_mode()
def disturbances(
    system: System, source: Rows, target_in: Tensor, logits: Tensor, extra: int = 3
) -> tuple[float, float]:
    """`future_difference` and `padding_difference` of one request from a single pass over a batch of two.

    Both rows have `extra` padded source rows; the second has another last target token. A page does this at every
    edit, and a batch of two costs little more than one.
    """
    padded = _padded(source, extra)
    both = Rows(padded.ids.expand(2, -1), padded.valid.expand(2, -1))
    after = system.score(both, torch.cat([target_in, _other_last(system, target_in)])).logits
    future = (after[1, :-1] - after[0, :-1]).abs()
    return float(future.max()) if future.numel() else 0.0, float((after[0] - logits[0]).abs().max())


def row_sum_difference(weights: Tensor, expected: Tensor | float = 1.0) -> float:
    """Largest |sum over source - expected| of weights (..., S)."""
    return float((weights.sum(dim=-1) - expected).abs().max())


def masked_mass(weights: Tensor, visible: Tensor) -> float:
    """Largest weight on a row that may not be read. visible broadcasts against weights (..., S)."""
    return float(weights.masked_fill(visible, 0.0).abs().max())
