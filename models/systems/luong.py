"""Luong, Pham and Manning (EMNLP 2015): the new state comes first, then the read (0x04F to 0x04H).

    h_t     = top of LSTM stack([E y_(t-1) ; h~_(t-1)])     input feeding, 3.3; without it [E y_(t-1)]
    a_t(s)  = softmax_s(score(h_t, h_s))                    Eq. 7; score: dot, general, concat (Eq. 8), location (Eq. 9)
    local   : only rows within D of p_t; local-m p_t = t, local-p p_t = S sigmoid(v_p . tanh(W_p h_t)) and
              a_t(s) = softmax * exp(-(s - p_t)^2 / (2 sigma^2)), sigma = D / 2, not normalised again (Eq. 10)
    c_t     = sum_s a_t(s) h_s
    h~_t    = tanh(W_c [c_t ; h_t])                         Eq. 5
    p(y_t)  = softmax(E P h~_t)                             Eq. 6, W_s factored through the tied table

Score, window and feeding are independent choices (0x04G). Eq. 8's concat is linear as printed: its weights do
not depend on h_t.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, stack_traces, symbol
from models.layers import attention as equations
from models.layers.attention import AttentionTrace
from models.layers.readout import TiedOutput, embedding
from models.layers.recurrence import LSTMStep
from models.systems.lstm_seq2seq import Stack
from models.systems.tied import TiedSystem

Score = Literal["dot", "general", "concat", "location"]
Window = Literal["global", "local_m", "local_p"]


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_embedding: int = 192
    d_hidden: int = 288
    n_layers: int = 2
    score: Score = "general"
    window: Window = "global"
    half_width: int = 4  # D, in source pieces
    centre_shift: int = 0  # rows added to the centre of a local window; 0 in the paper and in training
    input_feeding: bool = True
    max_source: int = 128  # rows for which location attention has a score
    dropout: float = 0.1


@dataclass(frozen=True)
class LuongState(State):
    """memory (B, S, d) never changes; hidden and cell of every layer; attentional h~ (B, d); position t (B,)."""

    memory: Tensor = symbol("h_s")
    valid: Tensor = symbol("mask")
    hidden: tuple[Tensor, ...] = symbol("h_t")
    cell: tuple[Tensor, ...] = symbol("c_t")
    attentional: Tensor = symbol("h~_t")
    position: Tensor = symbol("t")

    def layers(self) -> list[LSTMStep]:
        return [LSTMStep(h, c) for h, c in zip(self.hidden, self.cell, strict=True)]


@dataclass(frozen=True)
class StepTrace:
    """hidden h_t, the read, attentional h~_t, in the order in which they come to exist.

    centre p_t (B,) is real-valued and -1 for a global read; content (B, S) is the softmax inside the window
    before the Gaussian, equal to the weights unless the window is local-p; visible (B, S) the rows scored.
    """

    hidden: Tensor
    attention: AttentionTrace
    content: Tensor
    centre: Tensor
    visible: Tensor
    attentional: Tensor


@dataclass(frozen=True)
class Trace:
    """memory (B, S, d); decoder: StepTrace with a target axis, (B, T, ...)."""

    memory: Tensor
    decoder: StepTrace


class LuongAttention(nn.Module):
    """Owns the parameters of one score function and, for local-p, of the centre."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        d = config.d_hidden
        shape = {"general": (d, d), "concat": (2 * d,), "location": (config.max_source, d)}.get(config.score)
        if shape is not None:
            self.W = nn.Parameter(torch.randn(shape) * d**-0.5)
        if config.window == "local_p":
            self.W_centre = nn.Parameter(torch.randn(d, d) * d**-0.5)
            self.v_centre = nn.Parameter(torch.zeros(d))

    def scores(self, query: Tensor, memory: Tensor, score: Score) -> Tensor:
        if score == "dot":
            return equations.dot_score(query, memory)
        if score == "general":
            return equations.general_score(query, memory, self.W)
        if score == "concat":
            return equations.concat_score(query, memory, self.W)
        return equations.location_score(query, self.W, memory.shape[1])

    def centre(self, query: Tensor, position: Tensor, valid: Tensor, window: Window) -> Tensor:
        """p_t in 0-based source rows, (B,)."""
        if window == "local_m":
            return position.to(query.dtype)
        return equations.predicted_centre(query, self.W_centre, self.v_centre, valid.sum(dim=1))


