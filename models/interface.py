"""What a system must offer: two views of one function p(y | x), and the objects that pass between them.

`score` reads every known target row at once (teacher forcing); `read` then `step` makes the same
decisions one at a time from retained state only. Nothing is stored on a module during forward: every
intermediate value comes back in a returned, frozen trace, so one loaded model can serve many visitors.

Shapes: B requests, S source rows, T target rows, V vocabulary entries, d channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from models.layers.attention import AttentionTrace
    from models.layers.visibility import Empty


def symbol(name: str) -> Any:
    """A dataclass field whose tensor is written `name` in the paper."""
    return field(metadata={"symbol": name})


@dataclass(frozen=True)
class Rows:
    """A padded batch of token rows.

    ids (B, T) int64; valid (B, T) bool, True where a real token stands. `vectors` (B, T, d), when given,
    takes the place of the embedding lookup: it is how a derivative reaches an input row.
    """

    ids: Tensor
    valid: Tensor
    vectors: Tensor | None = None

    def embed(self, table: nn.Embedding) -> Tensor:
        return table(self.ids) if self.vectors is None else self.vectors

    @property
    def lengths(self) -> Tensor:
        return self.valid.sum(dim=1)

    @classmethod
    def of(cls, target_in: Tensor | Rows) -> Rows:
        """Target rows as Rows; plain ids (B, T) are all supplied, so all valid."""
        if isinstance(target_in, Rows):
            return target_in
        return cls(target_in, torch.ones_like(target_in, dtype=torch.bool))

    def to(self, device: torch.device) -> Rows:
        vectors = None if self.vectors is None else self.vectors.to(device)
        return Rows(self.ids.to(device), self.valid.to(device), vectors)


@dataclass(frozen=True)
class StateTensor:
    """One retained tensor: its name in the code, its symbol in the paper, shape, and size in bytes."""

    name: str
    symbol: str
    shape: tuple[int, ...]
    nbytes: int


@dataclass(frozen=True)
class State:
    """What a system keeps between two decisions. Subclasses hold batch-first tensors or tuples of them."""

    def _leaves(self) -> list[tuple[str, str, Tensor]]:
        leaves: list[tuple[str, str, Tensor]] = []
        for item in fields(self):
            value = getattr(self, item.name)
            mark = item.metadata.get("symbol", item.name)
            if isinstance(value, Tensor):
                leaves.append((item.name, mark, value))
            elif isinstance(value, tuple):
                leaves += [
                    (f"{item.name}[{i}]", f"{mark}, layer {i + 1}", part) for i, part in enumerate(value)
                ]
        return leaves

    def tensors(self) -> list[StateTensor]:
        """Every retained tensor with its shape and bytes, measured from the live objects."""
        return [
            StateTensor(n, s, tuple(t.shape), t.element_size() * t.nelement()) for n, s, t in self._leaves()
        ]

    @property
    def nbytes(self) -> int:
        return sum(item.nbytes for item in self.tensors())

    def select(self, rows: Tensor) -> Self:
        """The same state with its batch rows taken in the order `rows` (beam search keeps and drops rows)."""
        changed: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Tensor):
                changed[item.name] = value.index_select(0, rows)
            elif isinstance(value, tuple):
                changed[item.name] = tuple(part.index_select(0, rows) for part in value)
            else:
                changed[item.name] = value
        return type(self)(**changed)


@dataclass(frozen=True)
class Read:
    """A visitor's intervention on the source read.

    bias is added to the scores before the softmax; weights take the place of the softmax's result;
    centre replaces the window centre p_t of a local attention (0-based source rows).
    Shapes: bias and weights (B, S) in `step`, (B, T, S) in `score`; centre (B,) or (B, T).
    """

    bias: Tensor | None = None
    weights: Tensor | None = None
    centre: Tensor | None = None

    def as_row(self) -> Read:
        """A step's intervention with a target axis of length 1."""
        return Read(
            *(None if part is None else part.unsqueeze(1) for part in (self.bias, self.weights, self.centre))
        )

    def at(self, t: int) -> Read:
        """The part of a (B, T, ...) intervention that belongs to target row t."""
        return Read(
            *(None if part is None else part[:, t] for part in (self.bias, self.weights, self.centre))
        )


@dataclass(frozen=True)
class Scored:
    """Teacher-forced result: logits (B, T, V), where row t decides target token t; and the trace of that run."""

    logits: Tensor
    trace: Any


