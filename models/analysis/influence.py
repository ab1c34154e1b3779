"""Measured influence: how far an output row moves with an input row, on the real module (0x05, 0x09, 0x0C.2).

    influence[t, s] = || d out_t / d in_s ||_F,   out (T, d_out), in (N, d_in)

Exact with one backward pass for each output channel; with `probes` random signs v, E |v^T J|^2 = ||J||_F^2, so a few
backward passes estimate it, and an entry that is structurally zero is exactly zero either way (Hutchinson 1990).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from models.interface import Masked, Rows, System
from models.layers.visibility import Empty

CHUNK = 64  # copies of a request differentiated together
SEED = 20140901


def jacobian_norms(function: Callable[[Tensor], Tensor], rows: Tensor, probes: int | None = 4) -> Tensor:
    """||d out_t / d in_s|| for every pair, (T, N).

    function maps (C, N, d) to (C, T, d_out), each of the C copies alone; rows (N, d). probes None is exact.
    """
    with torch.inference_mode(False), torch.enable_grad():
        fixed = rows.detach().clone()
        with torch.no_grad():
            shape = function(fixed.unsqueeze(0)).shape[1:]
        cotangents = _cotangents(int(shape[0]), int(shape[1]), probes, fixed)  # (T, K, d_out)
        count = cotangents.shape[1]
        copies = [(t, k) for t in range(shape[0]) for k in range(count)]
        total = fixed.new_zeros(shape[0], fixed.shape[0])
        for start in range(0, len(copies), CHUNK):
            part = copies[start : start + CHUNK]
            times = torch.tensor([t for t, _ in part], device=fixed.device)
            vectors = fixed.expand(len(part), -1, -1).clone().requires_grad_(True)
            out = function(vectors)[torch.arange(len(part), device=fixed.device), times]  # (C, d_out)
            seen = torch.stack([cotangents[t, k] for t, k in part])
            (slope,) = torch.autograd.grad((out * seen).sum(), vectors)
            total.index_add_(0, times, slope.square().sum(-1))
    return (total if probes is None else total / count).sqrt()


def _cotangents(rows: int, width: int, probes: int | None, like: Tensor) -> Tensor:
    if probes is None:
        return torch.eye(width, dtype=like.dtype, device=like.device).expand(rows, -1, -1)
    generator = torch.Generator().manual_seed(SEED)
    signs = torch.randint(0, 2, (rows, probes, width), generator=generator) * 2 - 1
    return signs.to(like.device, like.dtype)


def influence(
    system: System,
    source: Rows,
    target_in: Tensor | None,
    probes: int | None = 4,
    *,
    masks: Mapping[str, Tensor] | None = None,
    empty: Empty = "error",
) -> Tensor:
    """||d row_t / d embedding|| of one request's decisions by its source rows and its target inputs, (T, S + T).

    source (1, S) without padding, target_in (1, T). Columns are the source rows, then BOS y_1 .. y_(T-1). An encoder
    alone has no target (None): its source rows by its source rows, (S, S). masks and empty are those of
    `Masked.features`.
    """
    table = system.source_table()
    S = source.ids.shape[1]
    if masks is not None and not isinstance(system, Masked):
        raise ValueError("This system has no visibility relations to replace.")
    chosen: dict[str, Any] = {"masks": masks, "empty": empty} if isinstance(system, Masked) else {}
    with torch.no_grad():
        parts = [table(source.ids[0])] + ([] if target_in is None else [table(target_in[0])])
        rows = torch.cat(parts)

    def decisions(vectors: Tensor) -> Tensor:
        copies = vectors.shape[0]
        read = Rows(source.ids.expand(copies, -1), source.valid.expand(copies, -1), vectors[:, :S])
        given: Any = None
        if target_in is not None:
            ids = target_in.expand(copies, -1)
            given = Rows(ids, torch.ones_like(ids, dtype=torch.bool), vectors[:, S:])
        features, _ = system.features(read, given, **chosen)
        return features

    return jacobian_norms(decisions, rows, probes)
