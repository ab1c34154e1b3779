"""T5 (Raffel et al. 2020, 2.1; 1.1: Shazeer 2020): an encoder-decoder whose positions are a bias by distance.

    x        = x + SelfRead(RMS(x)),  x = x + FFN(RMS(x))        pre-norm, no biases anywhere
    scores   = Q K^T + b[bucket(key - query)]                    not divided by sqrt(d_k); cross reads have no bias
    RMS(x)   = g x / sqrt(mean(x^2) + 1e-6)
    p(y_t)   = softmax(E y_t)

Stacks, layers, relations and cache are those of `transformer` (models/systems/encoder_decoder.py). Each stack has one
bias table, shared by its layers: the encoder's tells keys before from keys after, the decoder's only looks back.

The paper multiplies the last rows by d^-0.5 and uses E as it is at the input. Our table holds E d^-0.5, and the factor
sqrt(d) stands at the input: the same function, with the table at the size that every other system here has.

`gated` and `tied=False` make it version 1.1: (gelu(x W0) * x W1) W2, and an output table of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from models.layers.blocks import Style
from models.layers.positions import DistanceBias
from models.layers.readout import FreeOutput
from models.systems.encoder_decoder import EncoderDecoder, Stack

NORM = partial(nn.RMSNorm, eps=1e-6)
GELU = partial(nn.GELU, "tanh")


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    n_heads: int = 6
    d_head: int = 32  # n_heads * d_head need not be d_model
    d_feedforward: int = 768
    n_layers: int = 3
    buckets: int = 32
    furthest: int = 128  # distances beyond share one bucket
    dropout: float = 0.1
    gated: bool = False
    tied: bool = True


class T5(EncoderDecoder):
    def __init__(self, config: Config) -> None:
        activation: Callable[[], nn.Module] = GELU if config.gated else nn.ReLU
        sizes = config.d_model, config.n_heads, config.d_feedforward, config.dropout
        style = Style(
            *sizes, "pre", NORM, activation, config.gated, biases=False, scaled=False, d_head=config.d_head
        )
        super().__init__(config.vocab_size, config.n_layers, style)
        self.config = config
        shape = config.n_heads, config.buckets, config.furthest
        self.encoder_bias = DistanceBias(*shape, both_ways=True)
        self.decoder_bias = DistanceBias(*shape, both_ways=False)
        if not config.tied:
            self.output = FreeOutput(config.vocab_size, config.d_model)
        self._start()

    def _start(self) -> None:
        """Each product keeps unit variance. The query's weights are smaller by sqrt(d_k), which the scores lack."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
        for name, module in self.named_modules():
            if name.endswith(".query"):
                with torch.no_grad():
                    module.weight.mul_(self.config.d_head**-0.5)  # type: ignore[union-attr, operator]
        for bias in (self.encoder_bias, self.decoder_bias):
            nn.init.normal_(bias.table.weight, std=self.config.d_model**-0.5)

    def place(self, vectors: Tensor, offset: int = 0) -> Tensor:
        """Embeddings alone: where a row stands is told by distance, in the scores."""
        return self.dropout(vectors * math.sqrt(self.config.d_model))

    def bias(self, stack: Stack, columns: int, offset: int = 0) -> Tensor:
        return (self.encoder_bias if stack == "encoder" else self.decoder_bias)(columns, offset)

    def finish(self, rows: Tensor) -> Tensor:
        return self.dropout(self.decoder_norm(rows))
