"""One teacher-forced training step as four calls: forward, loss, backward, update, on a copy of the system (0x0B.2).

Bytes are of live tensors: what the forward pass saves for the backward pass (counted once a storage, parameters left
out), then gradients, then gradients with the optimiser's moments. Dropout is off, so that two runs give one loss.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.execution.calls import Facts, Meter, Schedule, Share, Streams
from models.execution.phases import Readable, no_read
from models.interface import System
from models.training.corpus import Batch

RATE = 1e-4


@dataclass
class Saved:
    """Bytes that autograd holds: each storage once, parameters left out."""

    own: set[int]
    sizes: dict[int, int] = field(default_factory=dict)

    def keep(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.own:
            self.sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    @property
    def nbytes(self) -> int:
        return sum(self.sizes.values())


def learner(system: System) -> System:
    """A copy that may be changed: same weights, with gradients, dropout off."""
    return copy.deepcopy(system).eval().requires_grad_(True)


def loss_of(system: System, batch: Batch) -> Tensor:
    """Mean over the loss rows."""
    rows, _ = system.features(batch.source, batch.target_in)
    return F.cross_entropy(system.project(rows[batch.known]), batch.labels[batch.known])


def training(system: System, batch: Batch, rate: float = RATE, readable: Readable = no_read) -> Schedule:
    """forward, loss, backward, update; each run starts from the shipped weights again."""
    return partial(_training, system, batch, rate, readable)


@torch.inference_mode(False)
@torch.enable_grad()
def _training(system: System, batch: Batch, rate: float, readable: Readable, meter: Meter) -> Streams:
    pupil = learner(system)
    optimiser = torch.optim.Adam(pupil.parameters(), lr=rate)
    saved = Saved({p.untyped_storage().data_ptr() for p in pupil.parameters()})
    watching = torch.autograd.graph.saved_tensors_hooks(saved.keep, lambda kept: kept)

    def forward() -> Tensor:
        rows, _ = pupil.features(batch.source, batch.target_in)
        return pupil.project(rows[batch.known])

    def told(phase: Any, before: int, after: Callable[[], int]) -> Callable[[Any], Facts]:
        shares = _shares(batch, readable) if phase == "forward" else ()
        computed = batch.source.ids.numel() + batch.target_in.numel() if phase == "forward" else 0
        return lambda _: Facts(phase, shares, computed, before, after())

    def run(work: Callable[[], Any]) -> Callable[[], Any]:
        return partial(_watched, watching, work) if meter.counting else work

    logits = meter.call(run(forward), told("forward", 0, lambda: saved.nbytes))
    held = saved.nbytes
    labels = batch.labels[batch.known]
    loss = meter.call(run(lambda: F.cross_entropy(logits, labels)), told("loss", held, lambda: saved.nbytes))
    meter.call(loss.backward, told("backward", saved.nbytes, lambda: _gradients(pupil)))
    before = _gradients(pupil) if meter.counting else 0
    meter.call(optimiser.step, told("update", before, lambda: before + _moments(optimiser)))
    return _streams(batch)


def _watched(watching: Any, work: Callable[[], Any]) -> Any:
    with watching:
        return work()


def _gradients(module: nn.Module) -> int:
    return sum(p.grad.nbytes for p in module.parameters() if p.grad is not None)


def _moments(optimiser: torch.optim.Optimizer) -> int:
    parts = (v for state in optimiser.state.values() for v in state.values())
    return sum(v.nbytes for v in parts if isinstance(v, Tensor))


def _streams(batch: Batch) -> Streams:
    sources = [ids[valid].tolist() for ids, valid in zip(batch.source.ids, batch.source.valid, strict=True)]
    targets = [ids[known].tolist() for ids, known in zip(batch.target_in, batch.known, strict=True)]
    tokens = tuple((*s, *t) for s, t in zip(sources, targets, strict=True))
    return Streams(tokens, tuple(map(len, sources)))


def _shares(batch: Batch, readable: Readable) -> tuple[Share, ...]:
    """All rows are supplied, none is discovered; what the last loss row may read stands for the others."""
    shares = []
    for b, (S, T) in enumerate(zip(batch.source.lengths.tolist(), batch.known.sum(1).tolist(), strict=True)):
        shares.append(Share(b, S + T, (0, S + T), readable(b, T - 1)))
    return tuple(shares)


def update(system: System, batch: Batch, rate: float = RATE) -> tuple[float, float]:
    """A real update on a copy: the batch's loss before and after."""
    with torch.inference_mode(False), torch.enable_grad():
        pupil = learner(system)
        optimiser = torch.optim.Adam(pupil.parameters(), lr=rate)
        before = loss_of(pupil, batch)
        before.backward()
        optimiser.step()
        with torch.no_grad():
            return float(before.detach()), float(loss_of(pupil, batch))
