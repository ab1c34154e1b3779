"""Filters between the model's logits and the choice of a token: each a pure function of logits (..., V).

A removed token gets -inf; what stays keeps its logit, so a softmax afterwards renormalises over the rest.

| filter | what it does | source |
| --- | --- | --- |
| repetition | divides a seen token's positive logit, multiplies a negative one | Keskar et al. 2019, 4.1 |
| no-repeat | removes what would complete an n-gram that already stands | Paulus et al. 2018, 2.5 |
| temperature | divides every logit by T | Ackley et al. 1985 |
| top-k | keeps the k largest; ties with the k-th stay | Fan et al. 2018, 5 |
| top-p | keeps the smallest set of likeliest tokens with mass p | Holtzman et al. 2020, 3.1 |
| min-p | keeps what is at least min_p times as probable as the likeliest | Nguyen et al. 2024, 3 |
| typical | keeps the tokens whose surprise is nearest the entropy, up to mass p | Meister et al. 2023, Eq. 9 |

They run in this order, as in transformers' `generate`: so top-p, min-p and typical see the tempered distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

REMOVED = -float("inf")
Tokens = Sequence[
    Sequence[int]
]  # the target tokens that stand before each row's decision, BOS not among them


def temperature(logits: Tensor, t: float) -> Tensor:
    """t below 1 sharpens, above 1 flattens."""
    return logits / t


def top_k(logits: Tensor, k: int) -> Tensor:
    """At least k tokens stay."""
    threshold = logits.topk(min(k, logits.shape[-1]), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < threshold, REMOVED)


def top_p(logits: Tensor, p: float, keep: int = 1) -> Tensor:
    """The token that crosses the mass p stays; never fewer than `keep`."""
    ordered, order = logits.sort(dim=-1)
    removed = ordered.softmax(-1).cumsum(-1) <= 1 - p
    removed[..., -keep:] = False
    return logits.masked_fill(_back(removed, order), REMOVED)


def min_p(logits: Tensor, share: float) -> Tensor:
    """share: of the largest probability."""
    probabilities = logits.softmax(-1)
    return logits.masked_fill(probabilities < share * probabilities.amax(-1, keepdim=True), REMOVED)


def typical(logits: Tensor, mass: float) -> Tensor:
    """Distance |-log p - H|, nearest first; the token at which the mass is reached stays, with its ties."""
    log_probs = logits.log_softmax(-1)
    distance = (-log_probs - entropy(logits).unsqueeze(-1)).abs()
    nearest, order = distance.sort(dim=-1)
    reached = log_probs.exp().gather(-1, order).cumsum(-1)
    last = (reached < mass).sum(-1, keepdim=True).clamp(max=logits.shape[-1] - 1)
    return logits.masked_fill(distance > nearest.gather(-1, last), REMOVED)


def repetition(logits: Tensor, tokens: Tokens, penalty: float) -> Tensor:
    """logits (B, V). Once for each distinct token of the row, however often it was said."""
    seen = torch.zeros_like(logits, dtype=torch.bool)
    for row, said in enumerate(tokens):
        seen[row, list(said)] = True
    return torch.where(seen, torch.where(logits < 0, logits * penalty, logits / penalty), logits)


def no_repeat(logits: Tensor, tokens: Tokens, n: int) -> Tensor:
    """logits (B, V)."""
    found = logits.clone()
    for row, said in enumerate(tokens):
        found[row, sorted(banned(said, n))] = REMOVED
    return found


def banned(said: Sequence[int], n: int) -> set[int]:
    """Tokens that would complete an n-gram that `said` already holds."""
    last = tuple(said[len(said) - n + 1 :])
    if len(last) < n - 1:
        return set()
    return {said[k + n - 1] for k in range(len(said) - n + 1) if tuple(said[k : k + n - 1]) == last}


def entropy(logits: Tensor) -> Tensor:
    """Shannon entropy in nats of the softmax, (...); removed tokens add nothing."""
    log_probs = logits.log_softmax(-1)
    return -(log_probs.exp() * log_probs).nan_to_num(0.0).sum(-1)


def _back(removed: Tensor, order: Tensor) -> Tensor:
    """A mask over sorted places, put back where the tokens stand."""
    return torch.zeros_like(removed).scatter(-1, order, removed)


@dataclass(frozen=True)
class Stage:
    """The logits after one filter, (B, V)."""

    name: str
    logits: Tensor


@dataclass(frozen=True)
class Filters:
    """Which filters are on; the defaults change nothing. ValueError (a sentence) for a value that means nothing.

    Repetition and no-repeat look at the target tokens alone, so that they mean the same for every system: in a single
    stream the source is left out too.
    """

    repetition: float = 1.0
    no_repeat: int = 0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    typical: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature <= 0 or self.repetition <= 0:
            raise ValueError("Temperature and repetition penalty must be above 0.")
        if self.no_repeat < 0 or self.top_k < 0:
            raise ValueError("The n of no-repeat and the k of top-k count tokens; 0 turns them off.")
        if not (0 < self.top_p <= 1 and 0 < self.typical <= 1 and 0 <= self.min_p <= 1):
            raise ValueError("The masses of top-p and typical lie above 0 and up to 1, min-p from 0 to 1.")

    def stages(self, logits: Tensor, tokens: Tokens) -> list[Stage]:
        """Every filter that is on, in order. logits (B, V), and for each row the tokens before it."""
        found, now = [], logits
        for name, on, apply in (
            ("repetition penalty", self.repetition != 1, lambda x: repetition(x, tokens, self.repetition)),
            ("no-repeat n-gram", self.no_repeat > 0, lambda x: no_repeat(x, tokens, self.no_repeat)),
            ("temperature", self.temperature != 1, lambda x: temperature(x, self.temperature)),
            ("top-k", self.top_k > 0, lambda x: top_k(x, self.top_k)),
            ("top-p", self.top_p < 1, lambda x: top_p(x, self.top_p)),
            ("min-p", self.min_p > 0, lambda x: min_p(x, self.min_p)),
            ("typical", self.typical < 1, lambda x: typical(x, self.typical)),
        ):
            if on:
                now = apply(now)
                found.append(Stage(name, now))
        return found

    def apply(self, logits: Tensor, tokens: Tokens) -> Tensor:
        """The logits that the choice is made from, (B, V)."""
        stages = self.stages(logits, tokens)
        return stages[-1].logits if stages else logits
