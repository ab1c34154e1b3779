"""A thousand random relations: weights are zero outside, rows sum to one, no NaN, influence stays inside reach."""

from __future__ import annotations

import pytest
import torch

from models.analysis.influence import jacobian_norms
from models.analysis.reachability import reach
from models.interface import Rows
from models.layers.attention import normalise
from models.layers.visibility import EmptyRowError, arbitrary, global_rows, packed, prefix, queries, window
from models.systems.bert import BERT, Config

MASKS = 1000


def random_relation(generator: torch.Generator, rows: int, columns: int) -> torch.Tensor:
    """Any density; every row keeps at least one column."""
    density = torch.rand((), generator=generator)
    relation = torch.rand(rows, columns, generator=generator) < density
    relation[torch.arange(rows), torch.randint(columns, (rows,), generator=generator)] = True
    return relation


def test_a_thousand_random_relations_keep_the_softmax_whole() -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(MASKS):
        rows, columns = (int(n) for n in torch.randint(1, 9, (2,), generator=generator))
        relation = random_relation(generator, rows, columns)
        scores = torch.randn(2, rows, columns, generator=generator).double() * 30
        weights = normalise(scores, relation)
        assert torch.isfinite(weights).all()
        assert weights[:, ~relation].eq(0).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, rows).double(), rtol=0, atol=1e-12)


def test_influence_stays_inside_what_random_relations_reach() -> None:
    """Every tenth of them on a real stack of two layers, its derivative exact."""
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(0)
    system = BERT(
        Config(vocab_size=40, d_model=4, n_heads=2, d_feedforward=6, n_layers=2, positions=8, dropout=0.0)
    )
    system = system.double().eval().requires_grad_(False)
    outside = 0
    for _ in range(MASKS // 10):
        layers = torch.stack([random_relation(generator, 5, 5) for _ in range(2)])
        vectors = torch.randn(5, 4, generator=generator).double()

        def states(given: torch.Tensor, layers: torch.Tensor = layers) -> torch.Tensor:
            ids = torch.zeros(given.shape[:2], dtype=torch.long)
            rows = Rows(ids, torch.ones_like(ids, dtype=torch.bool), given)
            return system.states(rows, masks={"source_self": layers}).states

        found, reached = jacobian_norms(states, vectors, None), reach(list(layers))
        assert torch.isfinite(found).all()
        assert found[~reached].eq(0).all()
        assert found[reached].gt(0).all()
        outside += int((~reached).sum())
    assert outside > 100  # the property was really tried


def test_a_row_that_may_read_nothing_is_an_error_or_by_choice_zero() -> None:
    scores, relation = torch.randn(1, 3, 4), torch.ones(3, 4, dtype=torch.bool)
    relation[1] = False
    with pytest.raises(EmptyRowError, match=r"Query row \[1\]"):
        normalise(scores, relation)
    weights = normalise(scores, relation, empty="zero")
    assert weights[0, 1].eq(0).all()
    torch.testing.assert_close(weights.sum(-1), torch.tensor([[1.0, 0.0, 1.0]]))


def test_relations_by_hand() -> None:
    assert window(5, 1).int().sum(1).tolist() == [
        2,
        3,
        3,
        3,
        2,
    ]  # 13 edges of at most T (2 r + 1) = 15 (0x0C.2)
    assert window(9, 2).sum() == 39
    assert window(4, 7).sum() == 16
    assert prefix(4, 2).int().tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert global_rows(4, [1]).int().tolist() == [[0, 1, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0]]
    assert packed(torch.tensor([1, 1, 2])).int().tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert arbitrary([[0, 2], [1, 0]]).tolist() == [[False, True], [True, False]]
    assert queries(torch.tensor([[True, False]])).shape == (1, 1, 2, 1)
    for wrong in (
        lambda: window(3, -1),
        lambda: prefix(3, 4),
        lambda: global_rows(3, [3]),
        lambda: arbitrary(torch.ones(3)),
    ):
        with pytest.raises(ValueError, match=r"negative|fit|between|rows and columns"):
            wrong()
