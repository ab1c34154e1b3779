"""The summary of two sentences compared, channel by channel (0x02B): equal summaries would force equal decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from app.experiments.fixed_context import FIXED
from app.experiments.fixed_context.common import Missing, largest, loaded, padded, together
from app.experiments.run import Check
from models.interactive import Translator
from models.interface import Rows
from models.systems.lstm_seq2seq import StackState
from models.systems.rnn_encoder_decoder import SummaryState

EXACT = 1e-5  # what float32 rounding may leave when rows are padded or batched


@dataclass(frozen=True)
class Summary:
    """One fixed-context system: channels (C,) of its summary for A and for B, and where each named part begins."""

    slug: str
    title: str
    a: np.ndarray
    b: np.ndarray
    parts: tuple[tuple[str, int, int], ...]  # symbol, first channel, one past the last
    cosine: float
    relative: float  # |c_A - c_B| over the mean of both lengths
    others: tuple[tuple[str, float], ...]  # cosine of A's summary with that of each other sentence
    checks: tuple[Check, ...]

    @property
    def difference(self) -> np.ndarray:
        return self.b - self.a


@dataclass(frozen=True)
class Summaries:
    systems: tuple[Summary, ...]
    missing: tuple[Missing, ...]


def summaries(slugs: tuple[str, ...], a: str, b: str, others: tuple[str, ...] = ()) -> Summaries:
    """Summaries of A, B and `others` in every fixed-context system of `slugs` that is there."""
    found, missing = loaded(slug for slug in slugs if slug in FIXED)
    return Summaries(tuple(compare(one, a, b, others) for one in found), missing)


@torch.inference_mode()
def compare(translator: Translator, a: str, b: str, others: tuple[str, ...]) -> Summary:
    rows_a, rows_b = (translator.rows(translator.encode_source(text)) for text in (a, b))
    (c_a, parts), (c_b, _) = summary(translator, rows_a), summary(translator, rows_b)
    off = largest(summary(translator, padded(rows_a))[0], c_a)
    check = Check(
        "padding changes no channel",
        off <= EXACT,
        off,
        "Largest change of c when three padded rows are added.",
    )
    return Summary(
        translator.entry.slug,
        translator.entry.title,
        c_a[0].cpu().numpy(),
        c_b[0].cpu().numpy(),
        parts,
        float(torch.cosine_similarity(c_a, c_b)),
        relative_difference(c_a[0], c_b[0]),
        _cosines(translator, c_a, others),
        (check,),
    )


def summary(translator: Translator, rows: Rows) -> tuple[Tensor, tuple[tuple[str, int, int], ...]]:
    """All that crosses, side by side (B, C): c of Cho's system, or hidden and cell of each layer of Sutskever's."""
    state = translator.system.read(rows)
    if isinstance(state, SummaryState):
        return state.summary, (("c", 0, state.summary.shape[-1]),)
    if not isinstance(state, StackState):
        raise TypeError(f"{translator.entry.title} has no summary.")
    named = [(f"h, layer {i + 1}", h) for i, h in enumerate(state.hidden)]
    named += [(f"c, layer {i + 1}", c) for i, c in enumerate(state.cell)]
    edges = np.cumsum([0, *(part.shape[-1] for _, part in named)]).tolist()
    parts = tuple(
        (name, start, stop) for (name, _), start, stop in zip(named, edges, edges[1:], strict=False)
    )
    return torch.cat([part for _, part in named], dim=-1), parts


def relative_difference(a: Tensor, b: Tensor) -> float:
    """|a - b| over the mean of |a| and |b|: 0 equal, near 1.41 for unrelated directions of equal length."""
    mean = (a.norm() + b.norm()) / 2
    return float((a - b).norm() / mean) if mean > 0 else 0.0


def _cosines(translator: Translator, c_a: Tensor, others: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """One padded batch; a padded batch equals its rows alone."""
    if not others:
        return ()
    batch = together([translator.encode_source(text) for text in others])
    values = torch.cosine_similarity(summary(translator, batch)[0], c_a).tolist()
    return tuple(zip(others, values, strict=True))
