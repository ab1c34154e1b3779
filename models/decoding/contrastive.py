"""Contrastive search (Su et al. 2022, Eq. 5): probable, and unlike what already stands.

score(v) = (1 - alpha) p(v | y_<t, x) - alpha max_j cos(h_v, h_j), v among the `top_k` most probable tokens. h_v is the
row that the system would have after v, the h_j are the rows that it has. p is not renormalised over the k.

Rows are those of the target, BOS's among them: an encoder-decoder has no others, and in a single stream the rows of the
source are left out, so that the penalty means the same for every system.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from models.decoding.walk import Walked
from models.interface import Rows, System
from models.training.tokenizer import BOS


@torch.inference_mode()
def contrastive(
    system: System, source: Rows, alpha: float, top_k: int, max_length: int = 64, prefix: Sequence[int] = ()
) -> Walked:
    """Decide up to max_length tokens of one request, after `prefix`. With alpha 0 or top_k 1 this is greedy."""
    found = Walked()
    rows = _rows(system, source, [[BOS]])[0]  # (T, d)
    while len(found.tokens) < max_length and found.ended != "eos":
        log_probs = system.project(rows[-1]).log_softmax(-1)
        t = len(found.tokens)
        candidates = (
            [prefix[t]] if t < len(prefix) else log_probs.topk(min(top_k, len(log_probs)))[1].tolist()
        )
        after = _rows(system, source, [[BOS, *found.tokens, v] for v in candidates])  # (k, T + 1, d)
        best = int(scores(log_probs[candidates].exp(), after, alpha).argmax())
        found.log_prob += float(log_probs[candidates[best]])
        found.tokens.append(candidates[best])
        rows = after[best]
    return found


def scores(probabilities: Tensor, after: Tensor, alpha: float) -> Tensor:
    """probabilities (k,) of the candidates and rows (k, T, d), the last of each the candidate's own -> (k,)."""
    likeness = F.cosine_similarity(after[:, -1:], after[:, :-1], dim=-1).amax(-1)
    return (1 - alpha) * probabilities - alpha * likeness


def _rows(system: System, source: Rows, targets: list[list[int]]) -> Tensor:
    count = len(targets)
    many = Rows(source.ids.expand(count, -1), source.valid.expand(count, -1))
    return system.features(many, torch.tensor(targets, device=source.ids.device))[0]
