"""Reachability: which input rows could change an output row at all, from the relations alone (0x09, 0x0C.2).

    reach_l = (M_l or I) reach_(l-1)        boolean product; I is the residual path around each read
    R = reach_L                             an edge of R is permitted, not used: compare `influence`

With a cross read a target row gets what its own past has gathered, and whatever the memory rows it reads could see:

    source_l = (M_self or I) source_(l-1)  or  M_cross reach_encoder
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


def compose(after: Tensor, before: Tensor) -> Tensor:
    """Boolean matrix product: row r reaches c where it reads some k that reaches c. (R, K), (K, C) -> (R, C)."""
    return (after.float() @ before.float()) > 0


def with_residual(relation: Tensor) -> Tensor:
    """A row also keeps itself: relation (N, N) or I."""
    return relation | torch.eye(relation.shape[0], dtype=torch.bool, device=relation.device)


def reach(masks: Sequence[Tensor]) -> Tensor:
    """Rows of the input that each row can depend on after layers with these relations (N, N), first layer first."""
    found = torch.eye(masks[0].shape[0], dtype=torch.bool, device=masks[0].device)
    for relation in masks:
        found = compose(with_residual(relation), found)
    return found


def reach_source(
    source_self: Sequence[Tensor], target_self: Sequence[Tensor], cross: Sequence[Tensor]
) -> Tensor:
    """Source inputs that each target row can depend on after an encoder and a decoder of cross reads, (T, S)."""
    memory = reach(source_self)
    found = torch.zeros_like(cross[0])
    for own, over in zip(target_self, cross, strict=True):
        found = compose(with_residual(own), found) | compose(over, memory)
    return found


def reachable(relations: Mapping[str, Sequence[Tensor]]) -> Tensor:
    """The same by relation names, one (R, C) a layer: what each output row can depend on.

    stream -> (N, N); source_self alone -> (S, S); an encoder-decoder -> (T, S + T), columns as in `influence`: the
    source rows, then the target inputs.
    """
    if "stream" in relations:
        return reach(relations["stream"])
    if "cross" not in relations:
        return reach(relations["source_self"])
    source = reach_source(relations["source_self"], relations["target_self"], relations["cross"])
    return torch.cat([source, reach(relations["target_self"])], dim=-1)


def outside(influence: Tensor, allowed: Tensor) -> Tensor:
    """Measured influence where the relations allow none: a fault of the program wherever it is not zero."""
    return influence.masked_fill(allowed, 0.0)
