"""Several sequences decided side by side, each from its own state: the loop under greedy decoding and sampling.

A sample draws one number a decision from a generator of its own, seeded by (seed, place), and takes the token in whose
share of the cumulative distribution it falls: the same seed gives the same text, whatever else is drawn beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from models.decoding.filters import Filters, Tokens
from models.interface import System
from models.training.tokenizer import BOS, EOS

Ended = Literal["eos", "length"]
Choose = Callable[[Tensor, Tokens], list[int]]


@dataclass
class Walked:
    """tokens with EOS where it ended there; log_prob is the model's own, log p(tokens | x), whatever was filtered."""

    tokens: list[int] = field(default_factory=list)
    log_prob: float = 0.0

    @property
    def ended(self) -> Ended:
        return "eos" if self.tokens and self.tokens[-1] == EOS else "length"


@torch.inference_mode()
def walk(
    system: System, state: Any, count: int, choose: Choose, max_length: int, prefix: Sequence[int] = ()
) -> list[Walked]:
    """Decide up to max_length tokens for each of the `count` rows of `state`.

    choose(logits (B, V), tokens so far) -> a token a row. prefix: tokens given to every row instead of decided.
    A row that has ended keeps its place and is no longer written to.
    """
    device = next(system.parameters()).device
    rows = [Walked() for _ in range(count)]
    last = [BOS] * count
    for t in range(max_length):
        stepped = system.step(state, torch.tensor(last, device=device))
        state, said = stepped.state, [row.tokens for row in rows]
        last = [prefix[t]] * count if t < len(prefix) else choose(stepped.logits, said)
        taken = stepped.logits.log_softmax(-1).gather(-1, torch.tensor(last, device=device).unsqueeze(-1))
        for row, token, log_prob in zip(rows, last, taken.squeeze(-1).tolist(), strict=True):
            if row.ended != "eos":
                row.tokens.append(token)
                row.log_prob += log_prob
        if all(row.ended == "eos" for row in rows):
            break
    return rows


def largest(filters: Filters) -> Choose:
    """The largest logit after the filters."""
    return lambda logits, tokens: filters.apply(logits, tokens).argmax(-1).tolist()


def drawn(filters: Filters, seed: int, count: int) -> Choose:
    """A draw from what the filters left, row k from generator (seed, k)."""
    sources = [torch.Generator().manual_seed(seed * 100_003 + k) for k in range(count)]

    def choose(logits: Tensor, tokens: Tokens) -> list[int]:
        # Summed in float64 on the CPU, so that a GPU's order of additions cannot move a border.
        mass = filters.apply(logits, tokens).double().cpu().softmax(-1).cumsum(-1)
        at = torch.stack([torch.rand(1, generator=one, dtype=torch.float64) for one in sources])
        places = torch.searchsorted(mass, at * mass[:, -1:], right=True).squeeze(-1)
        return places.clamp(max=logits.shape[-1] - 1).tolist()

    return choose
