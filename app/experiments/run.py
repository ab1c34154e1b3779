"""One system on one sentence: output, weights, the four answers, and the checks of this run.

The result is frozen numpy and labels; every number in it comes from the run itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

import models
from app.experiments.check import Check
from models.analysis import invariants
from models.decoding.beam import beam_search
from models.decoding.greedy import Decoded, greedy
from models.execution.device import device
from models.interactive import Translator
from models.interface import Rows, Scored, StateTensor
from models.systems.luong import Luong
from models.training.align_metrics import to_words
from models.training.tokenizer import BOS, EOS

Show = Literal["words", "pieces"]


@dataclass(frozen=True)
class Axis:
    """Tokens of one side. pieces with their ids; words as (text, start, stop) over the pieces."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    words: tuple[tuple[str, int, int], ...]

    def labels(self, show: Show) -> list[str]:
        return list(self.pieces) if show == "pieces" else [text for text, _, _ in self.words]


@dataclass(frozen=True)
class Answers:
    """The four questions (0x0C.1), answered by this run. Bytes and times are measured, counts are counted."""

    state: tuple[StateTensor, ...]
    state_bytes: int
    state_bytes_after: int
    readable_rows: tuple[int, ...]  # source rows that each decision could read
    encode_steps: int  # dependent row updates before the first decision
    decode_steps: int
    read_ms: float
    score_ms: float  # every target row of this run known in advance, together
    step_ms: float  # median of the decisions of this run


@dataclass(frozen=True)
class SentenceRun:
    """weights and scores are (T, S) over pieces, EOS included on both sides; None where the system has none.

    heads (layers, heads, T, S): every source read where there are several; `weights` average the last layer's.
    """

    slug: str
    title: str
    source: Axis
    target: Axis
    text: str
    ended: str
    probabilities: np.ndarray
    weights: np.ndarray | None
    scores: np.ndarray | None
    visible: np.ndarray | None
    answers: Answers
    checks: tuple[Check, ...]
    heads: np.ndarray | None = None

    def read(self, layer: int = -1, head: int | None = None) -> np.ndarray | None:
        """Weights (T, S) of one layer, the mean of its heads or one head (from 0), where there are several.

        A layer or head that this system does not have, chosen for another one, gives the last layer or the mean. With
        one head a layer, as in ConvS2S, no layer chosen is what the system itself calls its alignment.
        """
        if self.heads is None:
            return self.weights
        layers, heads = self.heads.shape[:2]
        if heads == 1 and layer == -1:
            return self.weights
        layer = layer if -layers <= layer < layers else -1
        head = head if head is not None and head < heads else None
        return self.heads[layer].mean(axis=0) if head is None else self.heads[layer, head]

    def matrix(self, show: Show, *, layer: int = -1, head: int | None = None) -> np.ndarray | None:
        """The weights as shown: over pieces, or over words (source pieces added, target pieces averaged)."""
        weights = self.read(layer, head)
        if weights is None or show == "pieces":
            return weights
        return to_words(weights, spans(self.target), spans(self.source))

    def masked(self, show: Show) -> np.ndarray | None:
        """True where no piece of a cell may be read; None where there is nothing to read or all may be."""
        if self.visible is None or self.visible.all():
            return None
        if show == "pieces":
            return ~self.visible
        return to_words(self.visible.astype(float), spans(self.target), spans(self.source)) == 0


@dataclass(frozen=True)
class Span:
    start: int
    stop: int


def spans(axis: Axis) -> list[Span]:
    return [Span(start, stop) for _, start, stop in axis.words]


def axis(translator: Translator, ids: list[int]) -> Axis:
    words = tuple((w.text, w.start, w.stop) for w in translator.tokenizer.words(ids))
    return Axis(tuple(ids), tuple(translator.tokenizer.pieces(ids)), words)


def run(
    slug: str, sentence: str, *, forced: str | None = None, beam: int = 1, max_length: int = 64
) -> SentenceRun:
    """Translate greedily or with a beam, or follow the forced French text.

    Raises ValueError (a sentence) and CheckpointError.
    """
    translator = models.load(slug)
    source_ids = translator.encode_source(sentence)
    if forced:
        prefix = [*translator.tokenizer.encode(forced), EOS][:max_length]
    else:
        prefix = _searched(translator, source_ids, beam, max_length) if beam > 1 else []
    return observe(translator, source_ids, prefix=prefix, max_length=max_length)


def _searched(translator: Translator, source_ids: list[int], width: int, max_length: int) -> list[int]:
    """Tokens of the best hypothesis of a beam, with EOS where it ended."""
    best = beam_search(translator.system, translator.rows(source_ids), width, max_length)[0][0]
    return [*best.tokens, EOS] if best.finished else best.tokens


