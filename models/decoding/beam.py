"""Beam search over the one-step interface (Sutskever et al. 2014, 3.2; Graves 2012).

At each step every live hypothesis of a request is extended by every token and the `width` best unfinished
ones are kept. A finished hypothesis is ranked by log p(y | x) / length norm; norm "power" with penalty 1 is the mean a
token. Every candidate that was looked at is recorded: the beam is a tree, and what was pruned stays visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from models.decoding.filters import banned
from models.decoding.penalties import Norm, length_norm
from models.interface import Rows, System
from models.training.tokenizer import BOS, EOS

NEVER = -float("inf")
ROOT = -1
Fate = Literal["kept", "finished", "pruned"]


@dataclass(frozen=True)
class Node:
    """One candidate: the token after node `parent` (ROOT: after the given beginning) and log p up to it."""

    parent: int
    token: int
    log_prob: float
    fate: Fate


@dataclass(frozen=True)
class Hypothesis:
    """tokens without EOS; log_prob of the whole sequence (EOS included when finished); its rank score; its last node
    in the tree, ROOT where it is the given beginning itself."""

    tokens: list[int]
    log_prob: float
    score: float
    finished: bool
    node: int = ROOT


@dataclass(frozen=True)
class Ranking:
    """How hypotheses are ranked and when a search stops.

    early: stop once `width` hypotheses are finished. Otherwise go on until no live one, at its present length, would
    rank before the worst of the best `width` (with penalty above 0 a longer one still could; transformers does so too).
    no_repeat: n of the n-grams that no hypothesis may hold twice, 0 for none.
    """

    width: int
    penalty: float = 1.0
    norm: Norm = "power"
    early: bool = True
    no_repeat: int = 0


@dataclass
class Request:
    """One source's search: live hypotheses with their log-probabilities, parent slots and nodes; what has finished."""

    ranking: Ranking
    live: list[list[int]] = field(default_factory=lambda: [[]])
    log_probs: list[float] = field(default_factory=lambda: [0.0])
    parents: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=lambda: [ROOT])
    found: list[Hypothesis] = field(default_factory=list)
    tree: list[Node] = field(default_factory=list)

    @property
    def done(self) -> bool:
        if len(self.found) < self.ranking.width:
            return not self.live
        if self.ranking.early or not self.live:
            return True
        best = max(self._score(v, len(t)) for v, t in zip(self.log_probs, self.live, strict=True))
        return best <= self.found[-1].score

    def extend(self, values: list[float], slots: list[int], tokens: list[int]) -> None:
        """Take the best extensions, best first: finished ones among the first `width` leave, others live on."""
        before, nodes, width = self.live, self.nodes, self.ranking.width
        self.live, self.log_probs, self.parents, self.nodes = [], [], [], []
        for rank, (value, slot, token) in enumerate(zip(values, slots, tokens, strict=True)):
            if value == NEVER:
                break
            said, fate = [*before[slot], token], self._fate(rank, token)
            self.tree.append(Node(nodes[slot], token, value, fate))
            if fate == "finished":
                self._find(said[:-1], value, len(said), True, len(self.tree) - 1)
            elif fate == "kept":
                self.live.append(said)
                self.log_probs.append(value)
                self.parents.append(slot)
                self.nodes.append(len(self.tree) - 1)
        self.found = self.found[:width]

    def finish(self) -> list[Hypothesis]:
        """The best `width`, best first; what is still unfinished competes as it stands."""
        if not self.done:
            for tokens, value, node in zip(self.live, self.log_probs, self.nodes, strict=True):
                if tokens:
                    self._find(tokens, value, len(tokens), False, node)
        return self.found[: self.ranking.width]

    def _fate(self, rank: int, token: int) -> Fate:
        if token == EOS:
            return "finished" if rank < self.ranking.width else "pruned"
        return "kept" if len(self.live) < self.ranking.width else "pruned"

    def _find(self, tokens: list[int], value: float, length: int, finished: bool, node: int) -> None:
        self.found.append(Hypothesis(tokens, value, self._score(value, length), finished, node))
        self.found.sort(key=lambda h: -h.score)

    def _score(self, value: float, length: int) -> float:
        return value / length_norm(length, self.ranking.penalty, self.ranking.norm)


