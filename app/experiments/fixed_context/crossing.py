"""What crosses from the encoder to the decoder (0x02A, 0x02C): the tensors of the first state, at many source lengths.

`System.read(source)` returns everything that the decoder has of the source before its first decision. Which axis of a
tensor is the row axis is not declared here: it is the one whose size followed the length of the source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch

from app.experiments.fixed_context.common import Missing, cut, loaded
from app.experiments.run import Check
from models.analysis import invariants
from models.execution.device import device
from models.interactive import Translator
from models.interface import StateTensor
from models.training.tokenizer import BOS

LENGTHS = (1, 3, 7, 15, 31, 60)  # pieces before EOS; the last is the sentence box's limit


@dataclass(frozen=True)
class Crossed:
    """One tensor as it crosses: `axis` is its row axis (None: it has none), nbytes measured."""

    name: str
    symbol: str
    shape: tuple[int, ...]
    nbytes: int
    axis: int | None

    @property
    def rows(self) -> int:
        """Source rows in it; a tensor without a row axis is one vector."""
        return 1 if self.axis is None else self.shape[self.axis]


@dataclass(frozen=True)
class Group:
    """Tensors of one kind, one a layer, each `rows` x `channels`; nbytes of all together.

    role: "source" has a row for each source piece, "state" is one vector, "masked" says which rows are real.
    """

    symbol: str
    name: str
    rows: int
    channels: int
    nbytes: int
    shape: str
    role: Literal["source", "state", "masked"]
    layers: int


@dataclass(frozen=True)
class Crossing:
    """One system: the tensors for the visitor's sentence, and bytes of the whole state by source rows (EOS counted)."""

    slug: str
    title: str
    family: str
    tensors: tuple[Crossed, ...]
    points: tuple[tuple[int, int], ...]
    checks: tuple[Check, ...]

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors)

    @property
    def addressable(self) -> int:
        """Source rows that the decoder can pick from one at a time; 0 where only whole vectors cross (0x02C)."""
        return max((tensor.rows for tensor in self.tensors if tensor.axis is not None), default=0)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Tensors of one kind together, in the state's order."""
        kinds: dict[str, list[Crossed]] = {}
        for tensor in self.tensors:
            kinds.setdefault(tensor.name.split("[")[0], []).append(tensor)
        return tuple(_group(name, layers) for name, layers in kinds.items())

    @property
    def bytes_a_row(self) -> float:
        """Bytes that one more source row adds, between the shortest and the longest source measured."""
        (first, low), (last, high) = self.points[0], self.points[-1]
        return (high - low) / (last - first)


@dataclass(frozen=True)
class Crossings:
    rows: int  # of the visitor's sentence, EOS counted
    systems: tuple[Crossing, ...]
    missing: tuple[Missing, ...]


def _group(name: str, layers: list[Crossed]) -> Group:
    first = layers[0]
    role = "state" if first.axis is None else "masked" if name == "valid" else "source"
    return Group(
        symbol=first.symbol.split(", layer")[0],
        name=name.replace("_", " "),
        rows=first.rows,
        channels=math.prod(first.shape) // first.rows,
        nbytes=sum(tensor.nbytes for tensor in layers),
        shape=" × ".join(map(str, first.shape)),
        role=role,
        layers=len(layers),
    )


def crossings(slugs: tuple[str, ...], sentence: str) -> Crossings:
    """Every system of `slugs` that is there. Raises ValueError (a sentence) for text that cannot be encoded."""
    found, missing = loaded(slugs)
    rows = len(found[0].encode_source(sentence)) if found else 0
    return Crossings(rows, tuple(crossing(one, sentence) for one in found), missing)


@torch.inference_mode()
def crossing(translator: Translator, sentence: str) -> Crossing:
    """Read the sentence, and its own pieces repeated and cut to each of LENGTHS; measure the states."""
    source = translator.encode_source(sentence)
    states = {n + 1: _tensors(translator, cut(source, n)) for n in LENGTHS}
    own = _tensors(translator, source)
    other = next(state for rows, state in states.items() if rows != len(source))
    tensors = tuple(_crossed(a, b) for a, b in zip(own, other, strict=True) if a.nbytes)
    points = {rows: sum(t.nbytes for t in state) for rows, state in states.items()}
    points[len(source)] = sum(t.nbytes for t in own)
    entry = translator.entry
    checks = _checks(translator, source, tensors, points)
    return Crossing(entry.slug, entry.title, entry.family, tensors, tuple(sorted(points.items())), checks)


def _tensors(translator: Translator, source: list[int]) -> list[StateTensor]:
    return translator.system.read(translator.rows(source)).tensors()


def _crossed(tensor: StateTensor, other: StateTensor) -> Crossed:
    """The row axis is where the same tensor of a source of another length has another size."""
    sizes = zip(tensor.shape, other.shape, strict=True)
    axis = next((k for k, (mine, its) in enumerate(sizes) if mine != its), None)
    return Crossed(tensor.name, tensor.symbol, tensor.shape, tensor.nbytes, axis)


def _checks(
    translator: Translator, source: list[int], tensors: tuple[Crossed, ...], points: dict[int, int]
) -> tuple[Check, ...]:
    rows = translator.rows(source)
    first = torch.tensor([[BOS]], device=device())
    off = invariants.padding_difference(
        translator.system, rows, first, translator.system.score(rows, first).logits
    )
    padding = Check(
        "padding changes nothing", off <= invariants.TOLERANCE, off,
        "Largest change of the first decision's logits when three padded source rows are added.",
    )  # fmt: skip
    return (_size_check(tensors, points), padding)


def _size_check(tensors: tuple[Crossed, ...], points: dict[int, int]) -> Check:
    """Bytes constant over all lengths where nothing has a row axis; otherwise bytes exactly linear in the rows."""
    at = sorted(points)
    (low, high), few = (at[0], at[-1]), points[at[0]]
    slope = (points[high] - few) / (high - low)
    off = max(abs(points[rows] - few - slope * (rows - low)) for rows in at)
    if all(tensor.axis is None for tensor in tensors):
        off = float(max(points.values()) - min(points.values()))
        return Check(
            "bytes constant",
            off == 0,
            off,
            f"Spread of the measured bytes over sources of {low} to {high} rows.",
        )
    return Check(
        "bytes linear in rows",
        off == 0,
        off,
        f"Largest distance of the bytes from a line, {low} to {high} rows.",
    )
