"""A stack of convolutions built from any schedule, so that its field can be measured and not only derived (0x05B).

    x_l = tanh(conv_l(x_(l-1))), every s-th row kept        weights drawn positive, so no two paths can cancel

The derivative of one output row by an input row is then zero exactly where no path leads, and above zero elsewhere.
It is a measuring instrument, not a trained system. For one new row a causal layer needs its last (k-1) d inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from models.layers.convolution import RowConvolution


class Convolved(Protocol):
    """One layer of a schedule, as `models.analysis.receptive.Layer` has it."""

    @property
    def width(self) -> int: ...
    @property
    def dilation(self) -> int: ...
    @property
    def causal(self) -> bool: ...
    @property
    def stride(self) -> int: ...


class ScheduleStack(nn.Module):
    """The schedule's layers over rows of `channels`, float64. Its last layer's rows are fewer where it strides."""

    def __init__(self, schedule: Sequence[Convolved], channels: int = 4, seed: int = 0) -> None:
        super().__init__()
        self.strides = [layer.stride for layer in schedule]
        self.channels = channels
        self.layers = nn.ModuleList(
            RowConvolution(channels, channels, one.width, one.dilation, one.causal) for one in schedule
        )
        self.double().requires_grad_(False).eval()
        generator = torch.Generator().manual_seed(seed)
        for layer in self.layers:
            weight: Tensor = layer.weight  # type: ignore[assignment]
            drawn = torch.rand(weight.shape, generator=generator, dtype=torch.float64) + 0.5
            weight.copy_(
                drawn / (channels * weight.shape[-1])
            )  # about a mean: nothing grows, nothing saturates

    def forward(self, rows: Tensor) -> Tensor:
        """(B, T, channels) -> (B, rows of the last layer, channels), each layer over all its rows at once."""
        for layer, stride in zip(self.layers, self.strides, strict=True):
            rows = torch.tanh(layer(rows)[:, ::stride])
        return rows

    def buffers_like(self, rows: Tensor) -> tuple[Tensor, ...]:
        """What streaming keeps before the first row. Raises ValueError where a row would need later ones."""
        if any(stride > 1 for stride in self.strides) or not all(layer.causal for layer in self.layers):
            raise ValueError(
                "Only causal layers of stride 1 can run one row at a time: a row may need no later one."
            )
        return tuple(layer.buffer(rows) for layer in self.layers)  # type: ignore[operator]

    def step(self, row: Tensor, buffers: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """One new row (B, channels) through every layer from its last inputs: the output row and the new buffers."""
        kept = []
        for layer, buffer in zip(self.layers, buffers, strict=True):
            out, after = layer.step(row, buffer)  # type: ignore[operator]
            row = torch.tanh(out)
            kept.append(after)
        return row, tuple(kept)

    def stream(self, rows: Tensor) -> Tensor:
        """`forward` one row after another from buffers alone, (B, T, channels): equal rows, T times the calls."""
        buffers, found = self.buffers_like(rows), []
        for row in rows.unbind(1):
            out, buffers = self.step(row, buffers)
            found.append(out)
        return torch.stack(found, dim=1)


def row_gradient(function: Callable[[Tensor], Tensor], rows: Tensor, output: int) -> Tensor:
    """||d out_output / d in_s||_F of one output row by every input row, exact, (N,).

    function maps (C, N, d) to (C, T, d_out), each copy alone; rows (N, d). One backward pass over d_out copies.
    """
    with torch.inference_mode(False), torch.enable_grad():
        fixed = rows.detach().clone()
        with torch.no_grad():
            width = function(fixed.unsqueeze(0)).shape[-1]
        copies = fixed.expand(width, -1, -1).clone().requires_grad_(True)
        channel = torch.arange(width, device=fixed.device)
        chosen = function(copies)[channel, output, channel]
        (slope,) = torch.autograd.grad(chosen.sum(), copies)  # (d_out, N, d)
        return slope.square().sum((0, 2)).sqrt()


def measured_field(schedule: Sequence[Convolved], rows: int, output: int, seed: int = 0) -> Tensor:
    """The derivative of one output row of a random stack by each of `rows` input rows, (rows,) float64."""
    stack = ScheduleStack(schedule, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    given = torch.randn(rows, stack.channels, generator=generator, dtype=torch.float64)
    return row_gradient(stack, given, output)
