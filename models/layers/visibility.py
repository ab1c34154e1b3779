"""Which row may read which (0x09A): query rows vertical, key columns horizontal, True = may read.

    visible[t, s] = relation[t, s] and key_valid[s]

A relation is structural: it follows from where rows stand (full, causal, prefix, window, global rows, packed samples,
or any matrix). Key validity follows from the padding of this batch, and is composed with it here. Query validity says
which output rows mean anything; it never enters a softmax, it selects rows of the loss and of a report (0x09E).
The softmax takes True = may read as it stands; polarity is converted only where a kernel wants another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import torch
from torch import Tensor

from models.layers.exporting import exporting

Empty = Literal["error", "zero"]  # a query row with no visible key: raise, or let it read zero


class EmptyRowError(ValueError):
    """A query row with no visible key: a softmax over nothing has no value."""


def check_rows(visible: Tensor) -> None:
    """Raise EmptyRowError, naming the first row, when a query row of `visible` (..., S) may read nothing."""
    if exporting():
        return
    seen = visible.any(dim=-1)
    if not bool(seen.all()):
        where = (~seen).nonzero()[0].tolist()
        raise EmptyRowError(
            f"Query row {where} has no visible key, so its weights are undefined. Let it read at least one row."
        )


# ---- structural relations, (R, C)


def full(length: int, device: torch.device | None = None) -> Tensor:
    """Every row reads every row: (N, N)."""
    return cross_full(length, length, device)


def cross_full(rows: int, columns: int, device: torch.device | None = None) -> Tensor:
    """Every target row reads every source row: (T, S)."""
    return torch.ones(rows, columns, dtype=torch.bool, device=device)


def causal(length: int, device: torch.device | None = None) -> Tensor:
    """Row t reads rows 0..t: (T, T)."""
    return full(length, device).tril()


def prefix(length: int, count: int | Tensor, device: torch.device | None = None) -> Tensor:
    """The first P rows read each other, the others read the past (0x09D): column < P or column <= row.

    count P is a number, (N, N); or one a request (B,), (B, N, N).
    """
    if isinstance(count, Tensor):
        inside = torch.arange(length, device=count.device) < count.unsqueeze(-1)  # (B, N)
        return inside.unsqueeze(-2) | causal(length, count.device)
    if not 0 <= count <= length:
        raise ValueError(f"A prefix of {count} rows does not fit in {length}.")
    return (torch.arange(length, device=device) < count) | causal(length, device)


def window(length: int, radius: int, device: torch.device | None = None) -> Tensor:
    """Row t reads rows t - r to t + r: (N, N). `& causal(length)` makes it look back only."""
    if radius < 0:
        raise ValueError("A window's radius cannot be negative.")
    row = torch.arange(length, device=device)
    return (row.unsqueeze(1) - row).abs() <= radius


def global_rows(length: int, rows: list[int], device: torch.device | None = None) -> Tensor:
    """The named rows read everything and are read by everything, and nothing else is visible: (N, N)."""
    if any(not 0 <= n < length for n in rows):
        raise ValueError(f"Global rows must be between 0 and {length - 1}.")
    chosen = torch.zeros(length, dtype=torch.bool, device=device)
    chosen[rows] = True
    return chosen.unsqueeze(1) | chosen


def packed(sample: Tensor) -> Tensor:
    """Rows of one sample read each other: block-diagonal. sample numbers (..., N) -> (..., N, N)."""
    return sample.unsqueeze(-1) == sample.unsqueeze(-2)


def arbitrary(matrix: list[list[int]] | Tensor, device: torch.device | None = None) -> Tensor:
    """Any relation, nonzero = may read: (R, C)."""
    found = torch.as_tensor(matrix, device=device).bool()
    if found.ndim != 2:
        raise ValueError("A visibility relation has rows and columns.")
    return found


# ---- validity, and both together


def keys(valid: Tensor) -> Tensor:
    """Key validity (B, S) as a mask for every head and query row: (B, 1, 1, S)."""
    return valid[:, None, None, :]


def queries(valid: Tensor) -> Tensor:
    """Query validity (B, T) as a selection of output rows: (B, 1, T, 1). Not part of any softmax."""
    return valid[:, None, :, None]


def compose(relation: Tensor, key_valid: Tensor) -> Tensor:
    """relation (R, C) or (B, R, C) on valid keys (B, C) alone: (B, R, C)."""
    return relation & key_valid.unsqueeze(-2)


def by_layer(
    name: str, structural: Tensor, key_valid: Tensor, layers: int, masks: Mapping[str, Tensor] | None = None
) -> tuple[Tensor, ...]:
    """What each layer's softmax gets, (B, 1, R, C): the relation called name, composed with key validity (B, C).

    structural is (R, C) or (B, R, C). Where `masks` names another relation it takes its place: (R, C) for all layers,
    (L, R, C) one a layer, (L or 1, B or 1, R, C) one a layer and request. Raises ValueError where it does not fit.
    """
    given = None if masks is None else masks.get(name)
    if given is None:
        return (compose(structural, key_valid).unsqueeze(1),) * layers
    rows, columns = structural.shape[-2:]
    if given.dtype != torch.bool or given.shape[-2:] != (rows, columns) or given.ndim > 4:
        raise ValueError(
            f"The relation {name} is boolean with {rows} rows and {columns} columns here, for all layers or one a "
            f"layer; this one is {given.dtype} {tuple(given.shape)}."
        )
    stack = (
        given.unsqueeze(1) if given.ndim == 3 else given.expand(1, 1, -1, -1) if given.ndim == 2 else given
    )
    if stack.shape[0] not in (1, layers):
        raise ValueError(f"The relation {name} is given for {stack.shape[0]} layers; there are {layers}.")
    found = [compose(one, key_valid).unsqueeze(1) for one in stack]
    return tuple(found * layers if len(found) == 1 else found)


def known_names(masks: Mapping[str, Tensor] | None, names: Iterable[str]) -> None:
    """Raise ValueError for a relation that this system does not have."""
    wrong = sorted(set(masks or ()) - set(names))
    if wrong:
        raise ValueError(f"There is no relation {wrong[0]} here, only {', '.join(names)}.")
