"""Gradients against finite differences in float64, leave-one-out against encoding each shortened sentence alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.analysis.importance import gradients, leave_out
from models.catalog import entry
from models.interface import Rows, System
from models.training.tokenizer import BOS, EOS
from tests.models.small import ALIGNED, small, tokens

SOURCE, TARGET = [*tokens(4, 3), EOS], [*tokens(3, 7), EOS]
each_aligned = pytest.mark.parametrize("slug", ALIGNED)
STEP = 1e-6


def log_prob(system: System, vectors: torch.Tensor, t: int) -> float:
    """log p(TARGET[t]) with the embedded source given."""
    ids = torch.tensor([SOURCE])
    rows = Rows(ids, torch.ones_like(ids, dtype=torch.bool), vectors)
    logits = system.score(rows, torch.tensor([[BOS, *TARGET[:-1]]])).logits
    return float(torch.log_softmax(logits[0, t], -1)[TARGET[t]])


@each_aligned
def test_gradients_agree_with_finite_differences(slug: str) -> None:
    system, t = small(entry(slug)), 2
    vectors = system.source_table()(torch.tensor([SOURCE]))
    found = gradients(system, SOURCE, TARGET, [0, t])
    slopes = np.zeros(vectors.shape[1:])
    for j, k in np.ndindex(slopes.shape):
        moved = torch.zeros_like(vectors)
        moved[0, j, k] = STEP
        slopes[j, k] = (log_prob(system, vectors + moved, t) - log_prob(system, vectors - moved, t)) / (
            2 * STEP
        )
    assert np.abs(slopes).max() > 1e-4
    assert found.norm[1] == pytest.approx(np.linalg.norm(slopes, axis=1), abs=1e-7)
    assert found.times_input[1] == pytest.approx((slopes * vectors[0].numpy()).sum(1), abs=1e-7)


@each_aligned
def test_leave_out_agrees_with_encoding_each_shortened_sentence_alone(slug: str) -> None:
    system = small(entry(slug))
    groups = [[0], [2, 3], [4], [1]]
    found = leave_out(system, SOURCE, TARGET, [1, 3], groups)
    whole = torch.tensor([SOURCE])
    for g, group in enumerate(groups):
        left = torch.tensor([[token for j, token in enumerate(SOURCE) if j not in group]])
        for n, t in enumerate([1, 3]):
            before, after = _distribution(system, whole, t), _distribution(system, left, t)
            assert found.total_variation[n, g] == pytest.approx(
                float((before - after).abs().sum()) / 2, abs=1e-9
            )
            drop = float(before[TARGET[t]].log() - after[TARGET[t]].log())
            assert found.log_prob_drop[n, g] == pytest.approx(drop, abs=1e-9)


def _distribution(system: System, ids: torch.Tensor, t: int) -> torch.Tensor:
    rows = Rows(ids, torch.ones_like(ids, dtype=torch.bool))
    return torch.softmax(system.score(rows, torch.tensor([[BOS, *TARGET[:-1]]])).logits[0, t], -1)


def test_a_shared_system_keeps_no_gradients_even_inside_inference_mode() -> None:
    system = small(entry("rnn_search"))
    with torch.inference_mode():
        inside = gradients(system, SOURCE, TARGET, [1])
    assert np.array_equal(inside.norm, gradients(system, SOURCE, TARGET, [1]).norm)
    assert all(p.grad is None and not p.requires_grad for p in system.parameters())


def test_leaving_everything_out_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves nothing to read"):
        leave_out(small(entry("luong")), SOURCE, TARGET, [0], [range(len(SOURCE))])
