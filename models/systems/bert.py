"""BERT (Devlin et al. 2019): an encoder alone, full visibility, masked tokens (0x09E, 0x09F).

    x_n = LN(E token_n + P n)                        learned absolute positions
    x   = LN(x + SelfRead(x)),  x = LN(x + FFN(x))   post-norm, GELU, epsilon 1e-12
    h   = LN(gelu(W x)),  p(token_n) = softmax(E h)  the masked-token head, tied to the embedding

It has no target: `states` are its natural product, `features` are the head's rows for every source row, and a [MASK]ed
row's distribution fills it. There is one relation, "source_self". Sentences stand alone here, so the paper's segment
vectors and next-sentence objective are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.interface import Masked, Read, Rows, Scored
from models.layers.attention import AttentionTrace
from models.layers.blocks import SelfLayer, Style
from models.layers.readout import TiedOutput, embedding
from models.layers.visibility import Empty, by_layer, compose, full, known_names
from models.systems.tied import TiedSystem

NORM = partial(nn.LayerNorm, eps=1e-12)


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    n_heads: int = 6
    d_feedforward: int = 768
    n_layers: int = 3
    positions: int = 128
    dropout: float = 0.1


@dataclass(frozen=True)
class Trace:
    """One AttentionTrace a layer, weights (B, h, S, S); states (B, S, d_model), the last layer's rows."""

    encoder: tuple[AttentionTrace, ...]
    states: Tensor


class BERT(TiedSystem, Masked):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.positions, config.d_model)
        self.first_norm = NORM(config.d_model)
        sizes = (config.d_model, config.n_heads, config.d_feedforward, config.dropout)
        style = Style(*sizes, norm=NORM, activation=nn.GELU)
        self.encoder = nn.ModuleList([SelfLayer(style) for _ in range(config.n_layers)])
        self.head, self.head_norm = nn.Linear(config.d_model, config.d_model), NORM(config.d_model)
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)
        nn.init.normal_(self.positions.weight, std=0.02)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def place(self, vectors: Tensor) -> Tensor:
        if vectors.shape[1] > self.config.positions:
            raise ValueError(
                f"This text has more than {self.config.positions} rows, and this system has learned no position "
                "beyond. Shorten it."
            )
        return self.dropout(self.first_norm(vectors + self.positions.weight[: vectors.shape[1]]))

    def states(
        self, source: Rows, *, masks: Mapping[str, Tensor] | None = None, empty: Empty = "error"
    ) -> Trace:
        """Contextual states: every row after it has read all valid rows on both sides."""
        known_names(masks, ("source_self",))
        x, traces = self.place(source.embed(self.embedding)), []
        relation = full(x.shape[1], x.device)
        visible = by_layer("source_self", relation, source.valid, self.config.n_layers, masks)
        for layer, seen in zip(self.encoder, visible, strict=True):
            x, trace, _ = layer(x, seen, empty=empty)
            traces.append(trace)
        return Trace(tuple(traces), x)

    def features(
        self,
        source: Rows,
        target_in: Tensor | Rows | None = None,
        *,
        read: Read | None = None,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, Trace]:
        """Rows of the masked-token head, one a source row (B, S, d_model), and the trace; no target is taken."""
        if target_in is not None:
            raise ValueError("BERT is an encoder alone: it has no target rows. Give it a text with [MASK]s.")
        trace = self.states(source, masks=masks, empty=empty)
        return self.head_norm(F.gelu(self.head(trace.states))), trace

    def score(
        self,
        source: Rows,
        target_in: Tensor | Rows | None = None,
        *,
        read: Read | None = None,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
    ) -> Scored:
        """Logits (B, S, V) of every source row's own token."""
        rows, trace = self.features(source, target_in, read=read, masks=masks, empty=empty)
        return Scored(self.project(rows), trace)

    @torch.inference_mode()
    def fill(self, source: Rows, masks: Mapping[str, Tensor] | None = None) -> Tensor:
        """Logits (B, S, V) of every source row; those of [MASK] rows say what stood there."""
        return self.score(source, masks=masks).logits

    def visibility(self, source: Rows, target_in: Tensor | Rows | None = None) -> dict[str, Tensor]:
        return {"source_self": compose(full(source.ids.shape[1], source.ids.device), source.valid)}

    def reads(self, trace: Trace) -> dict[str, tuple[AttentionTrace, ...]]:
        return {"source_self": trace.encoder}

    def sequential_steps(self, length: int) -> int:
        return self.config.n_layers  # every row of a layer at once