class Luong(TiedSystem):
    has_alignment = True

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        d, emb = config.d_hidden, config.d_embedding
        self.embedding = embedding(config.vocab_size, emb)
        self.encoder = Stack(emb, d, config.n_layers, config.dropout)
        self.decoder = Stack(emb + (d if config.input_feeding else 0), d, config.n_layers, config.dropout)
        self.attention = LuongAttention(config)
        self.combine = nn.Linear(2 * d, d, bias=False)
        self.bottleneck = nn.Linear(d, emb, bias=False)
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def variant(self, **changes: Any) -> Luong:
        """The same parameters under other choices (window, half_width, centre_shift, score); nothing is copied.

        Raises ValueError when the choice needs parameters that this checkpoint does not have.
        """
        config = replace(self.config, **changes)
        if config.input_feeding != self.config.input_feeding:
            raise ValueError(
                "Input feeding changes the decoder's input width, so it needs its own checkpoint."
            )
        if config.score not in ("dot", self.config.score):
            raise ValueError(f"This checkpoint has no parameters for the {config.score} score.")
        if config.window == "local_p" != self.config.window:
            raise ValueError("This checkpoint has no centre predictor, which local-p needs.")
        other = copy.copy(self)
        other.config = config
        return other

    def read(self, source: Rows) -> LuongState:
        memory, ends = self.encoder(source.embed(self.embedding), source.valid)
        zero = memory.new_zeros(memory.shape[0], self.config.d_hidden)
        position = torch.zeros(memory.shape[0], dtype=torch.long, device=memory.device)
        hidden, cell = tuple(s.hidden for s in ends), tuple(s.cell for s in ends)
        return LuongState(memory, source.valid, hidden, cell, zero, position)

    def attend(
        self, query: Tensor, state: LuongState, read: Read | None
    ) -> tuple[AttentionTrace, Tensor, Tensor, Tensor]:
        """(read, content weights before the Gaussian, centre, visible rows) for h_t = query (B, d)."""
        config, valid = self.config, state.valid
        scores = self.attention.scores(query, state.memory, config.score)
        if read is not None and read.bias is not None:
            scores = scores + read.bias
        visible, centre = valid, torch.full_like(query[:, 0], -1.0)
        if config.window != "global":
            centre = self.attention.centre(query, state.position, valid, config.window) + config.centre_shift
            if read is not None and read.centre is not None:
                centre = read.centre.to(query.dtype)
            visible = equations.window(centre, config.half_width, valid)
        content = weights = equations.normalise(scores, visible)
        if config.window == "local_p":
            weights = content * equations.gaussian(centre, config.half_width, scores.shape[1])
        if read is not None and read.weights is not None:
            weights = read.weights
        return AttentionTrace(scores, weights, equations.mix(weights, state.memory)), content, centre, visible

    def transition(
        self, state: LuongState, embedded: Tensor, read: Read | None
    ) -> tuple[LuongState, StepTrace]:
        """h_t -> a_t -> c_t -> h~_t."""
        row = torch.cat([embedded, state.attentional], dim=-1) if self.config.input_feeding else embedded
        hidden, layers = self.decoder.step(row, state.layers())
        attention, content, centre, visible = self.attend(hidden, state, read)
        attentional = torch.tanh(self.combine(torch.cat([attention.context, hidden], dim=-1)))
        after = LuongState(
            state.memory, state.valid, tuple(s.hidden for s in layers), tuple(s.cell for s in layers),
            attentional, state.position + 1,
        )  # fmt: skip
        return after, StepTrace(hidden, attention, content, centre, visible, attentional)

    def step(self, state: LuongState, token: Tensor, *, read: Read | None = None) -> Stepped:
        after, trace = self.transition(state, self.embedding(token), read)
        return Stepped(self.project(self.bottleneck(trace.attentional)), after, trace)

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Trace]:
        state = self.read(source)
        traces: list[StepTrace] = []
        for t, embedded in enumerate(Rows.of(target_in).embed(self.embedding).unbind(1)):
            state, trace = self.transition(state, embedded, read.at(t) if read else None)
            traces.append(trace)
        decoder: StepTrace = stack_traces(traces)
        return self.bottleneck(self.dropout(decoder.attentional)), Trace(state.memory, decoder)

    def alignment(self, trace: Trace | StepTrace) -> Tensor:
        return (trace.decoder if isinstance(trace, Trace) else trace).attention.weights

    def source_visible(self, source: Rows, trace: Trace) -> Tensor:
        return trace.decoder.visible

    def sequential_steps(self, length: int) -> int:
        return length + self.config.n_layers - 1  # a layer starts one row after the layer below