@dataclass(frozen=True)
class Searched:
    """Hypotheses of one request, best first, and every candidate that was looked at, parents before children."""

    hypotheses: list[Hypothesis]
    tree: list[Node]


def beam_search(
    system: System, source: Rows, width: int = 4, max_length: int = 64, penalty: float = 1.0
) -> list[list[Hypothesis]]:
    """Hypotheses of every request, best first; at least one each.

    A request stops when `width` hypotheses are finished or max_length decisions are made.
    """
    return [one.hypotheses for one in search(system, source, Ranking(width, penalty), max_length)]


@torch.inference_mode()
def search(
    system: System, source: Rows, ranking: Ranking, max_length: int = 64, prefix: Sequence[int] = ()
) -> list[Searched]:
    """Search every request of a batch. prefix: tokens without EOS that every hypothesis begins with (they count)."""
    count, width, device = source.ids.shape[0], ranking.width, source.ids.device
    first = torch.arange(count, device=device).repeat_interleave(width)
    state, begun, last = _begin(system, source, prefix[:max_length])
    state = state.select(first)
    requests = [Request(ranking, [list(prefix[:max_length])], [value]) for value in begun]
    token = torch.full((count * width,), last, device=device)
    for _ in range(max_length - len(prefix)):
        stepped = system.step(state, token)
        log_probs = _allowed(stepped.logits, requests)
        best = _extensions(log_probs, _column(requests, width, log_probs))
        for request, values, slots, tokens in zip(requests, *(part.tolist() for part in best), strict=True):
            if not request.done:
                request.extend(values, slots, tokens)
        if all(request.done for request in requests):
            break
        state = stepped.state.select(_rows(requests, width, device))
        token = torch.tensor(
            [t for r in requests for t in _fill([h[-1] for h in r.live], width, EOS)], device=device
        )
    return [Searched(request.finish(), request.tree) for request in requests]


def _begin(system: System, source: Rows, prefix: Sequence[int]) -> tuple[Any, list[float], int]:
    """State, log p of the prefix a request, and the token that the next decision follows."""
    state: Any = system.read(source)
    begun, last = [0.0] * len(source.ids), BOS
    for token in prefix:
        stepped = system.step(state, torch.full((len(begun),), last, device=source.ids.device))
        taken = stepped.logits.log_softmax(-1)[:, token].tolist()
        begun, state, last = [b + v for b, v in zip(begun, taken, strict=True)], stepped.state, token
    return state, begun, last


def _fill(values: list[Any], width: int, rest: Any) -> list[Any]:
    return values + [rest] * (width - len(values))


def _column(requests: list[Request], width: int, like: Tensor) -> Tensor:
    """Log-probabilities of the live hypotheses, (B, width); empty slots can never win."""
    rows = [_fill([] if r.done else list(r.log_probs), width, NEVER) for r in requests]
    return torch.tensor(rows, device=like.device, dtype=like.dtype)


def _rows(requests: list[Request], width: int, device: torch.device) -> Tensor:
    """Batch rows whose state each live hypothesis continues, (B width,)."""
    rows = [b * width + p for b, r in enumerate(requests) for p in _fill(list(r.parents), width, 0)]
    return torch.tensor(rows, device=device)


def _allowed(logits: Tensor, requests: list[Request]) -> Tensor:
    """Log-probabilities (B width, V); what would repeat an n-gram can never win, what stays keeps the model's value."""
    log_probs = torch.log_softmax(logits, dim=-1)
    for b, request in enumerate(requests):
        n, width = request.ranking.no_repeat, request.ranking.width
        for slot, said in enumerate(request.live if n else []):
            log_probs[b * width + slot, sorted(banned(said, n))] = NEVER
    return log_probs


def _extensions(log_probs: Tensor, live: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The best extensions of each request: log-probabilities, slots, tokens, (B, at most 2 width) each.

    Twice the width, because up to `width` of them may be the end of sentence.
    """
    total = log_probs.unflatten(0, live.shape) + live.unsqueeze(-1)
    flat = total.flatten(1)
    values, places = flat.topk(min(2 * live.shape[1], flat.shape[1]), dim=-1)
    return values, places // log_probs.shape[-1], places % log_probs.shape[-1]
