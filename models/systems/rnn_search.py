"""RNNsearch (Bahdanau, Cho and Bengio, ICLR 2015): the context is read before the new state exists (0x04E).

    h_j    = [forward h_j ; backward h_j]                       annotations, Eq. 7
    s_0    = tanh(W_s backward h_1)                             A.2.2
    e_tj   = v_a . tanh(W_a s_(t-1) + U_a h_j)                  A.1.2
    alpha  = softmax_j(e_tj),  c_t = sum_j alpha_tj h_j         Eq. 5, 6
    s_t    = GRU(s_(t-1), W E y_(t-1) + C c_t)                  Eq. 4, A.2.2
    p(y_t) = softmax(E maxout(L [s_t ; c_t ; E y_(t-1)]))       Eq. 4; the released code reads s_(t-1) there

The order is s_(t-1) -> alpha_t -> c_t -> s_t -> y_t. U_a h_j is projected once a sentence and kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, stack_traces, symbol
from models.layers.attention import AttentionTrace, additive_score, mix, normalise
from models.layers.readout import DeepOutput, TiedOutput, embedding
from models.layers.recurrence import GRUCell, run_gru
from models.systems.tied import TiedSystem


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_embedding: int = 192
    d_annotation: int = 256  # each direction
    d_hidden: int = 384
    d_alignment: int = 256
    cell: Literal["cho", "reset_after"] = "cho"
    dropout: float = 0.1


@dataclass(frozen=True)
class SearchState(State):
    """annotations (B, S, 2d) and their projection keys (B, S, a) never change; hidden (B, d) is s_t."""

    annotations: Tensor = symbol("h_j")
    keys: Tensor = symbol("U_a h_j")
    valid: Tensor = symbol("mask")
    hidden: Tensor = symbol("s_t")


@dataclass(frozen=True)
class StepTrace:
    """previous s_(t-1), the read, and s_t: (B, d) each, in the order in which they come to exist."""

    previous: Tensor
    attention: AttentionTrace
    hidden: Tensor


@dataclass(frozen=True)
class Trace:
    """annotations (B, S, 2d); decoder: StepTrace with a target axis, (B, T, ...)."""

    annotations: Tensor
    decoder: StepTrace


class AdditiveAttention(nn.Module):
    """Owns W_a, U_a, v_a of the alignment model."""

    def __init__(self, d_query: int, d_key: int, d_alignment: int) -> None:
        super().__init__()
        self.W = nn.Linear(d_query, d_alignment)
        self.U = nn.Linear(d_key, d_alignment, bias=False)
        self.v = nn.Parameter(torch.empty(d_alignment).uniform_(-1, 1) * (3 / d_alignment) ** 0.5)

    def forward(
        self, query: Tensor, keys: Tensor, annotations: Tensor, visible: Tensor, read: Read | None = None
    ) -> AttentionTrace:
        """query (B, d), keys (B, S, a), annotations (B, S, 2d) -> scores, weights (B, S), context (B, 2d)."""
        scores = additive_score(self.W(query), keys, self.v)
        return attend(scores, annotations, visible, read)


def attend(scores: Tensor, value: Tensor, visible: Tensor, read: Read | None) -> AttentionTrace:
    """Weights and context from scores, with a visitor's intervention at the point where it is defined."""
    if read is not None and read.bias is not None:
        scores = scores + read.bias
    weights = normalise(scores, visible)
    if read is not None and read.weights is not None:
        weights = read.weights
    return AttentionTrace(scores, weights, mix(weights, value))


class RNNSearch(TiedSystem):
    has_alignment = True

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        d, emb = config.d_hidden, config.d_embedding
        self.embedding = embedding(config.vocab_size, emb)
        self.forwards = GRUCell(emb, config.d_annotation, config.cell)
        self.backwards = GRUCell(emb, config.d_annotation, config.cell)
        self.initial = nn.Linear(config.d_annotation, d)
        self.attention = AdditiveAttention(d, 2 * config.d_annotation, config.d_alignment)
        self.cell = GRUCell(emb, d, config.cell)
        self.C = nn.Linear(2 * config.d_annotation, 3 * d, bias=False)
        self.deep_output = DeepOutput(d + 2 * config.d_annotation + emb, emb)
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def annotate(self, source: Rows) -> Tensor:
        """One row a source token, [forward ; backward], (B, S, 2d)."""
        rows = self.dropout(source.embed(self.embedding))
        forwards, _ = run_gru(self.forwards, rows, source.valid)
        backwards, _ = run_gru(self.backwards, rows, source.valid, backwards=True)
        return torch.cat([forwards, backwards], dim=-1)

    def read(self, source: Rows) -> SearchState:
        annotations = self.dropout(self.annotate(source))
        first = torch.tanh(self.initial(annotations[:, 0, self.config.d_annotation :]))
        return SearchState(annotations, self.attention.U(annotations), source.valid, first)

    def transition(self, state: SearchState, x: Tensor, read: Read | None) -> tuple[SearchState, StepTrace]:
        """s_(t-1) -> alpha_t -> c_t -> s_t. x (B, 3d) is W E y_(t-1) with the bias, order r, z, candidate."""
        attention = self.attention(state.hidden, state.keys, state.annotations, state.valid, read)
        hidden = self.cell(x + self.C(attention.context), state.hidden)
        after = SearchState(state.annotations, state.keys, state.valid, hidden)
        return after, StepTrace(state.hidden, attention, hidden)

    def step(self, state: SearchState, token: Tensor, *, read: Read | None = None) -> Stepped:
        embedded = self.embedding(token)
        after, trace = self.transition(state, self.cell.project(embedded), read)
        rows = self.deep_output(trace.hidden, trace.attention.context, embedded)
        return Stepped(self.project(rows), after, trace)

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Trace]:
        state = self.read(source)
        embedded = self.dropout(Rows.of(target_in).embed(self.embedding))
        traces: list[StepTrace] = []
        for t, x in enumerate(self.cell.project(embedded).unbind(1)):
            state, trace = self.transition(state, x, read.at(t) if read else None)
            traces.append(trace)
        decoder: StepTrace = stack_traces(traces)
        rows = self.deep_output(
            self.dropout(decoder.hidden), self.dropout(decoder.attention.context), embedded
        )
        return self.dropout(rows), Trace(state.annotations, decoder)

    def alignment(self, trace: Trace | StepTrace) -> Tensor:
        return (trace.decoder if isinstance(trace, Trace) else trace).attention.weights

    def source_visible(self, source: Rows, trace: Trace) -> Tensor:
        return source.valid.unsqueeze(1).expand_as(trace.decoder.attention.weights)

    def sequential_steps(self, length: int) -> int:
        return length  # the two directions run beside each other
