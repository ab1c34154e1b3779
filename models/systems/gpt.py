"""Decoder-only Transformer (Radford et al. 2018, 2019): one causal stream `source EOS BOS target` (0x09D).

    x_n = E token_n + P n              learned absolute positions, one table over the whole stream
    x   = x + SelfRead(LN(x)),  x = x + FFN(LN(x))       pre-norm, GELU
    p   = softmax(E LN(x))             E shared with the input

There is one stack and one relation, "stream": row n reads rows 0..n, whichever side they came from. Loss rows are the
target's (models/training/objectives.py). An empty source makes it a language model of English.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.interface import Masked, Read, Rows, State, Stepped, symbol
from models.layers.attention import AttentionTrace
from models.layers.blocks import SelfLayer, Style
from models.layers.exporting import exporting
from models.layers.readout import TiedOutput, embedding
from models.layers.visibility import Empty, by_layer, causal, compose, keys, known_names
from models.systems.single_stream import SingleStream, Stream


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    n_heads: int = 8
    d_feedforward: int = 768
    n_layers: int = 6
    positions: int = 256  # rows of source and target together; the table has no row beyond
    dropout: float = 0.1


@dataclass(frozen=True)
class CacheState(State):
    """Per layer the key and value heads of every stream row so far, (B, h, n, k); valid (B, n) marks the real ones.

    A request shorter than the longest source leaves a gap of invalid rows; a row's position counts the valid ones.
    """

    valid: Tensor = symbol("mask")
    keys: tuple[Tensor, ...] = symbol("K")
    values: tuple[Tensor, ...] = symbol("V")


@dataclass(frozen=True)
class Trace:
    """One AttentionTrace a layer over the packed stream, weights (B, h, N, N); in a step (B, h, 1, n)."""

    stream: tuple[AttentionTrace, ...]


class GPT(SingleStream, Masked):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.positions, config.d_model)
        sizes = (config.d_model, config.n_heads, config.d_feedforward, config.dropout)
        style = Style(*sizes, order="pre", activation=nn.GELU)
        self.layers = nn.ModuleList([SelfLayer(style) for _ in range(config.n_layers)])
        self.norm = nn.LayerNorm(config.d_model)
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)
        self._start()

    def _start(self) -> None:
        """Each sublayer's last product is scaled by 1/sqrt(2 L), so the residual sum keeps its size (2019, 2.3)."""
        nn.init.normal_(self.positions.weight, std=0.02)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        with torch.no_grad():
            for layer in self.layers:
                for last in (layer.attention.output, layer.feedforward[2]):  # type: ignore[union-attr, index]
                    last.weight.mul_((2 * self.config.n_layers) ** -0.5)  # type: ignore[union-attr]

    def place(self, vectors: Tensor, places: Tensor) -> Tensor:
        """Embeddings (B, N, d) plus the rows of the position table at places (B or 1, N)."""
        if not exporting() and int(places.max()) >= self.config.positions:
            raise ValueError(
                f"Source and target together have more than {self.config.positions} rows, and this system has learned "
                "no position beyond. Shorten the sentence."
            )
        return self.dropout(vectors + self.positions(places))

    def relation(self, length: int, prefix: Tensor) -> Tensor:
        """The structural relation of streams whose source has `prefix` (B,) rows: (N, N) or (B, N, N)."""
        return causal(length, prefix.device)

    def embed_target(self, ids: Tensor) -> Tensor:
        return self.embedding(ids)

    def stack(
        self, x: Tensor, visible: tuple[Tensor, ...], empty: Empty = "error"
    ) -> tuple[Tensor, Trace, list[tuple[Tensor, Tensor]]]:
        traces, kept = [], []
        for layer, seen in zip(self.layers, visible, strict=True):
            x, trace, heads = layer(x, seen, empty=empty)
            traces.append(trace)
            kept.append(heads)
        return self.norm(x), Trace(tuple(traces)), kept

    def run(
        self, stream: Stream, masks: Mapping[str, Tensor] | None = None, empty: Empty = "error"
    ) -> tuple[Tensor, Trace]:
        return self.under(self.relation(stream.valid.shape[1], stream.prefix), stream, masks, empty)

    def under(
        self, relation: Tensor, stream: Stream, masks: Mapping[str, Tensor] | None, empty: Empty
    ) -> tuple[Tensor, Trace]:
        """Every row of the stream under this structural relation, or the visitor's."""
        known_names(masks, ("stream",))
        length = stream.valid.shape[1]
        visible = by_layer("stream", relation, stream.valid, self.config.n_layers, masks)
        places = torch.arange(length, device=stream.valid.device).unsqueeze(0)
        rows, trace, _ = self.stack(self.place(stream.vectors, places), visible, empty)
        return rows, trace

    def features(
        self,
        source: Rows,
        target_in: Tensor | Rows,
        *,
        read: Read | None = None,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, Trace]:
        stream = self.packed(source, target_in)
        rows, trace = self.run(stream, masks, empty)
        return stream.target_rows(rows), trace

    def visibility(self, source: Rows, target_in: Tensor | Rows) -> dict[str, Tensor]:
        stream = self.packed(source, target_in)
        relation = self.relation(stream.valid.shape[1], stream.prefix)
        return {"stream": compose(relation, stream.valid)}

    def source_visible(self, source: Rows, trace: Trace) -> Tensor:
        rows = trace.stream[0].weights.shape[-1] - source.valid.shape[1]
        return source.valid.unsqueeze(1).expand(-1, rows, -1)

    def reads(self, trace: Trace) -> dict[str, tuple[AttentionTrace, ...]]:
        return {"stream": trace.stream}

    def read(self, source: Rows) -> CacheState:
        """The source's rows at once: the cache that the first target row reads."""
        vectors = self.packed(source, source.ids[:, :0]).vectors
        relation = self.relation(vectors.shape[1], source.lengths)
        visible = by_layer("stream", relation, source.valid, self.config.n_layers)
        places = torch.arange(vectors.shape[1], device=vectors.device).unsqueeze(0)
        _, _, kept = self.stack(self.place(vectors, places), visible)
        return CacheState(source.valid, tuple(k for k, _ in kept), tuple(v for _, v in kept))

    def step(self, state: CacheState, token: Tensor, *, read: Read | None = None) -> Stepped:
        places = state.valid.sum(dim=1, keepdim=True)
        valid = torch.cat([state.valid, torch.ones_like(state.valid[:, :1])], dim=1)
        x, traces, kept = self.place(self.embed_target(token).unsqueeze(1), places), [], []
        for layer, past in zip(self.layers, zip(state.keys, state.values, strict=True), strict=True):
            x, trace, heads = layer(x, keys(valid), past)
            traces.append(trace)
            kept.append(heads)
        after = CacheState(valid, tuple(k for k, _ in kept), tuple(v for _, v in kept))
        return Stepped(self.project(self.norm(x)[:, 0]), after, Trace(tuple(traces)))

    def sequential_steps(self, length: int) -> int:
        return self.config.n_layers  # every row of a layer at once
