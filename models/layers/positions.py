"""Positions: fixed sinusoids (Vaswani et al. 2017, 3.5)."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sinusoid(length: int, d_model: int, offset: int = 0, device: torch.device | None = None) -> Tensor:
    """PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos of the same angle: (length, d_model), interleaved."""
    place = torch.arange(offset, offset + length, dtype=torch.float64, device=device).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64, device=device)
    angle = place * torch.exp(even * (-math.log(10000.0) / d_model))
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    return table[:, :d_model]
