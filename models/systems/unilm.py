"""UniLM (Dong et al. 2019): one set of weights under several visibility relations, chosen at run time (0x09D).

    bidirectional   every row reads every row         a [MASK]ed row predicts its own token
    left_to_right   row n reads rows 0..n             every row predicts the next token of the stream
    right_to_left   row n reads rows n..              only its relation; these weights were not trained under it
    seq2seq         the block relation of a prefix    a target row predicts the next target token

Each row also gets a segment vector that tells the mode and the side (2.1), since the same row is asked for other
things under other relations. In the paper every mode hides tokens and predicts them in place; here the two causal
modes predict the next token, so that `score`, `read` and `step` are those of every other system.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from models.interface import Read, Rows, Scored
from models.layers.visibility import Empty, causal, compose, full
from models.layers.visibility import prefix as prefix_relation
from models.systems.gpt import GPT, Config, Trace
from models.systems.single_stream import Stream, pack

__all__ = ["MODES", "Config", "Mode", "UniLM"]

Mode = Literal["bidirectional", "left_to_right", "right_to_left", "seq2seq"]
MODES: tuple[Mode, ...] = ("bidirectional", "left_to_right", "right_to_left", "seq2seq")
SEGMENTS: dict[Mode, tuple[int, int]] = {  # of source rows and of target rows
    "bidirectional": (0, 1),
    "left_to_right": (2, 2),
    "right_to_left": (2, 2),
    "seq2seq": (3, 4),
}


def relation_of(mode: Mode, length: int, prefix: Tensor) -> Tensor:
    """The structural relation of a mode: (N, N), or (B, N, N) where it depends on the prefix (B,)."""
    if mode == "seq2seq":
        return prefix_relation(length, prefix)
    if mode == "bidirectional":
        return full(length, prefix.device)
    past = causal(length, prefix.device)
    return past if mode == "left_to_right" else past.T


class UniLM(GPT):
    """A GPT stack with segment vectors. `score`, `read` and `step` are those of seq2seq unless a mode is given."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.segments = nn.Embedding(5, config.d_model)
        nn.init.normal_(self.segments.weight, std=0.02)

    def relation(self, length: int, prefix: Tensor) -> Tensor:
        return relation_of("seq2seq", length, prefix)

    def embed_target(self, ids: Tensor) -> Tensor:
        return self.embedding(ids) + self.segments.weight[SEGMENTS["seq2seq"][1]]

    def packed(self, source: Rows, target_in: Tensor | Rows, mode: Mode = "seq2seq") -> Stream:
        target, (first, second) = Rows.of(target_in), SEGMENTS[mode]
        return pack(
            source.embed(self.embedding) + self.segments.weight[first],
            source.valid,
            target.embed(self.embedding) + self.segments.weight[second],
            target.valid,
        )

    def stream_rows(
        self,
        source: Rows,
        target_in: Tensor | Rows,
        mode: Mode,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, Stream, Trace]:
        """Every row of the stream in one mode, (B, N, d_model): what fills a [MASK], or continues a source row."""
        stream = self.packed(source, target_in, mode)
        relation = relation_of(mode, stream.valid.shape[1], stream.prefix)
        rows, trace = self.under(relation, stream, masks, empty)
        return rows, stream, trace

    def features(
        self,
        source: Rows,
        target_in: Tensor | Rows,
        *,
        read: Read | None = None,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
        mode: Mode = "seq2seq",
    ) -> tuple[Tensor, Trace]:
        rows, stream, trace = self.stream_rows(source, target_in, mode, masks, empty)
        return stream.target_rows(rows), trace

    def score(
        self,
        source: Rows,
        target_in: Tensor | Rows,
        *,
        read: Read | None = None,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
        mode: Mode = "seq2seq",
    ) -> Scored:
        rows, trace = self.features(source, target_in, read=read, masks=masks, empty=empty, mode=mode)
        return Scored(self.project(rows), trace)

    def visibility(self, source: Rows, target_in: Tensor | Rows, mode: Mode = "seq2seq") -> dict[str, Tensor]:
        stream = self.packed(source, target_in, mode)
        relation = relation_of(mode, stream.valid.shape[1], stream.prefix)
        return {"stream": compose(relation, stream.valid)}

    @torch.inference_mode()
    def fill(self, source: Rows, masks: Mapping[str, Tensor] | None = None) -> Tensor:
        """Logits (B, S, V) of every source row read in both directions; those of [MASK] rows say what stood there."""
        rows, _, _ = self.stream_rows(source, source.ids[:, :0], "bidirectional", masks)
        return self.project(rows)
