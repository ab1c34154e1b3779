"""Beam search over the one-step interface (Sutskever et al. 2014, 3.2; Graves 2012).

At each step every live hypothesis of a request is extended by every token and the `width` best unfinished
ones are kept. A finished hypothesis is ranked by log p(y | x) / length^penalty; penalty 1 is the mean a token.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from models.interface import Rows, System
from models.training.tokenizer import BOS, EOS

NEVER = -float("inf")


@dataclass(frozen=True)
class Hypothesis:
    """tokens without EOS; log_prob of the whole sequence (EOS included when finished); its rank score."""

    tokens: list[int]
    log_prob: float
    score: float
    finished: bool


@dataclass
class Request:
    """One source's search: live hypotheses with their log-probabilities and parent slots, and what has finished."""

    width: int
    penalty: float
    live: list[list[int]] = field(default_factory=lambda: [[]])
    log_probs: list[float] = field(default_factory=lambda: [0.0])
    parents: list[int] = field(default_factory=list)
    found: list[Hypothesis] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return len(self.found) >= self.width

    def extend(self, values: list[float], slots: list[int], tokens: list[int]) -> None:
        """Take the best extensions, best first: finished ones among the first `width` leave, others live on."""
        before, self.live, self.log_probs, self.parents = self.live, [], [], []
        for rank, (value, slot, token) in enumerate(zip(values, slots, tokens, strict=True)):
            if value == NEVER:
                break
            if token == EOS:
                if rank < self.width and not self.done:
                    self.found.append(self._hypothesis(before[slot], value, len(before[slot]) + 1, True))
            elif len(self.live) < self.width:
                self.live.append([*before[slot], token])
                self.log_probs.append(value)
                self.parents.append(slot)

    def finish(self) -> list[Hypothesis]:
        """Everything found, best first; what is still unfinished competes as it stands."""
        for tokens, value in zip(self.live, self.log_probs, strict=True):
            if not self.done and tokens:
                self.found.append(self._hypothesis(tokens, value, len(tokens), False))
        return sorted(self.found, key=lambda h: -h.score)

    def _hypothesis(self, tokens: list[int], value: float, length: int, finished: bool) -> Hypothesis:
        return Hypothesis(tokens, value, value / length**self.penalty, finished)


@torch.inference_mode()
def beam_search(
    system: System, source: Rows, width: int = 4, max_length: int = 64, penalty: float = 1.0
) -> list[list[Hypothesis]]:
    """Hypotheses of every request, best first; at least one each.

    A request stops when `width` hypotheses are finished or max_length decisions are made.
    """
    count, device = source.ids.shape[0], source.ids.device
    requests = [Request(width, penalty) for _ in range(count)]
    first = torch.arange(count, device=device).repeat_interleave(width)
    state: Any = system.read(source).select(first)
    token = torch.full((count * width,), BOS, device=device)
    for _ in range(max_length):
        stepped = system.step(state, token)
        best = _extensions(stepped.logits, _column(requests, width, device))
        for request, values, slots, tokens in zip(requests, *(part.tolist() for part in best), strict=True):
            if not request.done:
                request.extend(values, slots, tokens)
        if all(request.done for request in requests):
            break
        state = stepped.state.select(_rows(requests, width, device))
        token = torch.tensor(
            [t for r in requests for t in _fill([h[-1] for h in r.live], width, EOS)], device=device
        )
    return [request.finish() for request in requests]


def _fill(values: list[Any], width: int, rest: Any) -> list[Any]:
    return values + [rest] * (width - len(values))


def _column(requests: list[Request], width: int, device: torch.device) -> Tensor:
    """Log-probabilities of the live hypotheses, (B, width); empty slots can never win."""
    rows = [_fill([] if r.done else list(r.log_probs), width, NEVER) for r in requests]
    return torch.tensor(rows, device=device)


def _rows(requests: list[Request], width: int, device: torch.device) -> Tensor:
    """Batch rows whose state each live hypothesis continues, (B width,)."""
    rows = [b * width + p for b, r in enumerate(requests) for p in _fill(list(r.parents), width, 0)]
    return torch.tensor(rows, device=device)


def _extensions(logits: Tensor, live: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The best extensions of each request: log-probabilities, slots, tokens, (B, at most 2 width) each.

    Twice the width, because up to `width` of them may be the end of sentence.
    """
    total = torch.log_softmax(logits, dim=-1).unflatten(0, live.shape) + live.unsqueeze(-1)
    flat = total.flatten(1)
    values, places = flat.topk(min(2 * live.shape[1], flat.shape[1]), dim=-1)
    return values, places // logits.shape[-1], places % logits.shape[-1]
