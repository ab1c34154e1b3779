"""Visibility relations: True may read."""

from __future__ import annotations

import pytest
import torch

from models.layers.visibility import EmptyRowError, causal, check_rows, keys


def test_causal_rows_read_themselves_and_the_past() -> None:
    seen = causal(5)
    assert seen.sum() == 15
    assert all(seen[t].nonzero().flatten().tolist() == list(range(t + 1)) for t in range(5))


def test_key_validity_broadcasts_over_heads_and_query_rows() -> None:
    valid = torch.tensor([[True, True, False]])
    assert keys(valid).shape == (1, 1, 1, 3)
    assert keys(valid).expand(1, 2, 4, 3).sum() == 16


def test_the_first_empty_row_is_named() -> None:
    visible = torch.ones(2, 3, 4, dtype=torch.bool)
    check_rows(visible)
    visible[1, 2] = False
    with pytest.raises(EmptyRowError, match=r"Query row \[1, 2\] has no visible key"):
        check_rows(visible)
