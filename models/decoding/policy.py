"""One policy object for every system: how text is chosen, and a result that shows each choice (0x01A, 0x01B).

    found = decode(system, rows, Policy("sample", Filters(temperature=0.8, top_p=0.9), seed=7, count=5))
    found.outcomes[0].tokens, found.steps[0].stages

| kind | chooses |
| --- | --- |
| greedy | the largest logit after the filters |
| sample | `count` seeded draws from what the filters leave |
| beam | the best of `width` hypotheses, ranked by log p / length norm |
| contrastive | what is probable and unlike the rows before (`alpha`, among the `among` likeliest) |
| exact | the most probable finished sequence of all, with a proof where `budget` suffices |
| forced | the given `prefix` and nothing else, its end included |

Every other kind continues after `prefix`. A maximum length is a rule of the one who serves, not an event of the model:
an outcome that met it has no end in its probability, and says ended "length".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from models.decoding.beam import Hypothesis, Node, Ranking, search
from models.decoding.contrastive import contrastive
from models.decoding.exact import Exact, exact
from models.decoding.filters import Filters, Stage, entropy
from models.decoding.greedy import greedy
from models.decoding.penalties import Norm
from models.decoding.walk import Choose, Ended, Walked, drawn, largest, walk
from models.interface import Rows, System
from models.training.tokenizer import EOS

Kind = Literal["greedy", "sample", "beam", "contrastive", "exact", "forced"]
KINDS: tuple[Kind, ...] = ("greedy", "sample", "beam", "contrastive", "exact", "forced")
MARGIN = 1e-3  # nats below a known sequence, so that rounding cannot hide it from the exact search


@dataclass(frozen=True)
class Policy:
    """Filters act in greedy and sample; a beam and the exact search compare the model's own probabilities, and a beam
    takes no_repeat alone. `count` sequences are drawn by sample and returned by beam and exact."""

    kind: Kind = "greedy"
    filters: Filters = field(default_factory=Filters)
    prefix: tuple[int, ...] = ()
    max_length: int = 64
    seed: int = 0
    count: int = 1
    width: int = 4
    penalty: float = 1.0
    norm: Norm = "power"
    early: bool = True
    budget: int = 2000
    alpha: float = 0.6
    among: int = 4

    def __post_init__(self) -> None:
        if min(self.max_length, self.count, self.width, self.budget, self.among) < 1:
            raise ValueError("Maximum length and every count are at least 1.")
        if len(self.prefix) > self.max_length:
            raise ValueError(f"The given beginning is longer than the maximum length, {self.max_length}.")
        if EOS in self.prefix[:-1]:
            raise ValueError("Nothing can follow the end of the text.")
        if self.kind == "forced" and not self.prefix:
            raise ValueError("There is no text to force.")

    @property
    def acting(self) -> Filters:
        """The filters that this kind of choice passes through; a forced text is shown under them, and not changed."""
        if self.kind == "beam":
            return Filters(no_repeat=self.filters.no_repeat)
        return Filters() if self.kind in ("exact", "contrastive") else self.filters

    @property
    def settled(self) -> bool:
        """Whether the given tokens leave nothing to decide."""
        ended = bool(self.prefix) and self.prefix[-1] == EOS
        return ended or self.kind == "forced" or len(self.prefix) == self.max_length


@dataclass(frozen=True)
class Outcome:
    """tokens, with EOS where it ended there. log_prob is the model's own log p(tokens | x); score is what the policy
    ranked by (for all but a beam the same)."""

    tokens: tuple[int, ...]
    log_prob: float
    score: float
    ended: Ended
    node: int | None = None


@dataclass(frozen=True)
class Step:
    """One decision: the model's logits (V,), the logits after each filter, and what was chosen."""

    token: int
    logits: Tensor
    stages: tuple[Stage, ...]

    @property
    def log_prob(self) -> float:
        """The model's own, before every filter."""
        return float(self.logits.log_softmax(-1)[self.token])

    @property
    def entropy(self) -> float:
        """Of the model's distribution, in nats."""
        return float(entropy(self.logits))


@dataclass(frozen=True)
class Decoding:
    """outcomes: best first (samples in the order drawn). steps: the decisions of the first outcome. tree: every
    candidate that a beam looked at. proof: what the exact search can say about sequences that it did not see."""

    policy: Policy
    outcomes: tuple[Outcome, ...]
    steps: tuple[Step, ...]
    tree: tuple[Node, ...] = ()
    proof: Exact | None = None


