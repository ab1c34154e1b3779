"""One causal stream: unequal prompts in one cache, positions, and what a plain prompt sees."""

from __future__ import annotations

import pytest
import torch

from models.catalog import entry
from models.interface import Rows
from models.layers.visibility import causal
from models.systems.gpt import GPT, Config
from tests.models.small import small, source, target


def system() -> GPT:
    found = small(entry("gpt"))
    assert isinstance(found, GPT)
    return found


def test_a_cache_of_unequal_prompts_equals_each_prompt_alone() -> None:
    gpt, rows, tokens = system(), source(7, 2, 4), target(5, 5, 5)
    state, alone = gpt.read(rows), [gpt.read(Rows(rows.ids[b : b + 1, :n], rows.valid[b : b + 1, :n]))
                                    for b, n in enumerate((7, 2, 4))]  # fmt: skip
    for token in tokens.T:
        together = gpt.step(state, token)
        for b in range(3):
            one = gpt.step(alone[b], token[b : b + 1])
            torch.testing.assert_close(together.logits[b], one.logits[0], rtol=0, atol=1e-11)
            alone[b] = one.state
        state = together.state
    assert state.valid.sum(dim=1).tolist() == [12, 7, 9]
    assert state.keys[0].shape[2] == 12


def test_every_row_of_the_stream_reads_itself_and_the_past_alone() -> None:
    gpt, rows, tokens = system(), source(3), target(4)
    seen = gpt.visibility(rows, tokens)["stream"]
    assert torch.equal(seen[0], causal(7))
    for layer in gpt.reads(gpt.score(rows, tokens).trace)["stream"]:
        assert layer.weights.shape == (1, 2, 7, 7)
        assert layer.weights.triu(1).eq(0).all()
        assert layer.weights[..., 6, :].gt(0).all()


def test_a_padded_request_is_contiguous_in_its_relation() -> None:
    seen = system().visibility(source(2, 3), target(2, 2))["stream"]
    assert seen[0].any(dim=0).tolist() == [True] * 4 + [False]
    assert seen[1].any(dim=0).tolist() == [True] * 5


def test_a_stream_beyond_the_position_table_is_told() -> None:
    gpt = GPT(Config(48, 8, 2, 12, 1, positions=6)).eval()
    gpt.score(source(3), target(3))
    with pytest.raises(ValueError, match="more than 6 rows"):
        gpt.score(source(3), target(4))
    state = gpt.read(source(6))
    with pytest.raises(ValueError, match="more than 6 rows"):
        gpt.step(state, torch.tensor([1]))


def test_the_cache_grows_by_one_row_a_layer() -> None:
    gpt = system()
    state = gpt.read(source(4))
    after = gpt.step(state, torch.tensor([1])).state
    assert (
        after.nbytes - state.nbytes == 2 * 2 * 8 * 8 + 1
    )  # layers x (key, value) x d_model x float64, and its mark
