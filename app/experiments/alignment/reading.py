"""One aligning system on one sentence: every decision's scores, weights, context and states, as numpy.

The fast part of the page: one pass, no checks (those are `checks`). Weights are over pieces, EOS on both sides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch
from torch import Tensor

import models
from app.experiments.alignment.options import Choice
from app.experiments.run import Axis, SentenceRun, Show, axis, observe, spans
from models.decoding.beam import beam_search
from models.decoding.greedy import Decoded, greedy
from models.execution.device import device
from models.interactive import Translator
from models.interface import Read, stack_traces
from models.layers.attention import gaussian
from models.systems.luong import Luong
from models.systems.luong import StepTrace as LuongStep
from models.systems.rnn_search import StepTrace as SearchStep
from models.systems.transformer import Transformer
from models.training.align_metrics import to_words
from models.training.tokenizer import BOS, EOS

Decoding = Literal["greedy", "beam", "forced"]
MAX_LENGTH = 64
ALTERNATIVES = 4


@dataclass(frozen=True)
class Ask:
    """Everything that a reading depends on. layer from 1 (0 = last), head from 1 (0 = mean of heads)."""

    choice: Choice
    sentence: str
    decoding: Decoding = "greedy"
    beam: int = 4
    forced: str = ""
    layer: int = 0
    head: int = 0


@dataclass(frozen=True)
class Reading:
    """T decisions over S source rows.

    scores and weights (T, S), scores None where no single matrix of them exists (mean of heads); context (T, d);
    vectors: the other values of a step by name, (T, d) each, in the order in which they come to exist;
    centre p_t (T,) and envelope (T, S) of a local window; visible (T, S); alternatives: the most probable pieces of
    each decision with their probabilities.
    """

    ask: Ask
    source: Axis
    target: Axis
    text: str
    ended: str
    log_probs: np.ndarray
    alternatives: tuple[tuple[tuple[str, float], ...], ...]
    weights: np.ndarray
    scores: np.ndarray | None
    visible: np.ndarray
    context: np.ndarray
    vectors: dict[str, np.ndarray]
    centre: np.ndarray | None = None
    envelope: np.ndarray | None = None
    watched: float | None = None  # probability of the token that was asked about

    def matrix(self, show: Show) -> np.ndarray:
        """Weights as shown: over pieces, or over words (source pieces added, target pieces averaged)."""
        return (
            self.weights
            if show == "pieces"
            else to_words(self.weights, spans(self.target), spans(self.source))
        )

    def shown_scores(self, show: Show) -> np.ndarray | None:
        """Scores as shown; over words only where every word is one piece, since scores of pieces do not add up."""
        single = all(len(one.words) == len(one.ids) for one in (self.source, self.target))
        return self.scores if show == "pieces" or single else None

    def masked(self, show: Show) -> np.ndarray | None:
        """True where no piece of a cell may be read; None where all may be."""
        if self.visible.all():
            return None
        if show == "pieces":
            return ~self.visible
        return to_words(self.visible.astype(float), spans(self.target), spans(self.source)) == 0

    def rows(self, show: Show) -> list[tuple[str, int, int]]:
        """Target labels with the decisions [start, stop) that spell them."""
        return _units(self.target, show)

    def columns(self, show: Show) -> list[tuple[str, int, int]]:
        """Source labels with their piece rows [start, stop)."""
        return _units(self.source, show)

    @property
    def sums(self) -> np.ndarray:
        """Sum of each decision's weights, (T,): 1, or local-p's coefficient sum."""
        return self.weights.sum(axis=1)

    @property
    def window(self) -> np.ndarray | None:
        """First and last row that each decision may read, (T, 2); None for a global read."""
        if self.centre is None:
            return None
        last = self.visible.shape[1] - 1 - self.visible[:, ::-1].argmax(axis=1)
        return np.stack([self.visible.argmax(axis=1), last], axis=1)

    @property
    def row_difference(self) -> float:
        """Largest difference between the weights of any two decisions: 0 where weights ignore the decoder."""
        return float((self.weights.max(axis=0) - self.weights.min(axis=0)).max())

    @property
    def unsure(self) -> int:
        """The decision with the smallest probability."""
        return int(np.argmin(self.log_probs))


def _units(side: Axis, show: Show) -> list[tuple[str, int, int]]:
    return [(text, i, i + 1) for i, text in enumerate(side.pieces)] if show == "pieces" else list(side.words)


def translator(choice: Choice) -> Translator:
    """The system of a choice, under its changed configuration. Raises CheckpointError."""
    loaded = models.load(choice.slug)
    if not choice.changes:
        return loaded
    return dataclasses.replace(loaded, system=cast(Luong, loaded.system).variant(**dict(choice.changes)))


def read(ask: Ask) -> Reading:
    """Decode as asked. Raises ValueError (a sentence) and CheckpointError."""
    using = translator(ask.choice)
    source = using.encode_source(ask.sentence)
    return reading(ask, using, source, _prefix(ask, using, source))


def _prefix(ask: Ask, using: Translator, source: list[int]) -> list[int]:
    """Tokens that are supplied instead of decided."""
    if ask.decoding == "forced":
        return [*using.tokenizer.encode(ask.forced), EOS][:MAX_LENGTH] if ask.forced.strip() else []
    if ask.decoding == "greedy":
        return []
    best = beam_search(using.system, using.rows(source), ask.beam, MAX_LENGTH)[0][0]
    return [*best.tokens, EOS] if best.finished else best.tokens


@torch.inference_mode()
def reading(
    ask: Ask,
    using: Translator,
    source: list[int],
    prefix: Sequence[int] = (),
    bias: Callable[[int], Tensor | None] = lambda t: None,
    watch: tuple[int, int] | None = None,
) -> Reading:
    """Decode from a prefix, with bias(t) (S,) added to the scores of decision t; watch: a decision and a token."""
    state = using.system.read(using.rows(source))

    def intervene(t: int) -> Read | None:
        added = bias(t)
        return None if added is None else Read(bias=added.unsqueeze(0))

    decoded = greedy(using.system, state, MAX_LENGTH, prefix=prefix, read=intervene)
    log_probs = torch.log_softmax(decoded.logits, dim=-1)
    chosen = torch.tensor(decoded.tokens, device=device()).unsqueeze(-1)
    recurrent = ask.choice.combination.recurrent
    read_part = _recurrent(using, decoded) if recurrent else _heads(using, decoded, source, ask, bias)
    return Reading(
        ask=ask,
        source=axis(using, source),
        target=axis(using, decoded.tokens),
        text=using.tokenizer.decode(decoded.tokens),
        ended=decoded.ended,
        log_probs=np.minimum(_numpy(log_probs.gather(-1, chosen).squeeze(-1)), 0.0),
        alternatives=_alternatives(using, log_probs),
        watched=None if watch is None else float(log_probs[watch].exp()),
        **read_part,
    )


def _recurrent(using: Translator, decoded: Decoded) -> dict[str, Any]:
    """What a recurrent decoder's step traces say; its steps are the run itself."""
    trace: SearchStep | LuongStep = stack_traces(decoded.traces)
    attention = trace.attention
    found: dict[str, Any] = {
        "weights": _numpy(attention.weights[0]),
        "scores": _numpy(attention.scores[0]),
        "context": _numpy(attention.context[0]),
    }
    if isinstance(trace, SearchStep):
        everything = np.ones(found["weights"].shape, dtype=bool)
        vectors = {"previous": _numpy(trace.previous[0]), "hidden": _numpy(trace.hidden[0])}
        return found | {"visible": everything, "vectors": vectors}
    vectors = {"hidden": _numpy(trace.hidden[0]), "attentional": _numpy(trace.attentional[0])}
    found |= {"visible": trace.visible[0].cpu().numpy(), "vectors": vectors}
    config = cast(Luong, using.system).config
    if config.window != "global":
        found["centre"] = _numpy(trace.centre[0])
    if config.window == "local_p":
        found["envelope"] = _numpy(gaussian(trace.centre[0], config.half_width, attention.scores.shape[-1]))
    return found