@torch.inference_mode()
def observe(
    translator: Translator, source_ids: list[int], *, prefix: list[int] | None = None, max_length: int = 64
) -> SentenceRun:
    """Decode with the one-step interface, score the same tokens at once, and compare the two views."""
    system, rows = translator.system, translator.rows(source_ids)
    started = time.perf_counter()
    state = system.read(rows)
    read_ms = (time.perf_counter() - started) * 1e3
    decoded = greedy(system, state, max_length, prefix=prefix or [])
    target_in = torch.tensor([[BOS, *decoded.tokens[:-1]]], device=device())
    started = time.perf_counter()
    scored = system.score(rows, target_in)
    score_ms = (time.perf_counter() - started) * 1e3
    weights = system.alignment(scored.trace)
    visible = system.source_visible(rows, scored.trace)
    answers = Answers(
        state=tuple(state.tensors()),
        state_bytes=state.nbytes,
        state_bytes_after=decoded.state.nbytes,
        readable_rows=tuple(visible[0].sum(-1).tolist()) if visible is not None else (),
        encode_steps=system.sequential_steps(len(source_ids)),
        decode_steps=len(decoded.tokens),
        read_ms=read_ms,
        score_ms=score_ms,
        step_ms=float(np.median(decoded.seconds) * 1e3),
    )
    chosen = torch.tensor(decoded.tokens, device=device())
    return SentenceRun(
        slug=translator.entry.slug,
        title=translator.entry.title,
        source=axis(translator, source_ids),
        target=axis(translator, decoded.tokens),
        text=translator.tokenizer.decode(decoded.tokens),
        ended=decoded.ended,
        probabilities=decoded.logits.softmax(-1).gather(-1, chosen.unsqueeze(-1)).squeeze(-1).cpu().numpy(),
        weights=None if weights is None else weights[0].cpu().numpy(),
        scores=_scores(scored),
        visible=None if visible is None else visible[0].cpu().numpy(),
        answers=answers,
        checks=tuple(_checks(translator, rows, target_in, decoded, scored, weights, visible)),
        heads=_heads(system.cross_heads(scored.trace)),
    )


def _scores(scored: Scored) -> np.ndarray | None:
    """Scores before the softmax, where one matrix of them exists (recurrent decoders)."""
    decoder = getattr(scored.trace, "decoder", None)
    return None if decoder is None else decoder.attention.scores[0].cpu().numpy()


def _heads(weights: Tensor | None) -> np.ndarray | None:
    return None if weights is None else weights[0].cpu().numpy()


def _checks(
    translator: Translator,
    rows: Rows,
    target_in: Tensor,
    decoded: Decoded,
    scored: Scored,
    weights: Tensor | None,
    visible: Tensor | None,
) -> list[Check]:
    system, tolerance = translator.system, invariants.TOLERANCE
    found: list[Check] = []
    if weights is not None and visible is not None:
        found += _weight_checks(translator, scored, weights, visible)
    future, padding = invariants.disturbances(system, rows, target_in, scored.logits)
    for label, value, text in [
        ("step = score", invariants.step_difference(decoded.logits, scored.logits[0]),
         "Largest difference of logits between one decision at a time and all rows together."),
        ("future changes nothing", future,
         "Largest change of earlier logits when the last target token is replaced."),
        ("padding changes nothing", padding,
         "Largest change of logits when three padded source rows are added."),
    ]:  # fmt: skip
        found.append(Check(label, value <= tolerance, value, text))
    return found


def _weight_checks(translator: Translator, scored: Scored, weights: Tensor, visible: Tensor) -> list[Check]:
    label, text, total = (
        "rows sum to 1",
        "Largest distance of a row's sum from 1.",
        torch.ones_like(weights[..., 0]),
    )
    system = translator.system
    if isinstance(system, Luong) and system.config.window == "local_p":
        label = "rows sum as Eq. 10 says"
        text = "local-p is not normalised after the Gaussian: each row must sum to its softmax times the Gaussian."
        total = _gaussian_sums(system, scored)
    off = invariants.row_sum_difference(weights, total)
    mass = invariants.masked_mass(weights, visible)
    return [
        Check(label, off <= invariants.WEIGHT_TOLERANCE, off, text),
        Check("masked mass 0", mass == 0.0, mass, "Largest weight on a source row that may not be read."),
    ]


def _gaussian_sums(system: Luong, scored: Scored) -> Tensor:
    """Row sums that Eq. 10 asks for, worked out again from the trace's centre and content, (B, T)."""
    decoder = scored.trace.decoder
    place = torch.arange(decoder.content.shape[-1], device=decoder.content.device)
    sigma = system.config.half_width / 2
    envelope = torch.exp(-((place - decoder.centre.unsqueeze(-1)) ** 2) / (2 * sigma**2))
    return (decoder.content * envelope).sum(-1)
