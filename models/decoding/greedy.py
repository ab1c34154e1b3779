"""Greedy decoding over the one-step interface: take the largest probability, keep the state, repeat (0x01B).

Each decision sees only `state` and the token before it. A greedy sequence is not the most probable sequence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from models.decoding.filters import Filters
from models.decoding.walk import Ended, largest, walk
from models.interface import Read, Rows, System
from models.training.tokenizer import BOS, EOS


@dataclass(frozen=True)
class Decoded:
    """tokens of one request, with EOS when it ended there; for each decision its logits (V,), its trace and the
    seconds it took; and the state after the last one."""

    tokens: list[int]
    ended: Ended
    logits: Tensor
    traces: list[Any]
    seconds: list[float]
    state: Any


@torch.inference_mode()
def greedy(
    system: System,
    state: Any,
    max_length: int = 64,
    *,
    prefix: Sequence[int] = (),
    read: Callable[[int], Read | None] = lambda t: None,
) -> Decoded:
    """Decode one request from its first state.

    prefix: tokens supplied instead of decided (a forced beginning, or a whole forced target with its EOS);
    read(t): an intervention on the read of decision t. At most max_length decisions, EOS among them.
    """
    token, tokens, logits, traces, seconds = BOS, [], [], [], []
    device = next(system.parameters()).device
    while len(tokens) < max_length and (not tokens or tokens[-1] != EOS):
        started, t = time.perf_counter(), len(tokens)
        stepped = system.step(state, torch.tensor([token], device=device), read=read(t))
        state = stepped.state
        token = prefix[t] if t < len(prefix) else int(stepped.logits[0].argmax())
        seconds.append(time.perf_counter() - started)
        tokens.append(token)
        logits.append(stepped.logits[0])
        traces.append(stepped.trace)
    ended: Ended = "eos" if tokens[-1] == EOS else "length"
    return Decoded(tokens, ended, torch.stack(logits), traces, seconds, state)


def greedy_batch(system: System, source: Rows, max_length: int = 64) -> list[list[int]]:
    """Greedy tokens of every request of a batch, each without its EOS."""
    found = walk(system, _read(system, source), len(source.ids), largest(Filters()), max_length)
    return [one.tokens[:-1] if one.ended == "eos" else one.tokens for one in found]


@torch.inference_mode()
def _read(system: System, source: Rows) -> Any:
    return system.read(source)