def _heads(
    using: Translator, decoded: Decoded, source: list[int], ask: Ask, bias: Callable[[int], Tensor | None]
) -> dict[str, Any]:
    """One layer and head of a Transformer's cross reads, from a teacher-forced pass over the decided tokens."""
    system, steps = cast(Transformer, using.system), len(decoded.tokens)
    target_in = torch.tensor([[BOS, *decoded.tokens[:-1]]], device=device())
    rows = [bias(t) for t in range(steps)]
    zero = torch.zeros(len(source), device=device())
    added = torch.stack([zero if row is None else row for row in rows]).unsqueeze(0)
    trace = system.score(using.rows(source), target_in, read=Read(bias=added)).trace
    layer, head = layer_index(ask.layer, system.config.n_layers), ask.head - 1 if ask.head else None
    if head is not None and head >= system.config.n_heads:
        raise ValueError(f"This Transformer has {system.config.n_heads} heads. Choose one of them.")
    cross = trace.cross[layer]
    return {
        "weights": _numpy(system.alignment(trace, layer, head)[0]),
        "scores": None if head is None else _numpy(cross.scores[0, head]),
        "visible": np.ones((steps, len(source)), dtype=bool),
        "context": _numpy(cross.context[0]),
        "vectors": {"selfread": _numpy(trace.target[layer].context[0])},
    }


def layer_index(layer: int, layers: int) -> int:
    """Index of a layer counted from 1, 0 and beyond the end meaning the last."""
    return min(layer or layers, layers) - 1


def heads_of(choice: Choice) -> tuple[int, int] | None:
    """Layers and heads of the choice's decoder, None where it has no heads."""
    system = translator(choice).system
    return (system.config.n_layers, system.config.n_heads) if isinstance(system, Transformer) else None


def _alternatives(using: Translator, log_probs: Tensor) -> tuple[tuple[tuple[str, float], ...], ...]:
    values, ids = log_probs.topk(ALTERNATIVES, dim=-1)
    return tuple(
        tuple(zip(using.tokenizer.pieces(row), odds, strict=True))
        for row, odds in zip(ids.tolist(), values.exp().tolist(), strict=True)
    )


def checks(ask: Ask, target: tuple[int, ...]) -> SentenceRun:
    """The same tokens run again both ways, with the checks of this run and the four answers (slower than `read`)."""
    using = translator(ask.choice)
    return observe(using, using.encode_source(ask.sentence), prefix=list(target), max_length=MAX_LENGTH)


def _numpy(tensor: Tensor) -> np.ndarray:
    return tensor.float().cpu().numpy()
