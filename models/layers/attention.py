"""The attention read: score the visible source rows, normalise over them, mix them into one context.

Sources: Bahdanau et al. 2015 (0x04E); Luong et al. 2015, Eq. 7-10 (0x04F to 0x04H); Vaswani et al. 2017,
Eq. 1 (0x08). The order is always query -> scores -> weights -> context (0x04B). Visibility is True where a
row may be read.

Glossary: query is s_(t-1) (Bahdanau), h_t (Luong) or Q; key and value are the annotations h_j, or K and V;
scores are e_tj, weights are alpha_tj (Bahdanau) or a_t(s) (Luong), context is c_t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.visibility import Empty, check_rows


@dataclass(frozen=True)
class AttentionTrace:
    """One read. scores before and weights after the softmax, (B, S) a step or (B, [heads,] T, S); context rows."""

    scores: Tensor
    weights: Tensor
    context: Tensor


def additive_score(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """e_tj = v . tanh(W s_(t-1) + U h_j) with both projections done: query (B, a), key (B, S, a), v (a,) -> (B, S)."""
    return torch.tanh(query.unsqueeze(1) + key) @ v


def dot_score(query: Tensor, key: Tensor) -> Tensor:
    """h_t . h_s (Luong, Eq. 8, dot): (B, d), (B, S, d) -> (B, S)."""
    return torch.bmm(key, query.unsqueeze(-1)).squeeze(-1)


def general_score(query: Tensor, key: Tensor, W: Tensor) -> Tensor:
    """h_t W_a h_s (Luong, Eq. 8, general): W (d_query, d_key)."""
    return dot_score(query @ W, key)


def concat_score(query: Tensor, key: Tensor, w: Tensor) -> Tensor:
    """W_a [h_t ; h_s] as Eq. 8 prints it: one linear row, no tanh. w (d_query + d_key,).

    The query's share is the same number for every source row, so the softmax over rows removes it.
    """
    width = query.shape[-1]
    return (query @ w[:width]).unsqueeze(1) + key @ w[width:]


def location_score(query: Tensor, W: Tensor, length: int) -> Tensor:
    """W_a h_t (Luong, Eq. 9): source content is not read. W (positions, d); needs length <= positions."""
    if length > W.shape[0]:
        raise ValueError(
            f"Location attention has scores for {W.shape[0]} source rows; this sentence has {length}."
        )
    return F.linear(query, W[:length])


def normalise(scores: Tensor, visible: Tensor, empty: Empty = "error") -> Tensor:
    """Softmax over the visible rows (last axis); exactly zero elsewhere. visible broadcasts against scores.

    A query row with nothing to read raises EmptyRowError, or with empty="zero" gets no weights: it reads the zero
    vector, and its other paths (the residual) remain.
    """
    if empty == "error":
        check_rows(visible)
        return torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
    some = visible.any(dim=-1, keepdim=True)
    return torch.softmax(scores.masked_fill(~(visible | ~some), -math.inf), dim=-1) * some


def mix(weights: Tensor, value: Tensor) -> Tensor:
    """c_t = sum_j alpha_tj h_j: weights (B, S), value (B, S, d) -> (B, d)."""
    return torch.bmm(weights.unsqueeze(1), value).squeeze(1)


def predicted_centre(query: Tensor, W: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """p_t = S sigmoid(v_p . tanh(W_p h_t)) (Luong, Eq. 9 of local-p), (B,), real-valued and 0-based."""
    return lengths * torch.sigmoid(torch.tanh(F.linear(query, W)) @ v)


def window(centre: Tensor, half_width: int, valid: Tensor) -> Tensor:
    """Rows within half_width of floor(centre) that exist, (B, S).

    A centre outside the sentence (local-m on a target longer than its source) is moved to the nearest
    valid row: the paper does not say, and a row with nothing to read has no weights.
    """
    last = valid.sum(dim=1) - 1
    middle = torch.minimum(centre.floor().clamp(min=0), last)
    rows = torch.arange(valid.shape[1], device=valid.device)
    return ((rows - middle.unsqueeze(1)).abs() <= half_width) & valid


def gaussian(centre: Tensor, half_width: int, length: int) -> Tensor:
    """exp(-(s - p_t)^2 / (2 sigma^2)), sigma = D / 2 (Luong, Eq. 10), (B, S). No second normalisation follows."""
    rows = torch.arange(length, device=centre.device)
    sigma = half_width / 2
    return torch.exp(-((rows - centre.unsqueeze(1)) ** 2) / (2 * sigma**2))


def scaled_dot_scores(query: Tensor, key: Tensor) -> Tensor:
    """Q K^T / sqrt(d_k) (Vaswani, Eq. 1): (B, h, T, k), (B, h, S, k) -> (B, h, T, S)."""
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


class MultiHeadAttention(nn.Module):
    """Vaswani 3.2.2: project to heads, read, concatenate, project back. Without d_head, d_model must be a multiple of
    n_heads. T5 has no biases and does not divide the scores by sqrt(d_k)."""

    def __init__(
        self, d_model: int, n_heads: int, d_head: int | None = None, biases: bool = True, scaled: bool = True
    ) -> None:
        super().__init__()
        if d_head is None and d_model % n_heads:
            raise ValueError(f"d_model {d_model} is not a multiple of n_heads {n_heads}.")
        width = d_model if d_head is None else n_heads * d_head
        self.n_heads, self.scaled = n_heads, scaled
        self.query = nn.Linear(d_model, width, biases)
        self.key = nn.Linear(d_model, width, biases)
        self.value = nn.Linear(d_model, width, biases)
        self.output = nn.Linear(width, d_model, biases)

    def heads(self, rows: Tensor) -> Tensor:
        """(B, T, h k) -> (B, h, T, k)."""
        return rows.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """What a cache keeps of memory rows: key and value heads, (B, h, S, k) each."""
        return self.heads(self.key(memory)), self.heads(self.value(memory))

    def forward(
        self,
        rows: Tensor,
        key: Tensor,
        value: Tensor,
        visible: Tensor,
        bias: Tensor | None = None,
        replaced: Tensor | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, AttentionTrace]:
        """rows (B, T, d_model) read key/value heads under visible (B, 1, T or 1, S).

        bias (B, T, S), or (B, h, T, S) with one a head, is added to the scores; replaced (B, T, S) takes the place of
        every head's weights; empty says what becomes of a row with nothing to read.
        """
        query = self.heads(self.query(rows))
        scores = (
            scaled_dot_scores(query, key) if self.scaled else query @ key.transpose(-2, -1)
        )  # (B, h, T, S)
        if bias is not None:
            scores = scores + (bias if bias.ndim == 4 else bias.unsqueeze(1))
        weights = normalise(scores, visible, empty)
        if replaced is not None:
            weights = replaced.unsqueeze(1).expand_as(weights)
        context = weights @ value  # (B, h, T, k)
        context = context.transpose(1, 2).flatten(-2)  # (B, T, d_model)
        return self.output(context), AttentionTrace(scores, weights, context)
