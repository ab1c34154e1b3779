"""RNN Encoder-Decoder (Cho et al., EMNLP 2014): one summary reaches every decoder step (0x01D, 0x02).

    h_i  = GRU(h_(i-1), E x_i)                      encoder, Eq. 1
    c    = tanh(V h_T)                              the summary, Eq. 3 and appendix
    s_0  = tanh(V' c)
    s_t  = GRU(s_(t-1), [E y_(t-1) ; c])            decoder, Eq. 2
    p(y_t | y_<t, c) = softmax(E maxout(L [s_t ; c ; E y_(t-1)]))

The decoder's signature is the claim: `summary` is the only source object it receives. Widening c adds
channels, never rows (0x02C). Here E is one table for both languages and the output, tied.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, symbol
from models.layers.readout import DeepOutput, TiedOutput, embedding
from models.layers.recurrence import GRUCell, run_gru
from models.systems.tied import TiedSystem


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_embedding: int = 192
    d_hidden: int = 384
    dropout: float = 0.1


@dataclass(frozen=True)
class SummaryState(State):
    """summary (B, d) never changes; hidden (B, d) is the decoder's s_t."""

    summary: Tensor = symbol("c")
    hidden: Tensor = symbol("s_t")


@dataclass(frozen=True)
class Trace:
    """encoder_states h_1..h_T (B, S, d), summary c (B, d), hidden s_t (B, T, d)."""

    encoder_states: Tensor
    summary: Tensor
    hidden: Tensor


@dataclass(frozen=True)
class StepTrace:
    hidden: Tensor


class Decoder(nn.Module):
    """The decoder: `embedded`, `hidden` and `summary` are all that it can see."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        d = config.d_hidden
        self.initial = nn.Linear(d, d)
        self.cell = GRUCell(config.d_embedding + d, d)
        self.output = DeepOutput(2 * d + config.d_embedding, config.d_embedding)

    def start(self, summary: Tensor) -> Tensor:
        return torch.tanh(self.initial(summary))

    def step(self, embedded: Tensor, hidden: Tensor, summary: Tensor) -> Tensor:
        return self.cell(self.cell.project(torch.cat([embedded, summary], dim=-1)), hidden)

    def readout(self, embedded: Tensor, hidden: Tensor, summary: Tensor) -> Tensor:
        return self.output(hidden, summary, embedded)


class RNNEncoderDecoder(TiedSystem):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_embedding)
        self.encoder = GRUCell(config.d_embedding, config.d_hidden)
        self.summarise = nn.Linear(config.d_hidden, config.d_hidden)
        self.decoder = Decoder(config)
        self.output = TiedOutput(self.embedding)
        self.dropout = nn.Dropout(config.dropout)

    def encode(self, source: Rows) -> tuple[Tensor, Tensor]:
        """Every encoder state (B, S, d) and the summary (B, d); only the summary leaves the encoder."""
        states, last = run_gru(self.encoder, self.dropout(source.embed(self.embedding)), source.valid)
        return states, torch.tanh(self.summarise(last))

    def read(self, source: Rows) -> SummaryState:
        _, summary = self.encode(source)
        return SummaryState(summary, self.decoder.start(summary))

    def step(self, state: SummaryState, token: Tensor, *, read: Read | None = None) -> Stepped:
        embedded = self.embedding(token)
        hidden = self.decoder.step(embedded, state.hidden, state.summary)
        logits = self.project(self.decoder.readout(embedded, hidden, state.summary))
        return Stepped(logits, SummaryState(state.summary, hidden), StepTrace(hidden))

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Trace]:
        states, summary = self.encode(source)
        embedded = self.dropout(Rows.of(target_in).embed(self.embedding))
        every = summary.unsqueeze(1).expand(-1, embedded.shape[1], -1)
        x = self.decoder.cell.project(torch.cat([embedded, every], dim=-1)).unbind(1)
        hidden, rows = self.decoder.start(summary), []
        for x_t in x:
            hidden = self.decoder.cell(x_t, hidden)
            rows.append(hidden)
        stacked = torch.stack(rows, dim=1)
        return self.dropout(self.decoder.readout(embedded, self.dropout(stacked), every)), Trace(
            states, summary, stacked
        )

    def sequential_steps(self, length: int) -> int:
        return length
