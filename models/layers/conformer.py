"""The Conformer block (Gulati et al. 2020; 0x0C.5): a global route and a local one between two half feed-forwards.

    x~ = x + 1/2 FFN(x),  x' = x~ + MHSA(x~),  x'' = x' + Conv(x'),  y = LN(x'' + 1/2 FFN(x''))

Each branch normalises its own input (pre-norm). The paper also tries the routes side by side: both read x~, and one
linear map of their concatenation is added. Attention reads relative positions as Transformer-XL does:

    score_ij = ((q_i + u) . k_j + (q_i + v) . W_r r_(i-j)) / sqrt(d_head)

Glossary: u and v are `content` and `place`, one vector a head; r_(i-j) is the sinusoid of the distance query - key.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.attention import AttentionTrace, MultiHeadAttention, normalise
from models.layers.blocks import FeedForward
from models.layers.convolution import glu
from models.layers.positions import sinusoid

Order = Literal["attention first", "convolution first", "parallel", "attention only", "convolution only"]
ROUTES: dict[Order, tuple[str, ...]] = {
    "attention first": ("attention", "convolution"),
    "convolution first": ("convolution", "attention"),
    "parallel": ("attention", "convolution"),
    "attention only": ("attention",),
    "convolution only": ("convolution",),
}


@dataclass(frozen=True)
class ConformerTrace:
    """What each route added to the rows, (B, T, d_model) or None where the block lacks it, and the attention read.
    In parallel order the routes' results are still to be merged."""

    attention: AttentionTrace | None
    attended: Tensor | None
    convolved: Tensor | None


def distances(length: int, d_model: int, like: Tensor) -> Tensor:
    """r of every distance from length - 1 (key far to the left) down to -(length - 1): (2 length - 1, d_model)."""
    table = sinusoid(2 * length - 1, d_model, offset=1 - length, device=like.device)
    return table.flip(0).to(like.dtype)


def by_pairs(scores: Tensor) -> Tensor:
    """Scores of each query with each distance, (..., T, 2T - 1), as scores of each query with each key, (..., T, T)."""
    length = scores.shape[-2]
    rows = torch.arange(length, device=scores.device)
    column = length - 1 - (rows.unsqueeze(1) - rows)  # (T, T): where distance i - j stands
    return scores.gather(-1, column.expand(*scores.shape[:-1], length))


class RelativeAttention(MultiHeadAttention):
    """Attention that knows how far a key lies, and on which side, but no absolute position."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__(d_model, n_heads)
        self.distance = nn.Linear(d_model, d_model, bias=False)  # W_r
        self.content = nn.Parameter(torch.zeros(n_heads, d_model // n_heads))
        self.place = nn.Parameter(torch.zeros(n_heads, d_model // n_heads))

    def read(self, rows: Tensor, visible: Tensor) -> tuple[Tensor, AttentionTrace]:
        """rows (B, T, d_model) read each other under visible (B, 1, T or 1, T)."""
        query, (key, value) = self.heads(self.query(rows)), self.keys_values(rows)
        far = self.heads(self.distance(distances(rows.shape[1], rows.shape[2], rows)).unsqueeze(0))
        content = (query + self.content.unsqueeze(1)) @ key.transpose(-2, -1)
        place = by_pairs((query + self.place.unsqueeze(1)) @ far.transpose(-2, -1))
        scores = (content + place) / math.sqrt(query.shape[-1])
        weights = normalise(scores, visible)
        context = (weights @ value).transpose(1, 2).flatten(-2)  # (B, T, d_model)
        return self.output(context), AttentionTrace(scores, weights, context)


class PlainAttention(MultiHeadAttention):
    """The same without positions, as torchaudio's Conformer has it: only the convolution then knows the order."""

    def read(self, rows: Tensor, visible: Tensor) -> tuple[Tensor, AttentionTrace]:
        return self(rows, *self.keys_values(rows), visible)


class ConvolutionModule(nn.Module):
    """Twice as many channels, GLU, one centred filter a channel, batch norm, SiLU, and a mix of channels."""

    def __init__(self, d_model: int, width: int, biases: bool = True) -> None:
        super().__init__()
        if width % 2 == 0:
            raise ValueError(f"A centred convolution needs an odd width, not {width}.")
        self.enter = nn.Linear(d_model, 2 * d_model, biases)
        self.taps = nn.Conv1d(d_model, d_model, width, padding=width // 2, groups=d_model, bias=biases)
        self.norm = nn.BatchNorm1d(d_model)
        self.leave = nn.Linear(d_model, d_model, biases)

    def forward(self, rows: Tensor) -> Tensor:
        """rows (B, T, d_model), each made of its neighbourhood of `width` rows; zeros beyond the edges."""
        channels = glu(self.enter(rows)).transpose(1, 2)
        return self.leave(F.silu(self.norm(self.taps(channels))).transpose(1, 2))


class ConformerBlock(nn.Module):
    """One block with the routes that `order` names, relative positions or none, and its own last norm."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_feedforward: int,
        width: int,
        order: Order = "attention first",
        relative: bool = True,
        biases: bool = True,
    ) -> None:
        super().__init__()
        self.order: Order = order
        self.before = FeedForward(d_model, d_feedforward, nn.SiLU)
        self.after = FeedForward(d_model, d_feedforward, nn.SiLU)
        self.norms = nn.ModuleDict({"before": nn.LayerNorm(d_model), "after": nn.LayerNorm(d_model)})
        self.norms.update({route: nn.LayerNorm(d_model) for route in ROUTES[order]})
        self.last = nn.LayerNorm(d_model)
        if "attention" in ROUTES[order]:
            self.attention = (RelativeAttention if relative else PlainAttention)(d_model, n_heads)
        if "convolution" in ROUTES[order]:
            self.convolution = ConvolutionModule(d_model, width, biases)
        if order == "parallel":
            self.merge = nn.Linear(2 * d_model, d_model)

    def forward(self, x: Tensor, visible: Tensor) -> tuple[Tensor, ConformerTrace]:
        """x (B, T, d_model) under visible (B, 1, T or 1, T). Padding is kept from keys only: the filter reads it."""
        x = x + self.before(self.norms["before"](x)) / 2
        x, trace = self._routes(x, visible)
        x = x + self.after(self.norms["after"](x)) / 2
        return self.last(x), trace

    def _routes(self, x: Tensor, visible: Tensor) -> tuple[Tensor, ConformerTrace]:
        """Every route of the block, one after the other or all on the same rows."""
        found: dict[str, Tensor] = {}
        read, start = None, x
        for route in ROUTES[self.order]:
            rows = self.norms[route](start if self.order == "parallel" else x)
            if route == "attention":
                found[route], read = self.attention.read(rows, visible)
            else:
                found[route] = self.convolution(rows)
            x = x + found[route] if self.order != "parallel" else x
        if self.order == "parallel":
            x = start + self.merge(torch.cat([found["attention"], found["convolution"]], dim=-1))
        return x, ConformerTrace(read, found.get("attention"), found.get("convolution"))
