"""Beam search over the one-step interface (Sutskever et al. 2014, 3.2; Graves 2012).

At each step every live hypothesis of a request is extended by every token and the `width` best unfinished
ones are kept. A finished hypothesis is ranked by log p(y | x) / length^penalty; penalty 1 is the mean a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from models.interface import Rows, System
from models.training.tokenizer import BOS, EOS


@dataclass(frozen=True)
class Hypothesis:
    """tokens without EOS; log_prob of the whole sequence (EOS included when finished); its rank score."""

    tokens: list[int]
    log_prob: float
    score: float
    finished: bool


def _rank(log_prob: float, length: int, penalty: float) -> float:
    return log_prob / length**penalty


@torch.inference_mode()
def beam_search(
    system: System, source: Rows, width: int = 4, max_length: int = 64, penalty: float = 1.0
) -> list[list[Hypothesis]]:
    """Hypotheses of every request, best first; at least one each.

    A request stops when `width` hypotheses are finished or max_length decisions are made; what is still
    unfinished then competes as it stands.
    """
    count, device = source.ids.shape[0], source.ids.device
    state: Any = system.read(source)
    state = state.select(torch.arange(count, device=device).repeat_interleave(width))
    live = torch.full((count, width), -torch.inf, device=device)
    live[:, 0] = 0.0  # all hypotheses of a request start equal: extend one of them
    token = torch.full((count * width,), BOS, device=device)
    tokens: list[list[list[int]]] = [[[] for _ in range(width)] for _ in range(count)]
    found: list[list[Hypothesis]] = [[] for _ in range(count)]
    for length in range(1, max_length + 1):
        stepped = system.step(state, token)
        values, parents, chosen = _extend(stepped.logits, live)
        live = torch.full_like(live, -torch.inf)
        keep = torch.zeros(count, width, dtype=torch.long, device=device)
        for b in range(count):
            if len(found[b]) < width:
                live[b], keep[b], tokens[b] = _sort_out(
                    found[b], tokens[b], values[b].tolist(), parents[b].tolist(), chosen[b].tolist(), width, length, penalty, live[b], keep[b]
                )  # fmt: skip
        if all(len(f) >= width for f in found):
            break
        offset = torch.arange(count, device=device).unsqueeze(1) * width
        state = stepped.state.select((keep + offset).flatten())
        token = torch.tensor([t[-1] if t else EOS for row in tokens for t in row], device=device)
    for b in range(count):
        _close(found[b], tokens[b], live[b].tolist(), width, penalty)
    return [sorted(f, key=lambda h: -h.score) for f in found]


def _extend(logits: Tensor, live: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The 2 width best extensions of each request: log-probabilities, parent slots, tokens, (B, 2 width) each."""
    count, width = live.shape
    total = torch.log_softmax(logits, dim=-1).unflatten(0, (count, width)) + live.unsqueeze(-1)
    values, flat = total.flatten(1).topk(2 * width, dim=-1)  # EOS may take up to width of them
    return values, flat // logits.shape[-1], flat % logits.shape[-1]


def _sort_out(
    found: list[Hypothesis],
    tokens: list[list[int]],
    values: list[float],
    parents: list[int],
    chosen: list[int],
    width: int,
    length: int,
    penalty: float,
    live: Tensor,
    keep: Tensor,
) -> tuple[Tensor, Tensor, list[list[int]]]:
    """Finished extensions among the best go to `found`; the next `width` unfinished ones live on."""
    slots: list[list[int]] = []
    for rank, (value, parent, token) in enumerate(zip(values, parents, chosen, strict=True)):
        if value == -float("inf"):
            continue
        if token == EOS:
            if rank < width and len(found) < width:
                found.append(Hypothesis(tokens[parent], value, _rank(value, length, penalty), True))
        elif len(slots) < width:
            live[len(slots)], keep[len(slots)] = value, parent
            slots.append([*tokens[parent], token])
    return live, keep, slots + [[] for _ in range(width - len(slots))]


def _close(found: list[Hypothesis], tokens: list[list[int]], live: list[float], width: int, penalty: float) -> None:
    for row, value in zip(tokens, live, strict=True):
        if len(found) < width and row and value > -float("inf"):
            found.append(Hypothesis(row, value, _rank(value, len(row), penalty), False))
