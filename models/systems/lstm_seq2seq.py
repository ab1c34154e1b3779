"""Sequence to sequence with a deep LSTM (Sutskever, Vinyals and Le, NIPS 2014; 0x01E).

The source is read by a stack of LSTM layers, in reverse order when `reverse_source` is set: that is a choice
about the data, recorded in the checkpoint's config, not about the network. The (h, c) of every layer after
the last source row initialises the decoder's layer of the same depth; nothing else crosses. End of sentence
stays last in either order.

    (h, c)_l,0 of the decoder = (h, c)_l,T of the encoder
    p(y_t | y_<t, x) = softmax(E P h_L,t)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, symbol
from models.layers.readout import TiedOutput, embedding
from models.layers.recurrence import LSTMCell, LSTMStep, run_lstm
from models.systems.tied import TiedSystem


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_embedding: int = 192
    d_hidden: int = 288
    n_layers: int = 2
    reverse_source: bool = True
    dropout: float = 0.1


@dataclass(frozen=True)
class StackState(State):
    """One (B, d) hidden and one (B, d) cell for every layer."""

    hidden: tuple[Tensor, ...] = symbol("h_t")
    cell: tuple[Tensor, ...] = symbol("c_t")

    def layers(self) -> list[LSTMStep]:
        return [LSTMStep(h, c) for h, c in zip(self.hidden, self.cell, strict=True)]

    @staticmethod
    def of(layers: list[LSTMStep]) -> StackState:
        return StackState(tuple(s.hidden for s in layers), tuple(s.cell for s in layers))


@dataclass(frozen=True)
class Trace:
    """encoder_states (B, S, d) of the top layer in the order read; order (B, S) source rows in that order;
    hidden (B, T, d) of the decoder's top layer."""

    encoder_states: Tensor
    order: Tensor
    hidden: Tensor


@dataclass(frozen=True)
class StepTrace:
    hidden: Tensor


def reading_order(valid: Tensor, reverse: bool) -> Tensor:
    """Index of the source row read at each step, (B, S): reversed before the end of sentence, which stays last."""
    rows = torch.arange(valid.shape[1], device=valid.device).expand_as(valid)
    before_end = valid.sum(dim=1, keepdim=True) - 1
    return torch.where(rows < before_end, before_end - 1 - rows, rows) if reverse else rows


class Stack(nn.Module):
    """n_layers LSTM cells, each reading the rows of the one below."""

    def __init__(self, d_in: int, d_hidden: int, n_layers: int, dropout: float) -> None:
        super().__init__()
        self.cells = nn.ModuleList([LSTMCell(d_hidden if i else d_in, d_hidden) for i in range(n_layers)])
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, rows: Tensor, valid: Tensor, start: list[LSTMStep] | None = None
    ) -> tuple[Tensor, list[LSTMStep]]:
        """rows (B, T, d_in) -> rows (B, T, d) of the top layer, and the final state of every layer."""
        ends: list[LSTMStep] = []
        for i, cell in enumerate(self.cells):
            rows, end = run_lstm(cell, self.dropout(rows), valid, start[i] if start else None)  # type: ignore[arg-type]
            ends.append(end)
        return rows, ends

    def step(self, row: Tensor, state: list[LSTMStep]) -> tuple[Tensor, list[LSTMStep]]:
        """One row (B, d_in) through every layer."""
        after: list[LSTMStep] = []
        for cell, before in zip(self.cells, state, strict=True):
            after.append(cell(cell.project(self.dropout(row)), before))  # type: ignore[operator]
            row = after[-1].hidden
        return row, after


class LSTMSeq2Seq(TiedSystem):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_embedding)
        size = (config.d_embedding, config.d_hidden, config.n_layers, config.dropout)
        self.encoder = Stack(*size)
        self.decoder = Stack(*size)
        self.bottleneck = nn.Linear(config.d_hidden, config.d_embedding, bias=False)
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def encode(self, source: Rows) -> tuple[Tensor, Tensor, StackState]:
        """Top-layer states in reading order (B, S, d), that order (B, S), and the state that crosses."""
        order = reading_order(source.valid, self.config.reverse_source)
        rows = source.embed(self.embedding)
        rows = rows.gather(1, order.unsqueeze(-1).expand_as(rows))
        states, ends = self.encoder(rows, source.valid)
        return states, order, StackState.of(ends)

    def read(self, source: Rows) -> StackState:
        return self.encode(source)[2]

    def step(self, state: StackState, token: Tensor, *, read: Read | None = None) -> Stepped:
        hidden, after = self.decoder.step(self.embedding(token), state.layers())
        return Stepped(self.project(self.bottleneck(hidden)), StackState.of(after), StepTrace(hidden))

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Trace]:
        states, order, crossing = self.encode(source)
        target = Rows.of(target_in)
        hidden, _ = self.decoder(
            target.embed(self.embedding), torch.ones_like(target.valid), crossing.layers()
        )
        return self.bottleneck(self.dropout(hidden)), Trace(states, order, hidden)

    def sequential_steps(self, length: int) -> int:
        return length + self.config.n_layers - 1  # a layer starts one row after the layer below
