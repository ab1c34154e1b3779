"""One run of the real system under the chosen relations: every read, every decision before and after, and checks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from app.experiments.masks.relations import Relations
from app.experiments.masks.request import Request, forward, loaded
from app.experiments.run import Check
from models.analysis import invariants
from models.layers.visibility import Empty

MOST_TOKENS = 8  # of a row's distribution


@dataclass(frozen=True)
class Move:
    """One token of a row's distribution, before and after."""

    token: str
    before: float
    after: float


@dataclass(frozen=True)
class Run:
    """weights (L, h, R, C) a relation. A row t decides answers[t]: log_before and log_after are its log-probability;
    distance[t] is the total variation between both distributions; moves[t]: what moved most, the largest first."""

    weights: Mapping[str, np.ndarray]
    log_before: np.ndarray
    log_after: np.ndarray
    distance: np.ndarray
    moves: tuple[tuple[Move, ...], ...]
    said: tuple[str, ...]
    checks: tuple[Check, ...]


def run(request: Request, relations: Relations, empty: Empty) -> Run:
    """Score the request under the relations. Raises EmptyRowError where a row may read nothing and empty is "error"."""
    scored = forward(request.ask.slug, request.source, request.target, relations.masks(), empty)
    reads = loaded(request.ask.slug)[1].reads(scored.trace)
    weights = {name: torch.stack([one.weights[0] for one in layers]) for name, layers in reads.items()}
    before, after = (
        _log(x) for x in (torch.from_numpy(request.logits).to(scored.logits.device), scored.logits[0])
    )
    answers = torch.tensor(request.answers, device=after.device).unsqueeze(-1)
    p, q = before.exp(), after.exp()
    tokenizer = loaded(request.ask.slug)[0].tokenizer
    return Run(
        {name: one.cpu().numpy() for name, one in weights.items()},
        before.gather(-1, answers).squeeze(-1).cpu().numpy(),
        after.gather(-1, answers).squeeze(-1).cpu().numpy(),
        ((q - p).abs().sum(-1) / 2).cpu().numpy(),
        _moves(request, p, q),
        tuple(tokenizer.pieces(after.argmax(-1).tolist())),
        _checks(weights, relations),
    )


def _log(logits: Tensor) -> Tensor:
    return torch.log_softmax(logits, dim=-1)


def _moves(request: Request, p: Tensor, q: Tensor) -> tuple[tuple[Move, ...], ...]:
    """By |after - before|; a row that did not move shows what it holds likeliest."""
    apart = (q - p).abs()
    order = torch.where(apart.amax(-1, keepdim=True) > 1e-6, apart, p)
    best = order.topk(MOST_TOKENS, dim=-1).indices
    pieces = loaded(request.ask.slug)[0].tokenizer.pieces
    told = zip(best.tolist(), p.gather(-1, best).tolist(), q.gather(-1, best).tolist(), strict=True)
    return tuple(
        tuple(Move(*one) for one in zip(pieces(ids), before, after, strict=True))
        for ids, before, after in told
    )


def _checks(weights: Mapping[str, Tensor], relations: Relations) -> tuple[Check, ...]:
    """Rows sum to one over what they may read (to zero where that is nothing), and nothing stands outside."""
    off = mass = 0.0
    for name, stack in weights.items():
        visible = torch.from_numpy(relations.used[name]).to(stack.device).unsqueeze(1)  # (L, 1, R, C)
        off = max(off, invariants.row_sum_difference(stack, visible.any(-1).to(stack.dtype)))
        mass = max(mass, invariants.masked_mass(stack, visible))
    finite = all(bool(torch.isfinite(stack).all()) for stack in weights.values())
    return (
        Check("rows sum to 1", off <= invariants.WEIGHT_TOLERANCE, off,
              "Largest distance of a row's sum from 1 over the keys it may read, all layers and heads; a row with "
              "nothing to read sums to 0."),
        Check("mass outside 0", mass == 0.0, mass, "Largest weight on a key that may not be read."),
        Check("no NaN", finite, 0.0, "Every weight of every layer and head is a finite number."),
    )  # fmt: skip


def fingerprint(slug: str) -> str:
    """SHA-256 of every parameter and buffer of the loaded system, byte for byte."""
    found = hashlib.sha256()
    for name, tensor in sorted(loaded(slug)[1].state_dict().items()):
        found.update(name.encode())
        found.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()


def untouched(slug: str, before: str) -> Check:
    """The shared weights now, against their hash when the page first met them."""
    now = fingerprint(slug)
    return Check(
        "weights unchanged", now == before, 0.0,
        f"SHA-256 of all parameters, before {before[:12]}…, after this run {now[:12]}….",
    )  # fmt: skip
