"""From a decision's rows to logits: the deep output of Bahdanau et al. 2015 (A.2.2), and a tied table."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def maxout(rows: Tensor) -> Tensor:
    """The larger of each pair of neighbours: (..., 2l) -> (..., l) (Goodfellow et al. 2013)."""
    return rows.unflatten(-1, (-1, 2)).amax(dim=-1)


class DeepOutput(nn.Module):
    """t = maxout(L [parts]); the parts are the objects that the paper lets a decision see."""

    def __init__(self, d_parts: int, d_model: int) -> None:
        super().__init__()
        self.linear = nn.Linear(d_parts, 2 * d_model)

    def forward(self, *parts: Tensor) -> Tensor:
        return maxout(self.linear(torch.cat(parts, dim=-1)))


class TiedOutput(nn.Module):
    """Logits from the embedding's own table: one parameter, two uses (0x0A.2). Without biases it adds zeros."""

    def __init__(self, table: nn.Embedding, biases: bool = True) -> None:
        super().__init__()
        self.table = table
        zeros = torch.zeros(table.num_embeddings)
        if biases:
            self.bias = nn.Parameter(zeros)
        else:
            self.register_buffer("bias", zeros, persistent=False)

    def forward(self, rows: Tensor) -> Tensor:
        return F.linear(rows, self.table.weight, self.bias)


class FreeOutput(TiedOutput):
    """Logits from a table of its own, without biases: T5 1.1's."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__(embedding(vocab_size, d_model), biases=False)


def embedding(vocab_size: int, d_model: int) -> nn.Embedding:
    """A table whose rows have about unit length, so that it serves as input and as output."""
    table = nn.Embedding(vocab_size, d_model)
    nn.init.normal_(table.weight, std=d_model**-0.5)
    return table
