"""A wider summary is still one row (0x02C): what a state with another width of c would hold, by its own accounting.

phi maps T_x rows to one vector of d_c channels, so a state of Cho's system is known from d_c alone. A test builds the
system at several widths, reads sources of several lengths, and finds these very tensors.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from models.interface import StateTensor
from models.systems.rnn_encoder_decoder import SummaryState


@dataclass(frozen=True)
class Widened:
    """What a summary of `width` channels hands over, whatever the length of the source."""

    width: int
    tensors: tuple[StateTensor, ...]

    @property
    def summary(self) -> StateTensor:
        return self.tensors[0]

    @property
    def numbers(self) -> int:
        """How many numbers the summary holds."""
        return self.summary.shape[0] * self.summary.shape[1]


def widened(width: int) -> Widened:
    """The tensors of a state whose summary has `width` channels."""
    return Widened(width, tuple(SummaryState(torch.empty(1, width), torch.empty(1, width)).tensors()))
