"""What Mamba decides about each row of the visitor's sentence and of its own output (0x0C.4).

The stream is `source EOS BOS output`; every number comes from one teacher-forced pass over it, or from reading the
edited source.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

import models
from app.experiments.run import Check
from models.analysis import invariants
from models.analysis.influence import influence
from models.decoding.greedy import greedy
from models.execution.device import device
from models.interactive import Translator
from models.layers.selective import survival
from models.systems.mamba import Mamba, SelectiveTrace
from models.training.tokenizer import BOS

SLUG = "mamba"
MOST_OUTPUT = 48


@dataclass(frozen=True)
class LayerView:
    """One layer over the N rows of the stream: means over channels of the step, of what is written and of what is read
    (N,); survival (N, N): the share of what row s wrote that is left after row t."""

    delta: np.ndarray
    write: np.ndarray
    read: np.ndarray
    survival: np.ndarray


@dataclass(frozen=True)
class Selection:
    """tokens: the N rows, the first `source` of them the sentence with EOS, then BOS and the output.

    influence (T, N): how far the row of each decision moves with each embedded row; 0 for later rows.
    """

    tokens: tuple[str, ...]
    source: int
    output: str
    decisions: tuple[str, ...]
    layers: tuple[LayerView, ...]
    influence: np.ndarray
    nbytes: int
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Edited:
    """The sentence without one piece, or with it twice: its output, and a layer the |x' - x| / |x| that follows."""

    tokens: tuple[str, ...]
    output: str
    before: str
    moved: tuple[float, ...]


def layers() -> int:
    """Layers of the trained system. Raises CheckpointError where its files are missing."""
    return len(_mamba()[1].layers)


def _mamba() -> tuple[Translator, Mamba]:
    translator = models.load(SLUG)
    assert isinstance(translator.system, Mamba)
    return translator, translator.system


def selection(sentence: str) -> Selection:
    """Read, decide greedily, and look at the pass over all of it. Raises ValueError and CheckpointError (sentences)."""
    translator, system = _mamba()
    ids = translator.encode_source(sentence)
    rows = translator.rows(ids)
    with torch.inference_mode():
        state = system.read(rows)
        decoded = greedy(system, state, MOST_OUTPUT)
        given = torch.tensor([[BOS, *decoded.tokens[:-1]]], device=device())
        scored = system.score(rows, given)
        future, padding = invariants.disturbances(system, rows, given, scored.logits)
        views = tuple(
            _view(layer, trace) for layer, trace in zip(system.layers, scored.trace.layers, strict=True)
        )
    pieces = translator.tokenizer.pieces
    same = invariants.step_difference(decoded.logits, scored.logits[0])
    return Selection(
        tokens=(*pieces(ids), *pieces([BOS, *decoded.tokens[:-1]])),
        source=len(ids),
        output=translator.tokenizer.decode(decoded.tokens),
        decisions=tuple(pieces(decoded.tokens)),
        layers=views,
        influence=influence(system, rows, given).cpu().numpy(),
        nbytes=state.nbytes,
        checks=_checks(same, future, padding),
    )


def _view(layer: torch.nn.Module, trace: SelectiveTrace) -> LayerView:
    delta, write = trace.delta[0], trace.write[0]
    written = (trace.delta[0] * trace.u[0]).abs().mean(-1) * write.abs().mean(-1)
    return LayerView(
        delta.mean(-1).cpu().numpy(),
        written.cpu().numpy(),
        trace.read[0].norm(dim=-1).cpu().numpy(),
        survival(delta, layer.A).cpu().numpy(),  # type: ignore[arg-type]
    )


def _checks(same: float, future: float, padding: float) -> tuple[Check, ...]:
    told = (
        (
            "step = scan",
            same,
            "Largest difference of logits between one row at a time and the scan over all rows.",
        ),
        (
            "future changes nothing",
            future,
            "Largest change of earlier logits when the last output piece is replaced.",
        ),
        (
            "padding changes nothing",
            padding,
            "Largest change of logits when three padded source rows are added.",
        ),
    )
    return tuple(Check(label, value <= invariants.TOLERANCE, value, text) for label, value, text in told)


@torch.inference_mode()
def edited(sentence: str, token: int, edit: str) -> Edited:
    """Remove a source piece or say it twice, read again, and decide again.

    Raises ValueError with a sentence where the sentence has no such piece, or only that one.
    """
    translator, system = _mamba()
    ids = translator.encode_source(sentence)
    if not 0 <= token < len(ids) - 1:
        raise ValueError("This sentence has no such piece any more. Choose another one.")
    changed = [*ids[:token], *([ids[token]] * 2 if edit == "duplicate" else []), *ids[token + 1 :]]
    if len(changed) < 2:
        raise ValueError("Without this piece nothing is left to read.")
    plain, other = (system.read(translator.rows(one)) for one in (ids, changed))
    moved = tuple(
        float((b - a).norm() / a.norm().clamp(min=1e-12))
        for a, b in zip(plain.hidden, other.hidden, strict=True)
    )
    outputs = [
        translator.tokenizer.decode(greedy(system, state, MOST_OUTPUT).tokens) for state in (plain, other)
    ]
    return Edited(tuple(translator.tokenizer.pieces(changed)), outputs[1], outputs[0], moved)
