"""Positions: fixed sinusoids (Vaswani et al. 2017, 3.5), and T5's bias by distance (Raffel et al. 2020, 2.1)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoid(length: int, d_model: int, offset: int = 0, device: torch.device | None = None) -> Tensor:
    """PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos of the same angle: (length, d_model), interleaved."""
    place = torch.arange(offset, offset + length, dtype=torch.float64, device=device).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64, device=device)
    angle = place * torch.exp(even * (-math.log(10000.0) / d_model))
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    return table[:, :d_model]


def distance_buckets(distance: Tensor, buckets: int, furthest: int, both_ways: bool) -> Tensor:
    """The bucket of each distance, key column - query row: half of the buckets hold one distance each, the rest widen
    logarithmically up to `furthest`, and all that lies beyond shares the last.

    both_ways gives half of the buckets to keys after the query; otherwise these fall into bucket 0 with the row itself.
    """
    first = torch.zeros_like(distance)
    if both_ways:
        buckets //= 2
        first = (distance > 0).long() * buckets
        distance = distance.abs()
    else:
        distance = (-distance).clamp(min=0)
    exact = buckets // 2
    spread = (distance.clamp(min=1).double() / exact).log() / math.log(furthest / exact)
    wide = (exact + (spread * (buckets - exact)).floor().long()).clamp(max=buckets - 1)
    return first + torch.where(distance < exact, distance, wide)


class DistanceBias(nn.Module):
    """One learned number a bucket and head, added to the scores; the layers of a stack share it."""

    def __init__(self, n_heads: int, buckets: int, furthest: int, both_ways: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(buckets, n_heads)
        self.furthest, self.both_ways = furthest, both_ways

    def forward(self, columns: int, offset: int = 0) -> Tensor:
        """For query rows `offset` to columns - 1: (1, h, columns - offset, columns)."""
        place = torch.arange(columns, device=self.table.weight.device)
        distance = place - place[offset:].unsqueeze(1)
        which = distance_buckets(distance, self.table.num_embeddings, self.furthest, self.both_ways)
        return self.table(which).permute(2, 0, 1).unsqueeze(0)
