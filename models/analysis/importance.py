"""How much a source row matters for a decision, by two measures that do not look at the weights (0x04J).

    gradient          |d log p(y_t) / d E x_j|        length of the derivative by the embedded source row
    gradient x input  d log p(y_t) / d E x_j . E x_j  signed, first order change when the row is scaled
    leave one out     total variation of p(y_t | y_<t, x) and p(y_t | y_<t, x without row j), encoded again

Jain and Wallace (NAACL 2019) compare attention weights with the first and the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from models.interface import Rows, System
from models.training.tokenizer import BOS, PAD

CHUNK = 16  # shortened sentences encoded together


@dataclass(frozen=True)
class Gradients:
    """norm and times_input (n, S): decisions x source rows."""

    norm: np.ndarray
    times_input: np.ndarray


@dataclass(frozen=True)
class LeftOut:
    """Decisions x left-out groups (n, G): total variation of the output distribution, and the drop of log p(y_t)."""

    total_variation: np.ndarray
    log_prob_drop: np.ndarray


def gradients(
    system: System, source: Sequence[int], target: Sequence[int], decisions: Sequence[int]
) -> Gradients:
    """Derivatives of log p(target[t]) for t in decisions, by the embedded rows of source (ids with EOS).

    Parameters get no gradients: the loaded system is shared.
    """
    with torch.inference_mode(False), torch.enable_grad():
        table = system.source_table()
        ids = torch.tensor([list(source)], device=table.weight.device)
        vectors = table(ids).detach().requires_grad_(True)
        rows = Rows(ids, torch.ones_like(ids, dtype=torch.bool), vectors)
        features, _ = system.features(rows, _shifted(target[: max(decisions) + 1], ids))
        found = [_derivative(system, features[0, t], target[t], vectors) for t in decisions]
        slopes = torch.stack(found)  # (n, S, d)
        inner = (slopes * vectors.detach()).sum(-1)
    return Gradients(slopes.norm(dim=-1).cpu().numpy(), inner.cpu().numpy())


def _derivative(system: System, row: Tensor, token: int, vectors: Tensor) -> Tensor:
    """(S, d); the graph is kept for the other decisions."""
    log_prob = torch.log_softmax(system.project(row), dim=-1)[token]
    (slope,) = torch.autograd.grad(log_prob, vectors, retain_graph=True)
    return slope[0].detach()


@torch.inference_mode()
def leave_out(
    system: System,
    source: Sequence[int],
    target: Sequence[int],
    decisions: Sequence[int],
    groups: Sequence[Sequence[int]],
) -> LeftOut:
    """Encode source again without each group of its rows, and compare the decisions about the same target.

    Raises ValueError where a group leaves no row.
    """
    steps = max(decisions) + 1
    whole = _log_probs(system, [list(source)], target[:steps])[0, list(decisions)]  # (n, V)
    chosen = torch.tensor([target[t] for t in decisions], device=whole.device).unsqueeze(-1)
    variation, drop = [], []
    for start in range(0, len(groups), CHUNK):
        shorter = [_without(source, group) for group in groups[start : start + CHUNK]]
        changed = _log_probs(system, shorter, target[:steps])[:, list(decisions)]  # (G, n, V)
        variation.append((changed.exp() - whole.exp()).abs().sum(-1) / 2)
        drop.append(
            (whole.gather(-1, chosen) - changed.gather(-1, chosen.expand(len(shorter), -1, -1)))[..., 0]
        )
    return LeftOut(torch.cat(variation).T.cpu().numpy(), torch.cat(drop).T.cpu().numpy())


def _without(source: Sequence[int], group: Sequence[int]) -> list[int]:
    left = [token for place, token in enumerate(source) if place not in set(group)]
    if not left:
        raise ValueError("Leaving out every source row leaves nothing to read.")
    return left


def _log_probs(system: System, sources: list[list[int]], target: Sequence[int]) -> Tensor:
    """Teacher-forced log-probabilities of several sources under one target, (B, T, V)."""
    device, width = system.source_table().weight.device, max(map(len, sources))
    ids = torch.tensor([row + [PAD] * (width - len(row)) for row in sources], device=device)
    lengths = torch.tensor([len(row) for row in sources], device=device).unsqueeze(1)
    valid = torch.arange(width, device=device) < lengths
    return torch.log_softmax(system.score(Rows(ids, valid), _shifted(target, ids)).logits, dim=-1)


def _shifted(target: Sequence[int], like: Tensor) -> Tensor:
    """BOS and all but the last of target, once for each row of `like`, (B, T)."""
    return torch.tensor([[BOS, *target[:-1]]], device=like.device).expand(like.shape[0], -1)
