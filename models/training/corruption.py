"""Hidden tokens (Devlin et al. 2019, 3.1): 15% of a text's pieces; of these 80% become [MASK], 10% another piece, 10%
stay; all are predicted.

Everything random is drawn from torch's generator, so that a run repeats.
"""

from __future__ import annotations

import torch
from torch import Tensor

from models.training.tokenizer import MASK, N_SPECIAL

SHARE = 0.15  # of the pieces of a text (Devlin et al. 2019)


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
