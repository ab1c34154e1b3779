"""Which rows the row that decides may read directly, in one request's own stream (0x0B.8: the decisive diagnostic).

The source part is what the system says of its own run (`source_visible`); the target part is its structural relation,
or for a system without one its own row, and the width - 1 rows before it where a convolution stands in front. What is
not readable here can still arrive through a state.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from models.execution.calls import Span
from models.interface import Masked, Rows, System
from models.systems.single_stream import SingleStream


@torch.no_grad()
def reach(system: System, source: Rows, target: Rows) -> list[Tensor]:
    """For each request of a batch a boolean (T, S + T): row t of its target, over its real source rows and target."""
    _, trace = system.features(source, target)
    seen = system.source_visible(source, trace)
    T = target.ids.shape[1]
    found = []
    for b, S in enumerate(source.lengths.tolist()):
        part = torch.zeros(T, S, dtype=torch.bool) if seen is None else seen[b, :, :S].cpu()
        found.append(torch.cat([part, _own(system, source, target, b, S)], dim=1))
    return found if isinstance(system, Masked) else [_banded(system, one) for one in found]


def _own(system: System, source: Rows, target: Rows, b: int, S: int) -> Tensor:
    """Target rows by target rows, (T, T)."""
    T = target.ids.shape[1]
    if not isinstance(system, Masked):
        return torch.eye(T, dtype=torch.bool)
    relations = system.visibility(source, target)
    if "target_self" in relations:
        own = relations["target_self"]
        return own[b if own.ndim == 3 and own.shape[0] > 1 else 0].cpu().reshape(T, T)
    return relations["stream"][b, S : S + T, S : S + T].cpu()


def _banded(system: System, seen: Tensor) -> Tensor:
    """A convolution's window over what comes before: over the whole stream, or over the target side alone."""
    config: Any = system.config
    width = getattr(config, "width", 1)
    T, columns = seen.shape
    S = columns - T
    row, column = torch.arange(T).unsqueeze(1) + S, torch.arange(columns)
    band = (column <= row) & (column > row - width)
    return seen | (band if isinstance(system, SingleStream) else band & (column >= S))


def spans(seen: Tensor) -> tuple[Span, ...]:
    """The True stretches of a boolean (N,)."""
    edge = torch.diff(torch.nn.functional.pad(seen.to(torch.int8), (1, 1)))
    starts, stops = (torch.nonzero(edge == k)[:, 0].tolist() for k in (1, -1))
    return tuple(zip(starts, stops, strict=True))
