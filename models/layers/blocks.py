"""The layer that Transformers repeat: sublayers with a residual path around each (Vaswani et al. 2017, 3.1).

    post-norm   x = LN(x + F(x))      the original order: the sum is normalised
    pre-norm    x = x + F(LN(x))      GPT-2 and later (Xiong et al. 2020): the residual path stays clean, so a stack
                                      ends with a norm of its own

One code for both: `Residual.enter` gives a sublayer its input, `Residual.leave` closes the path around it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from models.interface import Read
from models.layers.attention import AttentionTrace, MultiHeadAttention
from models.layers.visibility import Empty

Order = Literal["post", "pre"]
KeysValues = tuple[Tensor, Tensor]  # key and value heads of some rows, (B, h, S, k) each


@dataclass(frozen=True)
class Style:
    """What a family's layers have in common. Vaswani et al. 2017 by default; GPT, BERT and T5 change some of it."""

    d_model: int
    n_heads: int
    d_feedforward: int
    dropout: float
    order: Order = "post"
    norm: Callable[[int], nn.Module] = nn.LayerNorm
    activation: Callable[[], nn.Module] = nn.ReLU
    gated: bool = False
    biases: bool = True
    scaled: bool = True  # scores divided by sqrt(d_k)
    d_head: int | None = None

    def attention(self) -> MultiHeadAttention:
        return MultiHeadAttention(self.d_model, self.n_heads, self.d_head, self.biases, self.scaled)

    def feedforward(self) -> nn.Module:
        kind = GatedFeedForward if self.gated else FeedForward
        return kind(self.d_model, self.d_feedforward, self.activation, self.biases)


class FeedForward(nn.Sequential):
    """g(x W1 + b1) W2 + b2, row by row (3.3); g is ReLU, or GELU in GPT and BERT."""

    def __init__(
        self,
        d_model: int,
        d_feedforward: int,
        activation: Callable[[], nn.Module] = nn.ReLU,
        biases: bool = True,
    ) -> None:
        super().__init__(
            nn.Linear(d_model, d_feedforward, biases), activation(), nn.Linear(d_feedforward, d_model, biases)
        )


class GatedFeedForward(nn.Module):
    """(g(x W0) * x W1) W2 (Shazeer 2020): T5 1.1's."""

    def __init__(
        self,
        d_model: int,
        d_feedforward: int,
        activation: Callable[[], nn.Module] = nn.GELU,
        biases: bool = False,
    ) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_feedforward, biases)
        self.linear = nn.Linear(d_model, d_feedforward, biases)
        self.output = nn.Linear(d_feedforward, d_model, biases)
        self.activation = activation()

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.activation(self.gate(x)) * self.linear(x))


def extended(past: KeysValues | None, new: KeysValues) -> KeysValues:
    """A cache with the new rows' heads appended."""
    if past is None:
        return new
    return torch.cat([past[0], new[0]], dim=2), torch.cat([past[1], new[1]], dim=2)


class Residual(nn.Module):
    """Owns one norm a sublayer and the dropout of each sublayer's result."""

    def __init__(self, sublayers: int, style: Style) -> None:
        super().__init__()
        self.order = style.order
        self.norms = nn.ModuleList([style.norm(style.d_model) for _ in range(sublayers)])
        self.dropout = nn.Dropout(style.dropout)

    def enter(self, i: int, x: Tensor) -> Tensor:
        """What sublayer i computes on."""
        return self.norms[i](x) if self.order == "pre" else x

    def leave(self, i: int, x: Tensor, result: Tensor) -> Tensor:
        """The rows after sublayer i."""
        total = x + self.dropout(result)
        return total if self.order == "pre" else self.norms[i](total)


class SelfLayer(Residual):
    """Rows read each other, then each passes the feed-forward alone: an encoder's layer, and the only one of a
    single-stream model."""

    def __init__(self, style: Style) -> None:
        super().__init__(2, style)
        self.attention = style.attention()
        self.feedforward = style.feedforward()

    def forward(
        self,
        x: Tensor,
        visible: Tensor,
        past: KeysValues | None = None,
        *,
        bias: Tensor | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, AttentionTrace, KeysValues]:
        """x (B, T, d_model) reads `past` rows and itself under visible (B, 1, T or 1, past + T); bias, one a head, is
        added to the scores. Also returns the heads that a cache keeps."""
        rows = self.enter(0, x)
        kept = extended(past, self.attention.keys_values(rows))
        read, trace = self.attention(rows, *kept, visible, bias, empty=empty)
        x = self.leave(0, x, read)
        return self.leave(1, x, self.feedforward(self.enter(1, x))), trace, kept


class CrossLayer(Residual):
    """Target rows read each other's past, then the source's memory, then pass the feed-forward: a decoder's layer."""

    def __init__(self, style: Style) -> None:
        super().__init__(3, style)
        self.attention = style.attention()
        self.cross = style.attention()
        self.feedforward = style.feedforward()

    def forward(
        self,
        y: Tensor,
        past: KeysValues | None,
        memory: KeysValues,
        own_visible: Tensor,
        cross_visible: Tensor,
        *,
        bias: Tensor | None = None,
        read: Read | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, AttentionTrace, AttentionTrace, KeysValues]:
        """y (B, T, d_model); past and memory are key and value heads of earlier target rows and of the source. bias is
        added to the scores of the self read, `read` intervenes in the cross read."""
        added, replaced = (read.bias, read.weights) if read else (None, None)
        rows = self.enter(0, y)
        kept = extended(past, self.attention.keys_values(rows))
        selfread, target = self.attention(rows, *kept, own_visible, bias, empty=empty)
        y = self.leave(0, y, selfread)
        crossread, cross = self.cross(self.enter(1, y), *memory, cross_visible, added, replaced, empty)
        y = self.leave(1, y, crossread)
        return self.leave(2, y, self.feedforward(self.enter(2, y))), target, cross, kept
