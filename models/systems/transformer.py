"""Transformer encoder-decoder (Vaswani et al. 2017): post-norm, sinusoidal positions, three read
relations (0x07B, 0x09C).

    encoder row  x = LN(x + SelfRead(x)),  x = LN(x + FFN(x))
    decoder row  y = LN(y + CausalSelfRead(y)),  y = LN(y + CrossRead(y, memory)),  y = LN(y + FFN(y))
    p(y_t)       = softmax(E y_t), E shared with both inputs (3.4), inputs scaled by sqrt(d_model)

`norm="pre"` moves each norm in front of its sublayer and ends both stacks with one; nothing else differs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor, nn

from models.layers.blocks import Order, Style
from models.layers.positions import sinusoid
from models.systems.encoder_decoder import EncoderDecoder


@dataclass(frozen=True)
class Config:
    vocab_size: int = 8192
    d_model: int = 192
    n_heads: int = 6
    d_feedforward: int = 768
    n_layers: int = 3
    dropout: float = 0.1
    norm: Order = "post"  # as in 2017; "pre" is the twin that trains without warm-up (Xiong et al. 2020)


class Transformer(EncoderDecoder):
    def __init__(self, config: Config) -> None:
        style = Style(config.d_model, config.n_heads, config.d_feedforward, config.dropout, config.norm)
        super().__init__(config.vocab_size, config.n_layers, style)
        self.config = config
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def place(self, vectors: Tensor, offset: int = 0) -> Tensor:
        """Embeddings times sqrt(d_model) plus positions from `offset` on (3.4, 3.5)."""
        table = sinusoid(vectors.shape[1], self.config.d_model, offset, vectors.device).to(vectors.dtype)
        return self.dropout(vectors * math.sqrt(self.config.d_model) + table)
