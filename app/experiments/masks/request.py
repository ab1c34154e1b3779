"""The rows of a request: a family's source and target, its own relations, and what it decides under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

import models
from app.experiments.masks.grids import MOST_SIDE
from app.experiments.masks.options import RELATIONS, translates
from models.execution.device import device
from models.interactive import Translator
from models.interface import Masked, Rows, Scored
from models.layers.visibility import Empty
from models.training.tokenizer import BOS, EOS, MASK

MOST_SOURCE = 28  # rows of the sentence, EOS included: a stream needs room for the target


class Refused(Exception):
    """A request that cannot be shown; `sentence` is for the visitor."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True)
class Ask:
    """target "": what the system itself says. hidden: which source piece an encoder has to fill in (None: one in the
    middle); families with a target ignore it."""

    slug: str
    sentence: str
    target: str = ""
    hidden: int | None = None


@dataclass(frozen=True)
class Request:
    """One teacher-forced request under the family's own relations.

    source, target: ids; target () for an encoder alone. given: labels of the target inputs, BOS first; decisions:
    labels of what each output row has to say. own: (R, C) a relation. logits (T, V). scored: rows whose loss counts.
    """

    ask: Ask
    title: str
    source: tuple[int, ...]
    target: tuple[int, ...]
    answers: tuple[int, ...]
    text: str
    note: str
    pieces: tuple[str, ...]
    given: tuple[str, ...]
    decisions: tuple[str, ...]
    scored: tuple[int, ...]
    own: Mapping[str, np.ndarray]
    layers: int
    heads: int
    logits: np.ndarray

    def labels(self, relation: str) -> tuple[list[str], list[str]]:
        """Query rows and key columns of a relation."""
        if relation == "stream":
            both = [*self.pieces, *self.given]
            return both, both
        sides = {"source": list(self.pieces), "target": list(self.given)}
        known = RELATIONS[relation]
        return sides[known.rows], sides[known.columns]

    def row_name(self, relation: str, row: int) -> str:
        """A row as a sentence names it."""
        return f"{row + 1} ({self.labels(relation)[0][row]})"

    @property
    def encoder_only(self) -> bool:
        return not self.target

    @property
    def inputs(self) -> list[str]:
        """Labels of every embedded row: the source, then the target inputs."""
        return [*self.pieces, *self.given]


def loaded(slug: str) -> tuple[Translator, Masked]:
    """The shared translator and its system. Raises CheckpointError."""
    translator = models.load(slug)
    assert isinstance(translator.system, Masked)
    return translator, translator.system


def request(ask: Ask) -> Request:
    """Tokens, own relations and own decisions. Raises CheckpointError and Refused, both with a sentence."""
    translator, _ = loaded(ask.slug)
    ids = translator.encode_source(ask.sentence)
    if len(ids) > MOST_SOURCE:
        raise Refused(
            f"This sentence has {len(ids)} rows with its EOS; at most {MOST_SOURCE} fit a grid that can be painted. "
            "Shorten it."
        )
    return _translation(translator, ask, ids) if translates(ask.slug) else _filling(translator, ask, ids)


def _translation(translator: Translator, ask: Ask, ids: list[int]) -> Request:
    room = MOST_SIDE - (len(ids) if "stream" in _relations(translator, ids, (EOS,)) else 0)
    target, note = _target(translator, ask, room)
    pieces = translator.tokenizer.pieces
    own = _relations(translator, ids, target)
    scored = forward(ask.slug, tuple(ids), target)
    layers, heads = _sizes(ask.slug, scored)
    return Request(
        ask, translator.entry.title, tuple(ids), target, target, translator.tokenizer.decode(list(target)), note,
        tuple(pieces(ids)), tuple(pieces([BOS, *target[:-1]])), tuple(pieces(list(target))), tuple(range(len(target))),
        own, layers, heads, scored.logits[0].cpu().numpy(),
    )  # fmt: skip


def _target(translator: Translator, ask: Ask, room: int) -> tuple[tuple[int, ...], str]:
    """Target ids, at most `room`, and a note where they were cut."""
    if not ask.target.strip():
        return tuple(translator.translate(ask.sentence, max_length=room).target_ids), ""
    ids = [*translator.tokenizer.encode(ask.target), EOS]
    if len(ids) <= room:
        return tuple(ids), ""
    return tuple(
        ids[:room]
    ), f"Your French has {len(ids)} rows with its EOS; the first {room} fit the grid and are used."


def _filling(translator: Translator, ask: Ask, ids: list[int]) -> Request:
    place = _hidden(ask, len(ids) - 1)
    answers = tuple(ids)
    given = (*ids[:place], MASK, *ids[place + 1 :])
    scored = forward(ask.slug, given, ())
    layers, heads = _sizes(ask.slug, scored)
    labels = tuple(translator.tokenizer.pieces(list(given)))
    best = int(scored.logits[0, place].argmax())
    return Request(
        ask, translator.entry.title, given, (), answers, translator.tokenizer.decode([best]), "", labels, (),
        tuple(translator.tokenizer.pieces(ids)), (place,), _relations(translator, list(given), ()), layers, heads,
        scored.logits[0].cpu().numpy(),
    )  # fmt: skip


def _hidden(ask: Ask, pieces: int) -> int:
    return ask.hidden if ask.hidden is not None and ask.hidden < pieces else pieces // 2


def _relations(translator: Translator, ids: list[int], target: tuple[int, ...]) -> dict[str, np.ndarray]:
    system: Any = translator.system
    found = system.visibility(*tensors(tuple(ids), target))
    return {name: relation[0].cpu().numpy() for name, relation in found.items()}


def _sizes(slug: str, scored: Scored) -> tuple[int, int]:
    reads = next(iter(loaded(slug)[1].reads(scored.trace).values()))
    return len(reads), reads[0].weights.shape[1]


def tensors(source: tuple[int, ...], target: tuple[int, ...]) -> tuple[Any, ...]:
    """The arguments of `features`: source rows, and the target inputs where there is a target."""
    ids = torch.tensor([source], device=device())
    rows = Rows(ids, torch.ones_like(ids, dtype=torch.bool))
    return (rows, torch.tensor([[BOS, *target[:-1]]], device=device())) if target else (rows,)


@torch.inference_mode()
def forward(
    slug: str,
    source: tuple[int, ...],
    target: tuple[int, ...],
    masks: Mapping[str, Tensor] | None = None,
    empty: Empty = "error",
) -> Scored:
    """The real system on one request, logits (1, T, V) and its trace."""
    system: Any = loaded(slug)[1]
    return system.score(*tensors(source, target), masks=masks, empty=empty)
