"""Hidden pieces and hidden spans of a text.

BERT (Devlin et al. 2019, 3.1) hides 15% of the pieces: of these 80% become [MASK], 10% another piece, 10% stay, and all
are predicted where they stood. Everything random there is drawn from torch's generator, so that a run repeats.

T5 (Raffel et al. 2020, 3.1.4) hides 15% of the pieces in spans of about 3. In the source each span becomes one
sentinel; the target says, for each sentinel in turn, what stood there:

    source  Thank you <1> me to your party <2> week        target  <1> for inviting <2> last <3>
"""

from __future__ import annotations

import random

import torch
from torch import Tensor

from models.training.tokenizer import MASK, N_SPECIAL, SENTINELS

SHARE = 0.15  # of the pieces of a text (Devlin et al. 2019; Raffel et al. 2020)
MEAN_SPAN = 3  # pieces (Raffel et al. 2020, 3.3.4)


def choose(may: Tensor, share: float = SHARE) -> Tensor:
    """Places to predict, (B, N): `share` of each row's permitted places, at least one where there is any."""
    noise = torch.rand(may.shape).to(may.device).masked_fill(~may, 2.0)
    rank = noise.argsort(dim=1).argsort(dim=1)
    count = (may.sum(dim=1, keepdim=True) * share).round().clamp(min=1)
    return (rank < count) & may


def mask_tokens(ids: Tensor, chosen: Tensor, vocab_size: int) -> Tensor:
    """ids (B, N) with 80% of the chosen places [MASK], 10% a random piece, 10% as they were."""
    draw = torch.rand(ids.shape).to(ids.device)
    other = torch.randint(N_SPECIAL, vocab_size, ids.shape).to(ids.device)
    hidden = ids.masked_fill(chosen & (draw < 0.8), MASK)
    return torch.where(chosen & (draw >= 0.8) & (draw < 0.9), other, hidden)


def hide_spans(ids: list[int], spans: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """(source, target) of a text whose ranges [start, stop), in order and apart, are hidden. Neither has an EOS."""
    source: list[int] = []
    target: list[int] = []
    end = 0
    for sentinel, (start, stop) in zip(SENTINELS, spans, strict=False):
        source += [*ids[end:start], sentinel]
        target += [sentinel, *ids[start:stop]]
        end = stop
    return [*source, *ids[end:]], [*target, SENTINELS[len(spans)]]


def draw_spans(length: int, rng: random.Random) -> list[tuple[int, int]]:
    """Ranges that hide about SHARE of `length` pieces, at least one, in spans of MEAN_SPAN on average.

    Hidden pieces are cut into spans and visible ones into the runs around them, at random places; the first run and the
    last may be empty, so that a text's ends can be hidden too.
    """
    hidden = min(max(1, round(length * SHARE)), length)
    count = min(max(1, round(hidden / MEAN_SPAN)), len(SENTINELS) - 1, length - hidden + 1)
    gone, shown = _cut(hidden, count, rng), _cut(length - hidden + 2, count + 1, rng)
    spans, place = [], -1  # the first run and the last are each counted one too long
    for run, width in zip(shown, gone, strict=False):
        spans.append((place + run, place + run + width))
        place += run + width
    return spans


def _cut(total: int, parts: int, rng: random.Random) -> list[int]:
    """`parts` lengths of at least one that make up `total`, every way alike."""
    ends = [*sorted(rng.sample(range(1, total), parts - 1)), total]
    return [b - a for a, b in zip([0, *ends], ends, strict=False)]
