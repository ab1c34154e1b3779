"""Put the states of several requests into one batch, for requests that begin while others are under way."""

from __future__ import annotations

from dataclasses import fields
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor

from models.interface import State

S = TypeVar("S", bound=State)


def join(first: S, second: S) -> S:
    """One state with the rows of both. Where one has read more rows, the other is padded as its `valid` mask allows.

    Raises ValueError where the state has no mask for the rows in which the two differ: an encoder-decoder's cache of
    target rows is one, so its requests can only begin together.
    """
    lengths = tuple(s.valid.shape[1] if hasattr(s, "valid") else 0 for s in (first, second))  # type: ignore[attr-defined]
    joined = {}
    for item in fields(first):
        one, other = getattr(first, item.name), getattr(second, item.name)
        if isinstance(one, tuple):
            pairs = zip(one, other, strict=True)
            joined[item.name] = tuple(_together(a, b, lengths) for a, b in pairs)
        else:
            joined[item.name] = _together(one, other, lengths)
    return type(first)(**joined)


def _together(one: Tensor, other: Tensor, lengths: tuple[int, ...]) -> Tensor:
    sizes = [(k, a, b) for k, (a, b) in enumerate(zip(one.shape, other.shape, strict=True)) if k and a != b]
    if sizes:
        axis = sizes[0][0]
        if len(sizes) > 1 or sizes[0][1:] != lengths:
            raise ValueError("These states differ in rows that no mask marks, so they cannot share a batch.")
        one, other = (_longer(part, axis, max(lengths)) for part in (one, other))
    return torch.cat([one, other])


def _longer(part: Tensor, axis: int, length: int) -> Tensor:
    """Zeros, which are invalid rows, behind the rows of `axis`."""
    padding = [0, 0] * (part.ndim - 1 - axis) + [0, length - part.shape[axis]]
    return F.pad(part, padding)
