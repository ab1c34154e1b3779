"""The layer that Transformers repeat: sublayers with a residual path around each (Vaswani et al. 2017, 3.1).

    post-norm   x = LN(x + F(x))      the original order: the sum is normalised
    pre-norm    x = x + F(LN(x))      GPT-2 and later (Xiong et al. 2020): the residual path stays clean, so a stack
                                      ends with a norm of its own

One code for both: `Residual.enter` gives a sublayer its input, `Residual.leave` closes the path around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn

from models.layers.attention import AttentionTrace, MultiHeadAttention
from models.layers.visibility import Empty

Order = Literal["post", "pre"]
KeysValues = tuple[Tensor, Tensor]  # key and value heads of some rows, (B, h, S, k) each
LayerNorm = Callable[[int], nn.Module]


class FeedForward(nn.Sequential):
    """g(x W1 + b1) W2 + b2, row by row (3.3); g is ReLU, or GELU in GPT and BERT."""

    def __init__(
        self, d_model: int, d_feedforward: int, activation: Callable[[], nn.Module] = nn.ReLU
    ) -> None:
        super().__init__(nn.Linear(d_model, d_feedforward), activation(), nn.Linear(d_feedforward, d_model))


class Residual(nn.Module):
    """Owns one norm a sublayer and the dropout of each sublayer's result."""

    def __init__(
        self, sublayers: int, d_model: int, order: Order, dropout: float, norm: LayerNorm = nn.LayerNorm
    ) -> None:
        super().__init__()
        self.order = order
        self.norms = nn.ModuleList([norm(d_model) for _ in range(sublayers)])
        self.dropout = nn.Dropout(dropout)

    def enter(self, i: int, x: Tensor) -> Tensor:
        """What sublayer i computes on."""
        return self.norms[i](x) if self.order == "pre" else x

    def leave(self, i: int, x: Tensor, result: Tensor) -> Tensor:
        """The rows after sublayer i."""
        total = x + self.dropout(result)
        return total if self.order == "pre" else self.norms[i](total)


def extended(past: KeysValues | None, new: KeysValues) -> KeysValues:
    """A cache with the new rows' heads appended."""
    if past is None:
        return new
    return torch.cat([past[0], new[0]], dim=2), torch.cat([past[1], new[1]], dim=2)


class SelfLayer(Residual):
    """Rows read each other, then each passes the feed-forward alone: an encoder's layer, and the only one of a
    single-stream model."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_feedforward: int,
        dropout: float,
        order: Order = "post",
        activation: Callable[[], nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__(2, d_model, order, dropout)
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feedforward = FeedForward(d_model, d_feedforward, activation)

    def forward(
        self, x: Tensor, visible: Tensor, past: KeysValues | None = None, empty: Empty = "error"
    ) -> tuple[Tensor, AttentionTrace, KeysValues]:
        """x (B, T, d_model) reads `past` rows and itself under visible (B, 1, T or 1, past + T); also returns the
        heads that a cache keeps."""
        rows = self.enter(0, x)
        kept = extended(past, self.attention.keys_values(rows))
        read, trace = self.attention(rows, *kept, visible, empty=empty)
        x = self.leave(0, x, read)
        return self.leave(1, x, self.feedforward(self.enter(1, x))), trace, kept
