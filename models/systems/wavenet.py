"""WaveNet (van den Oord et al. 2016): a causal dilated stack with gates, residual and skip paths, over bytes (0x05B).

    z_l     = tanh(W_f * x_(l-1)) sigmoid(W_g * x_(l-1))      causal convolutions of width k, dilation d_l (Eq. 2)
    x_l     = x_(l-1) + W_r z_l                               the residual path
    logits  = W_2 relu(W_1 relu(sum_l W_s z_l) + b_1) + b_2   every layer also skips to the output (2.4)

d_l runs 1, 2, 4, .. and starts again (2.1): a row reads R = 1 + (k-1) sum d_l rows, itself included. The paper's rows
are audio samples; here they are the bytes of an English text, so the stack is a language model, character by character.
It has no source: p(y) alone. Row t holds y_(t-1) and decides y_t.

Glossary: rows are x (d_model channels), gated is z (d_gate), skip is sum W_s z (d_skip).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.interface import Read, Rows, State, Stepped, System, symbol
from models.layers.convolution import RowConvolution
from models.layers.readout import embedding


@dataclass(frozen=True)
class Config:
    vocab_size: int = 288  # 256 bytes and the control tokens
    d_model: int = 96
    d_gate: int = 96
    d_skip: int = 192
    width: int = 2
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16, 32) * 2  # R = 127 bytes: longer than nearly every sentence
    dropout: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "dilations", tuple(self.dilations))  # config.json has a list


@dataclass(frozen=True)
class RingState(State):
    """Per layer the last (k - 1) d_l inputs, (B, (k - 1) d_l, d_model): all that the past is kept in."""

    buffers: tuple[Tensor, ...] = symbol("last (k - 1) d rows")


@dataclass(frozen=True)
class StepTrace:
    """gated: what each layer lets pass at this row, (B, d_gate)."""

    gated: tuple[Tensor, ...]


@dataclass(frozen=True)
class Trace:
    """gated: what each layer lets pass, (B, T, d_gate); skip: their sum on the way to the output, (B, T, d_skip)."""

    gated: tuple[Tensor, ...]
    skip: Tensor


def gated_activation(rows: Tensor) -> Tensor:
    """tanh of the first half of the channels, gated by the sigmoid of the second: (..., 2c) -> (..., c)."""
    value, gate = rows.chunk(2, dim=-1)
    return torch.tanh(value) * torch.sigmoid(gate)


class Layer(nn.Module):
    """One dilated layer: its own gate, and its two ways out."""

    def __init__(self, config: Config, dilation: int) -> None:
        super().__init__()
        self.convolution = RowConvolution(
            config.d_model, 2 * config.d_gate, config.width, dilation, bias=False
        )
        self.residual = nn.Linear(config.d_gate, config.d_model, bias=False)
        self.skip = nn.Linear(config.d_gate, config.d_skip, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        nn.init.xavier_uniform_(self.convolution.weight)

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Every row at once: the rows (B, T, d_model) of the next layer, the skip (B, T, d_skip), and the gated."""
        return self._leave(rows, self.convolution(rows))

    def step(self, row: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """One row (B, d_model) from the layer's last inputs; the same three, and the buffer for the next row."""
        raw, after = self.convolution.step(row, buffer)
        return *self._leave(row, raw), after

    def _leave(self, rows: Tensor, raw: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        gated = self.dropout(gated_activation(raw))
        return rows + self.residual(gated), self.skip(gated), gated


class WaveNet(System):
    """A language model over bytes as a system without a source: `source` has no row beside its end."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList([Layer(config, dilation) for dilation in config.dilations])
        self.mixed = nn.Linear(config.d_skip, config.d_skip)
        self.output = nn.Linear(config.d_skip, config.vocab_size)

    @property
    def field(self) -> int:
        """R: rows that one row reads, itself the newest."""
        return 1 + sum(layer.convolution.reach for layer in self.layers)  # type: ignore[union-attr, operator]

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Trace]:
        """Rows (B, T, d_skip) that decide each byte. Raises ValueError for a source: there is none here."""
        _no_source(source, read)
        rows, gated = Rows.of(target_in).embed(self.embedding), []
        skip = rows.new_zeros(())
        for layer in self.layers:
            rows, aside, passed = layer(rows)
            skip = skip + aside
            gated.append(passed)
        return self._decide(skip), Trace(tuple(gated), skip)

    def _decide(self, skip: Tensor) -> Tensor:
        return F.relu(self.mixed(F.relu(skip)))

    def project(self, features: Tensor) -> Tensor:
        return self.output(features)

    def output_table(self) -> tuple[Tensor, Tensor]:
        return self.output.weight, self.output.bias

    def source_table(self) -> nn.Embedding:
        return self.embedding

    def read(self, source: Rows) -> RingState:
        """Before the first byte: zeros where the past would stand."""
        _no_source(source, None)
        like = self.embedding.weight.new_zeros(source.ids.shape[0], 1)
        return RingState(tuple(layer.convolution.buffer(like) for layer in self.layers))  # type: ignore[union-attr, operator]

    def step(self, state: RingState, token: Tensor, *, read: Read | None = None) -> Stepped:
        """One decision after `token` (B,) from the layers' buffers alone."""
        row, buffers, gated = self.embedding(token), [], []
        skip = row.new_zeros(())
        for layer, buffer in zip(self.layers, state.buffers, strict=True):
            row, aside, passed, after = layer.step(row, buffer)  # type: ignore[operator]
            skip = skip + aside
            gated.append(passed)
            buffers.append(after)
        return Stepped(self.project(self._decide(skip)), RingState(tuple(buffers)), StepTrace(tuple(gated)))

    def sequential_steps(self, length: int) -> int:
        return len(self.layers)  # every row of a layer at once


def _no_source(source: Rows, read: Read | None) -> None:
    if source.ids.shape[1] > 1:
        raise ValueError("WaveNet continues a text: it has no source rows. Give an empty source.")
    if read is not None:
        raise ValueError("WaveNet reads no source, so there is no read to change.")