@dataclass(frozen=True)
class Stepped:
    """One decision: logits (B, V), the state that the next decision needs, and the trace of this step."""

    logits: Tensor
    state: Any
    trace: Any


class System(nn.Module):
    """A generating system p(y | x) = prod_t p(y_t | y_<t, x) (0x01B)."""

    has_alignment: bool = False

    def features(
        self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None
    ) -> tuple[Tensor, Any]:
        """Rows that the output table turns into logits, (B, T, d_model), and the trace.

        target_in is ids (B, T), or Rows where `vectors` takes the place of the target's embedding lookup.
        """
        raise NotImplementedError

    def project(self, features: Tensor) -> Tensor:
        """Logits over the vocabulary, (..., d_model) -> (..., V)."""
        raise NotImplementedError

    def output_table(self) -> tuple[Tensor, Tensor]:
        """Weight (V, d_model) and bias (V,) of `project`, for losses that touch part of the vocabulary."""
        raise NotImplementedError

    def score(self, source: Rows, target_in: Tensor | Rows, *, read: Read | None = None) -> Scored:
        """Logits for every known target row, (B, T, V). target_in (B, T) starts with BOS."""
        rows, trace = self.features(source, target_in, read=read)
        return Scored(self.project(rows), trace)

    def read(self, source: Rows) -> Any:
        """Everything that decoding needs of the source: the first state."""
        raise NotImplementedError

    def step(self, state: Any, token: Tensor, *, read: Read | None = None) -> Stepped:
        """One decision after `token` (B,), from `state` alone."""
        raise NotImplementedError

    def alignment(self, trace: Any) -> Tensor | None:
        """Source weights of a trace, (B, T, S) or (B, S) for one step; None where the system has none."""
        return None

    def cross_heads(self, trace: Any) -> Tensor | None:
        """Source weights of every layer and head of a scored trace, (B, layers, heads, T, S); None without heads."""
        return None

    def source_visible(self, source: Rows, trace: Any) -> Tensor | None:
        """Source rows that each decision of a scored trace may read, (B, T, S); None where none stays readable."""
        return None

    def sequential_steps(self, length: int) -> int:
        """Row updates of `read` on a source of `length` rows that must wait for each other: the longest chain."""
        raise NotImplementedError

    def source_table(self) -> nn.Embedding:
        """The embedding that source ids are looked up in."""
        raise NotImplementedError


class Masked(System):
    """A system whose reads are visibility relations that can be seen, and replaced for one run (0x09C).

    Relations go by name: an encoder-decoder has source_self, target_self and cross; a single stream has stream; an
    encoder alone has source_self. Query rows vertical, key columns horizontal, True = may read
    (models/layers/visibility.py). Decoding by `step` always keeps the structural relations.
    """

    def visibility(self, source: Rows, target_in: Tensor | Rows) -> dict[str, Tensor]:
        """The relations of this request as its softmaxes get them, structure and key validity together: source_self
        (B, S, S), target_self (B, T, T), cross (B, T, S), stream (B, S + T, S + T)."""
        raise NotImplementedError

    def reads(self, trace: Any) -> dict[str, tuple[AttentionTrace, ...]]:
        """A scored trace by the same names: one AttentionTrace a layer, weights (B, h, R, C)."""
        raise NotImplementedError

    def features(
        self,
        source: Rows,
        target_in: Tensor | Rows,
        *,
        read: Read | None = None,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
    ) -> tuple[Tensor, Any]:
        """As `System.features`. masks: relations that take the place of the structural ones, (R, C) for all layers or
        (L, R, C) one a layer; key validity still applies. empty="zero" lets a row with nothing to read read zero."""
        raise NotImplementedError

    def score(
        self,
        source: Rows,
        target_in: Tensor | Rows,
        *,
        read: Read | None = None,
        masks: Mapping[str, Tensor] | None = None,
        empty: Empty = "error",
    ) -> Scored:
        rows, trace = self.features(source, target_in, read=read, masks=masks, empty=empty)
        return Scored(self.project(rows), trace)


def stack_traces(traces: list[Any], dim: int = 1) -> Any:
    """Step traces of one class, their tensors (B, ...) stacked to (B, T, ...), nested as the traces nest."""
    first = traces[0]
    if first is None:
        return None
    if isinstance(first, Tensor):
        return torch.stack(traces, dim=dim)
    parts = {f.name: stack_traces([getattr(t, f.name) for t in traces], dim) for f in fields(first)}
    return type(first)(**parts)
