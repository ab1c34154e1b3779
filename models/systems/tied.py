"""What every system here shares at its two ends: one embedding for both languages and for the output (0x0A.2)."""

from __future__ import annotations

from torch import Tensor, nn

from models.interface import System
from models.layers.readout import TiedOutput


class TiedSystem(System):
    """Owns `embedding` (V, d) and `output`, whose table is the embedding's own parameter (T5 1.1 alone unties it)."""

    embedding: nn.Embedding
    output: TiedOutput

    def project(self, features: Tensor) -> Tensor:
        return self.output(features)

    def output_table(self) -> tuple[Tensor, Tensor]:
        return self.output.table.weight, self.output.bias

    def source_table(self) -> nn.Embedding:
        return self.embedding
