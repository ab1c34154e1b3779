"""One stream for source and target (0x09D): a decoder-only system reads `source EOS BOS target` as one sequence.

    stream row n of a request with S source rows:  source row n where n < S, target row n - S after that

Requests of a batch have different S, so rows are packed: each request's stream is contiguous, padding stands at its
end, and positions count real rows alone. BOS after the source's EOS is the separator. A request whose source is only
EOS asks for no translation: it is how these systems are trained, and asked, to continue plain English.

A subclass gives `run` (all known rows), `read` (the source's rows, then the state) and `step`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from models.interface import Read, Rows
from models.systems.tied import TiedSystem


@dataclass(frozen=True)
class Stream:
    """A packed batch: vectors (B, N, d), valid (B, N), and where things stand.

    prefix (B,) counts a request's source rows; target (B, T) is the stream row of each target row. N = S + T.
    """

    vectors: Tensor
    valid: Tensor
    prefix: Tensor
    target: Tensor

    def target_rows(self, rows: Tensor) -> Tensor:
        """The rows that decide target tokens, (B, N, d) -> (B, T, d)."""
        return rows.gather(1, self.target.unsqueeze(-1).expand(-1, -1, rows.shape[-1]))


def pack(source: Tensor, valid: Tensor, target: Tensor, target_valid: Tensor | None = None) -> Stream:
    """Embedded source (B, S, d) with its validity (B, S), padded on the right, then embedded target (B, T, d).

    Without target_valid (B, T) every target row counts as real: where rows read the past alone, a padded one stands
    after all that it could disturb.
    """
    S, T = source.shape[1], target.shape[1]
    prefix = valid.sum(dim=1)  # (B,)
    row = torch.arange(S + T, device=source.device)
    from_target = row >= prefix.unsqueeze(1)  # (B, N)
    index = torch.where(from_target, (row - prefix.unsqueeze(1) + S).clamp(max=S + T - 1), row)
    both = torch.cat([source, target], dim=1)
    vectors = both.gather(1, index.unsqueeze(-1).expand(-1, -1, both.shape[-1]))
    places = prefix.unsqueeze(1) + torch.arange(T, device=source.device)
    count = prefix + (T if target_valid is None else target_valid.sum(dim=1))
    return Stream(vectors, row < count.unsqueeze(1), prefix, places)


class SingleStream(TiedSystem):
    """A system whose source and target are rows of one sequence."""

    def run(self, stream: Stream) -> tuple[Tensor, Any]:
        """Every row of the packed stream at once, (B, N, d_model), and the trace; a row reads no later one."""
        raise NotImplementedError

    def packed(self, source: Rows, target_in: Tensor | Rows) -> Stream:
        target = Rows.of(target_in)
        return pack(source.embed(self.embedding), source.valid, target.embed(self.embedding), target.valid)

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Any]:
        stream = self.packed(source, target_in)
        rows, trace = self.run(stream)
        return stream.target_rows(rows), trace
