"""What the visitor painted, as the relations that the system's softmaxes get: one matrix a layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from app.experiments.masks.grids import at, parse, preset_of, unpack
from app.experiments.masks.options import RELATIONS
from app.experiments.masks.request import Request
from models.execution.device import device
from models.layers import visibility

Chosen = tuple[tuple[str, str], ...]  # (relation, painted text) pairs: hashable, in the order of RELATIONS


@dataclass(frozen=True)
class EmptyRow:
    """A query row with nothing to read."""

    relation: str
    layer: int  # from 0
    row: int


@dataclass(frozen=True)
class Relations:
    """used: (L, R, C) a relation; everywhere (R, C): what is painted for all layers. told: a sentence for each painted
    part that does not fit these tokens."""

    used: Mapping[str, np.ndarray]
    everywhere: Mapping[str, np.ndarray]
    own: Mapping[str, np.ndarray]
    told: tuple[str, ...]

    @property
    def changed(self) -> tuple[str, ...]:
        """Relations that are not the model's own in some layer."""
        return tuple(name for name, stack in self.used.items() if (stack != self.own[name]).any())

    @property
    def empty(self) -> tuple[EmptyRow, ...]:
        found = {name: np.argwhere(~stack.any(axis=-1)) for name, stack in self.used.items()}
        return tuple(EmptyRow(name, int(n), int(row)) for name, places in found.items() for n, row in places)

    def masks(self) -> dict[str, Tensor] | None:
        """What `score` gets: only the relations that changed; None where none did."""
        found = {name: torch.from_numpy(self.used[name]).to(device()) for name in self.changed}
        return found or None


def relations(request: Request, chosen: Chosen) -> Relations:
    """The relations of every layer. Parts for other tokens are left out, and told."""
    painted = {name: parse(text) for name, text in chosen}
    used, everywhere, told = {}, {}, []
    for name, own in request.own.items():
        stack = []
        for layer in range(request.layers + 1):
            code = at(painted.get(name, {}), layer)
            try:
                stack.append(resolve(code, own, name))
            except ValueError as error:
                stack.append(own)
                told.append(str(error))
        everywhere[name], used[name] = stack[0], np.stack(stack[1:])
    return Relations(used, everywhere, request.own, tuple(dict.fromkeys(told)))


def resolve(code: str | None, own: np.ndarray, name: str) -> np.ndarray:
    """The matrix (R, C) of a code. ValueError with a sentence where it belongs to other tokens."""
    preset, number = preset_of(code)
    rows, columns = own.shape
    if code is None:
        return own
    if preset == "painted":
        return _painted(code, own, name)
    if number is not None and preset == "prefix" and number > columns:
        raise ValueError(f"A prefix of {number} rows is longer than these {columns}, so {_stays(name)}")
    return (
        _preset(preset, number or 0, own)
        if rows != columns or preset == "padding"
        else _square(preset, number or 0, rows)
    )


def _painted(code: str, own: np.ndarray, name: str) -> np.ndarray:
    found = unpack(code)
    if found.shape != own.shape:
        was, now = ("×".join(map(str, shape)) for shape in (found.shape, own.shape))
        raise ValueError(f"The painted relation is {was}, and these tokens give {now}, so {_stays(name)}")
    return found


def _stays(name: str) -> str:
    return f"the model's own {RELATIONS[name].short} relation is used."


def _square(preset: str, number: int, length: int) -> np.ndarray:
    made = {
        "full": lambda: visibility.full(length),
        "causal": lambda: visibility.causal(length),
        "prefix": lambda: visibility.prefix(length, number),
        "window": lambda: visibility.window(length, number),
    }
    return made[preset]().numpy()


def _preset(preset: str, number: int, own: np.ndarray) -> np.ndarray:
    """The same on a grid whose rows and columns are different tokens; padding on any."""
    rows, columns = own.shape
    if preset == "padding":
        valid = torch.arange(columns) < columns - number
        return visibility.compose(torch.from_numpy(own), valid).numpy()
    if preset == "full":
        return visibility.cross_full(rows, columns).numpy()
    row, column = np.arange(rows)[:, None], np.arange(columns)
    if preset == "window":
        return np.abs(row - column) <= number
    return (column <= row) | (column < number)  # causal, prefix