def decode(
    system: System, source: Rows, policy: Policy, report: Callable[[float], None] = lambda share: None
) -> Decoding:
    """Decode one request. report: told how much of the exact search's budget is used."""
    tree: tuple[Node, ...] = ()
    proof = None
    if policy.settled:
        outcomes = [_forced(system, source, policy)]
    elif policy.kind == "beam":
        outcomes, tree = _beam(system, source, policy)
    elif policy.kind == "exact":
        outcomes, proof = _exact(system, source, policy, report)
    elif policy.kind == "contrastive":
        outcomes = [_contrastive(system, source, policy)]
    else:
        outcomes = _walked(system, source, policy)
    taken = steps(system, source, outcomes[0].tokens, policy.acting)
    return Decoding(policy, tuple(outcomes), taken, tree, proof)


@torch.inference_mode()
def steps(system: System, source: Rows, tokens: Sequence[int], filters: Filters) -> tuple[Step, ...]:
    """The decisions on the way through `tokens`, one at a time from retained state."""
    if not tokens:
        return ()
    followed = greedy(system, system.read(source), len(tokens), prefix=tokens)
    return tuple(
        Step(token, logits, _row(filters.stages(logits.unsqueeze(0), [tokens[:t]])))
        for t, (token, logits) in enumerate(zip(tokens, followed.logits, strict=True))
    )


def _row(stages: list[Stage]) -> tuple[Stage, ...]:
    return tuple(Stage(one.name, one.logits[0]) for one in stages)


@torch.inference_mode()
def _walked(system: System, source: Rows, policy: Policy) -> list[Outcome]:
    count, choose = 1, largest(policy.filters)
    if policy.kind == "sample":
        count, choose = policy.count, drawn(policy.filters, policy.seed, policy.count)
    return _follow(system, source, policy, count, choose)


def _follow(system: System, source: Rows, policy: Policy, count: int, choose: Choose) -> list[Outcome]:
    state = system.read(source).select(torch.zeros(count, dtype=torch.long, device=source.ids.device))
    found = walk(system, state, count, choose, policy.max_length, policy.prefix)
    return [_as_walked(one) for one in found]


def _as_walked(one: Walked) -> Outcome:
    return Outcome(tuple(one.tokens), one.log_prob, one.log_prob, one.ended)


def _contrastive(system: System, source: Rows, policy: Policy) -> Outcome:
    return _as_walked(
        contrastive(system, source, policy.alpha, policy.among, policy.max_length, policy.prefix)
    )


@torch.inference_mode()
def _forced(system: System, source: Rows, policy: Policy) -> Outcome:
    state = system.read(source)
    (found,) = walk(system, state, 1, largest(Filters()), len(policy.prefix), policy.prefix)
    return _as_walked(found)


def _beam(system: System, source: Rows, policy: Policy) -> tuple[list[Outcome], tuple[Node, ...]]:
    ranking = Ranking(policy.width, policy.penalty, policy.norm, policy.early, policy.filters.no_repeat)
    (found,) = search(system, source, ranking, policy.max_length, policy.prefix)
    best = found.hypotheses[: max(1, min(policy.count, policy.width))]
    return [_outcome(one) for one in best], tuple(found.tree)


def _outcome(one: Hypothesis) -> Outcome:
    tokens, ended = ((*one.tokens, EOS), "eos") if one.finished else (tuple(one.tokens), "length")
    return Outcome(tokens, one.log_prob, one.score, ended, one.node)


def _exact(
    system: System, source: Rows, policy: Policy, report: Callable[[float], None]
) -> tuple[list[Outcome], Exact]:
    """A beam first: what it finished is a floor for the search, and stays where the budget ends too early."""
    ranking = Ranking(max(policy.width, policy.count), 0.0, early=False)
    (beam,) = search(system, source, ranking, policy.max_length, policy.prefix)
    known = sorted((-h.log_prob, tuple(h.tokens)) for h in beam.hypotheses if h.finished)
    floor = -known[policy.count - 1][0] - MARGIN if len(known) >= policy.count else -float("inf")
    proof = exact(
        system, source, policy.count, policy.max_length, policy.budget, policy.prefix, floor, report
    )
    best = {tuple(one.tokens): one.log_prob for one in proof.best}
    best |= {tokens: -cost for cost, tokens in known if tokens not in best}
    ranked = sorted(best.items(), key=lambda item: -item[1])[: policy.count]
    return [Outcome((*tokens, EOS), value, value, "eos") for tokens, value in ranked], proof
