"""The most probable finished sequences, found for certain: uniform-cost search with a proof
(Stahlberg and Byrne 2019).

A longer sequence is never more probable than its beginning, so prefixes are opened from the most probable one down;
once every prefix that is left is less probable than the best finished sequences, no sequence that was not looked at can
be better. Nothing is cut from the vocabulary. The work is bounded: where `budget` prefixes were not enough, the result
says that nothing is proved, and how probable an unseen sequence could still be.

Prefixes are scored together as known rows, many at once: no cache could be kept for thousands of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from models.interface import Rows, System
from models.training.tokenizer import BOS, EOS

TOGETHER = 64  # prefixes scored in one batch


@dataclass(frozen=True)
class Finished:
    """tokens without EOS, and log p(tokens, EOS | x)."""

    tokens: list[int]
    log_prob: float


@dataclass(frozen=True)
class Exact:
    """best: the most probable finished sequences, best first. opened: prefixes whose next token was looked at.

    open_log_prob: log p of the most probable prefix that was not opened (-inf where none is left). proved: it is no
    larger than the last of `best`, so these are the best of all sequences of at most max_length decisions.
    """

    best: list[Finished]
    opened: int
    open_log_prob: float
    proved: bool


@dataclass
class _Search:
    returned: int
    max_length: int
    floor: float
    best: list[Finished] = field(default_factory=list)
    open: list[tuple[float, list[int]]] = field(
        default_factory=lambda: [(0.0, [])]
    )  # heap of (-log p, prefix)
    opened: int = 0

    @property
    def bar(self) -> float:
        """What a sequence must beat to be among the best."""
        return max(self.floor, self.best[-1].log_prob) if len(self.best) >= self.returned else self.floor

    @property
    def ceiling(self) -> float:
        return -self.open[0][0] if self.open else -float("inf")

    def take(self, most: int) -> list[tuple[float, list[int]]]:
        found = []
        while self.open and len(found) < most and self.ceiling > self.bar:
            found.append(heapq.heappop(self.open))
        self.opened += len(found)
        return found

    def put(self, prefix: list[int], total: Tensor) -> None:
        """total (V,): log p of the prefix with each next token."""
        self.best.append(Finished(prefix, float(total[EOS])))
        self.best = sorted(self.best, key=lambda one: -one.log_prob)[: self.returned]
        if len(prefix) + 1 >= self.max_length:
            return
        better = (total > self.bar).nonzero().squeeze(-1).tolist()
        for token, value in zip(better, total[better].tolist(), strict=True):
            if token != EOS:
                heapq.heappush(self.open, (-value, [*prefix, token]))


@torch.inference_mode()
def exact(
    system: System,
    source: Rows,
    returned: int = 1,
    max_length: int = 64,
    budget: int = 2000,
    prefix: Sequence[int] = (),
    floor: float = -float("inf"),
    report: Callable[[float], None] = lambda share: None,
) -> Exact:
    """Search one request, among the sequences that begin with `prefix`.

    floor: only what is more probable than this is looked for; a sequence found some other way gives one, a little below
    its own log p, that spares most of the work. A prefix that leaves no room for the end finishes nothing.
    """
    search = _Search(returned, max_length, floor)
    search.open = [(-_log_prob(system, source, prefix), list(prefix))] if len(prefix) < max_length else []
    while search.opened < budget and (taken := search.take(min(TOGETHER, budget - search.opened))):
        following = _following(system, source, [prefix for _, prefix in taken])
        for (cost, prefix), log_probs in zip(taken, following, strict=True):
            search.put(prefix, log_probs - cost)
        report(search.opened / budget)
    return Exact(search.best, search.opened, search.ceiling, search.ceiling <= search.bar)


def _following(system: System, source: Rows, prefixes: list[list[int]]) -> Tensor:
    """log p of every token after each prefix, (N, V)."""
    count, ends = len(prefixes), [len(prefix) for prefix in prefixes]
    # What fills a shorter prefix up stands after its last row, so that no row which is used can read it.
    rows = [[BOS, *prefix, *[EOS] * (max(ends) - len(prefix))] for prefix in prefixes]
    many = Rows(source.ids.expand(count, -1), source.valid.expand(count, -1))
    features, _ = system.features(many, torch.tensor(rows, device=source.ids.device))
    last = features[torch.arange(count, device=features.device), torch.tensor(ends, device=features.device)]
    return system.project(last).log_softmax(-1).double().cpu()


def _log_prob(system: System, source: Rows, prefix: Sequence[int]) -> float:
    """log p of a beginning, its end not among it."""
    if not prefix:
        return 0.0
    device = source.ids.device
    logits = system.score(source, torch.tensor([[BOS, *prefix[:-1]]], device=device)).logits[0]
    return float(logits.log_softmax(-1).gather(-1, torch.tensor(prefix, device=device).unsqueeze(-1)).sum())
