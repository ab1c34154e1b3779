"""Convolution over rows: causal or centred, dilated, and the gates that follow it (0x05).

    y_t = b + sum_i W_i x_(t - d i)          causal, i = 0 .. k-1: k rows, d apart, none later than t
    glu([a ; g]) = a * sigmoid(g)            Dauphin et al. 2017; Gehring et al. 2017, 3.2

For known rows a layer runs all positions at once; for one new row it needs the last (k-1) d inputs, which a buffer
keeps. A kernel's first tap belongs to the oldest row, as in torch's Conv1d.

Glossary: k is the kernel's width, d its dilation, buffer (B, (k-1) d, channels) the rows before the first one.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def glu(rows: Tensor) -> Tensor:
    """First half of the channels, gated by the sigmoid of the second: (..., 2c) -> (..., c)."""
    value, gate = rows.chunk(2, dim=-1)
    return value * torch.sigmoid(gate)


def convolve_rows(rows: Tensor, weight: Tensor, bias: Tensor | None, dilation: int = 1) -> Tensor:
    """Only positions whose whole neighbourhood is given: rows (B, T, c_in), weight (c_out, c_in, k)."""
    return F.conv1d(rows.transpose(1, 2), weight, bias, dilation=dilation).transpose(1, 2)


class RowConvolution(nn.Module):
    """A convolution over rows (B, T, c_in) -> (B, T, c_out), causal or centred. A centred width must be odd."""

    def __init__(
        self, c_in: int, c_out: int, width: int, dilation: int = 1, causal: bool = True, bias: bool = True
    ) -> None:
        super().__init__()
        if not causal and width % 2 == 0:
            raise ValueError(f"A centred convolution needs an odd width, not {width}.")
        self.dilation, self.causal = dilation, causal
        self.reach = (width - 1) * dilation  # rows that the oldest tap lies before the newest
        self.weight = nn.Parameter(torch.empty(c_out, c_in, width))
        self.bias = nn.Parameter(torch.zeros(c_out)) if bias else None
        nn.init.normal_(
            self.weight, std=(4 / (c_in * width)) ** 0.5
        )  # Gehring et al., 3.5: variance 4 / n before a GLU

    def forward(self, rows: Tensor, valid: Tensor | None = None) -> Tensor:
        """Every row at once. valid (B, T) puts zeros where padding stands, as at a sentence's own edges."""
        if valid is not None:
            rows = rows.masked_fill(~valid.unsqueeze(-1), 0.0)
        before = self.reach if self.causal else self.reach // 2
        padded = F.pad(rows, (0, 0, before, self.reach - before))
        return convolve_rows(padded, self.weight, self.bias, self.dilation)

    def buffer(self, like: Tensor) -> Tensor:
        """The zeros before the first row, for requests as in `like` (B, ...): (B, reach, c_in)."""
        return like.new_zeros(like.shape[0], self.reach, self.weight.shape[1])

    def step(self, row: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor]:
        """One new row (B, c_in) after the buffered ones: its output (B, c_out), and the buffer for the next."""
        rows = torch.cat([buffer, row.unsqueeze(1)], dim=1)
        return convolve_rows(rows, self.weight, self.bias, self.dilation)[:, 0], rows[:, 1:]
