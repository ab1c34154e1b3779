"""Scores, weights and contexts against Joey NMT, Keras, OpenNMT, TensorFlow Addons and the article (0x02E, 0x04C)."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from models.layers.attention import (
    MultiHeadAttention,
    additive_score,
    concat_score,
    dot_score,
    gaussian,
    general_score,
    location_score,
    mix,
    normalise,
    predicted_centre,
    window,
)
from models.layers.visibility import EmptyRowError
from models.systems.rnn_search import AdditiveAttention
from tests.models.golden import Case, article, case, check_article, fill, inputs, names, wrong_conventions


def valid_rows(lengths: Tensor, width: int) -> Tensor:
    return torch.arange(width) < lengths.unsqueeze(1)


def additive(W: Tensor, b: Tensor, U: Tensor, v: Tensor) -> AdditiveAttention:
    module = AdditiveAttention(W.shape[1], U.shape[1], v.numel()).double()
    fill(module, W__weight=W, W__bias=b, U__weight=U, v=v)
    return module


def test_additive_attention_equals_joeynmt() -> None:
    c = case("01_additive_attention_joeynmt")
    module = additive(c["W_query"], torch.zeros(5).double(), c["W_key"], c["v_energy"][0])
    query, keys = c["query"][:, 0], module.U(c["values"])
    c.check("proj_keys", keys)
    read = module(query, keys, c["values"], c["mask"])
    c.check("scores_unmasked", read.scores)
    c.check("alpha", read.weights.unsqueeze(1))
    c.check("context", read.context.unsqueeze(1))
    assert read.weights[~c["mask"]].eq(0).all()


def test_a_dropped_source_mask_would_be_seen() -> None:
    c = case("01_additive_attention_joeynmt")
    module = additive(c["W_query"], torch.zeros(5).double(), c["W_key"], c["v_energy"][0])
    everything = torch.ones_like(c["mask"])
    read = module(c["query"][:, 0], module.U(c["values"]), c["values"], everything)
    error = max(
        float((read.weights.unsqueeze(1) - c["alpha"]).detach().abs().max()),
        float((read.context.unsqueeze(1) - c["context"]).detach().abs().max()),
    )
    assert wrong_conventions()["source mask dropped (additive)"] > 0.01
    assert error > 0.01


@pytest.mark.parametrize("name", names("01_additive_attention_keras"))
def test_additive_score_equals_keras(name: str) -> None:
    """Keras gives -1e9, not minus infinity, to a masked score, and zeroes the output of a masked query row."""
    c = case(name)
    for t in range(c["query"].shape[1]):
        weights = normalise(additive_score(c["query"][:, t], c["key"], c["scale"]), c["value_mask"])
        c.same(weights, c["alpha"][:, t])
        kept = mix(weights, c["value"]) * c["query_mask"][:, t : t + 1]
        c.same(kept, c["output"][:, t])


@pytest.mark.parametrize("name", names("01_additive_attention_onmt_mlp"))
def test_additive_attention_equals_opennmt(name: str) -> None:
    """OpenNMT adds a projection of [context ; query] without tanh after its additive read."""
    c = case(name)
    module = additive(c["W_query"], c["b_query"], c["W_context"], c["v"][0])
    valid, keys = valid_rows(c["src_len"], c["memory"].shape[1]), module.U(c["memory"])
    for t in range(c["query"].shape[1]):
        read = module(c["query"][:, t], keys, c["memory"], valid)
        c.same(read.scores, c["scores_unmasked"][:, t])
        c.same(read.weights, c["alpha"][:, t])
        after = F.linear(torch.cat([read.context, c["query"][:, t]], dim=-1), c["W_out"], c["b_out"])
        c.same(after, c["attn_h"][:, t])


@pytest.mark.parametrize("name", names("01_additive_attention_tfa"))
def test_additive_attention_equals_tensorflow_addons(name: str) -> None:
    """With normalize=True, TensorFlow's v is g v / |v| and a bias enters the tanh."""
    c = case(name)
    v, b = c["attention_v"], torch.zeros_like(c["attention_v"])
    if "attention_g" in c:
        v, b = c["attention_g"] * v / v.norm(), c["attention_b"]
    module = additive(c["W_query"].T, b, c["W_memory"].T, v)
    valid = valid_rows(c["lengths"], c["memory"].shape[1])
    read = module(c["query"], module.U(c["memory"]), c["memory"], valid)
    c.same(module.U(c["memory"]), c["keys"], valid)
    c.check("alignments", read.weights)
    c.same(read.context, mix(c["alignments"], c["masked_values"]))


def onmt_read(c: Case, score: Tensor, t: int) -> None:
    valid = valid_rows(c["src_len"], c["memory"].shape[1])
    weights = normalise(score, valid)
    c.same(score, c["scores_unmasked"][:, t])
    c.same(weights, c["alpha"][:, t])
    both = torch.cat([mix(weights, c["memory"]), c["query"][:, t]], dim=-1)
    c.same(torch.tanh(F.linear(both, c["W_out"])), c["attn_h"][:, t])


def test_dot_score_equals_opennmt() -> None:
    c = case("02_luong_dot_onmt")
    for t, query in enumerate(c["query"].unbind(1)):
        onmt_read(c, dot_score(query, c["memory"]), t)


@pytest.mark.parametrize("name", names("02_luong_general_onmt"))
def test_general_score_equals_opennmt(name: str) -> None:
    """OpenNMT writes (W q) . h, so its matrix is the transpose of the one in q W_a h."""
    c = case(name)
    for t, query in enumerate(c["query"].unbind(1)):
        onmt_read(c, general_score(query, c["memory"], c["W_in"].T), t)


@pytest.mark.parametrize("name", names("02_luong_general_tfa"))
def test_general_score_equals_tensorflow_addons(name: str) -> None:
    c = case(name)
    scores = general_score(c["query"], c["memory"], c["W_memory"].T)
    if "attention_g" in c:
        scores = scores * c["attention_g"]
    valid = valid_rows(c["lengths"], c["memory"].shape[1])
    c.check("alignments", normalise(scores, valid))


@pytest.mark.parametrize("t", [1, 2, 3])
def test_synthetic_reads_of_the_article(t: int) -> None:
    given = inputs(f"synthetic_read_c{t}")
    check_article(f"synthetic_read_c{t}", mix(given["alpha"].unsqueeze(0), given["H"].unsqueeze(0))[0])
    check_article(f"alpha_{t}_sums_to_one", inputs(f"alpha_{t}_sums_to_one")["alpha"].sum())


def test_fixed_context_of_the_article_is_the_last_row_and_the_first_read_is_a_sum() -> None:
    H = inputs("fixed_context_is_last_row")["H"]
    last = F.one_hot(torch.tensor([len(H) - 1]), len(H)).double()
    check_article("fixed_context_is_last_row", mix(last, H.unsqueeze(0))[0])
    terms = inputs("first_read_first_channel")["terms"]
    check_article("first_read_first_channel", mix(terms[None, :, 0], terms[None, :, 1:])[0, 0])


def test_numeric_read_of_the_article() -> None:
    given = inputs("numeric_read_context")
    H, q = given["H"].unsqueeze(0), given["q"].unsqueeze(0)
    scores = dot_score(q, H)
    weights = normalise(scores, torch.ones(1, 4, dtype=torch.bool))
    check_article("numeric_read_scores", scores[0])
    check_article("numeric_read_weights", weights[0])
    check_article("numeric_read_context", mix(weights, H)[0])


def test_derivative_of_the_context_is_weight_times_difference() -> None:
    """0x04D: d c / d e_i = alpha_i (h_i - c)."""
    given = inputs("dcontext_dscore")
    H, everything = given["H"].unsqueeze(0), torch.ones(1, 4, dtype=torch.bool)

    def context(scores: Tensor) -> Tensor:
        return mix(normalise(scores.unsqueeze(0), everything), H)[0]

    slope = torch.autograd.functional.jacobian(context, given["scores"])  # (d, S)
    check_article("dcontext_dscore", slope.T)
    weights = normalise(given["scores"].unsqueeze(0), everything)[0]
    by_hand = weights.unsqueeze(-1) * (given["H"] - context(given["scores"]))
    torch.testing.assert_close(slope.T, by_hand)


def test_shapes_of_the_article() -> None:
    """0x04I: H [B, T_x, d_h] -> joint [B, T_x, d_a] -> scores [B, T_x] -> context [B, d_h]."""
    entry = article()["cross_attention_shapes"]
    B, Tx, d_h, d_a = (entry["inputs"][k] for k in ("B", "Tx", "d_h", "d_a"))
    module, H = AdditiveAttention(7, d_h, d_a), torch.randn(B, Tx, d_h)
    query, keys = torch.randn(B, 7), module.U(H)
    read = module(query, keys, H, torch.ones(B, Tx, dtype=torch.bool))
    found = {
        "H": H,
        "joint": module.W(query).unsqueeze(1) + keys,
        "scores": read.scores,
        "context": read.context,
    }
    assert {k: list(v.shape) for k, v in found.items()} == entry["expected"]


def test_linear_concat_weights_do_not_depend_on_the_query() -> None:
    torch.manual_seed(2)
    key, w = torch.randn(3, 5, 4).double(), torch.randn(10).double()
    valid = valid_rows(torch.tensor([5, 3, 1]), 5)
    one, other = torch.randn(2, 3, 6).double()
    first, second = concat_score(one, key, w), concat_score(other, key, w)
    assert (first - second).abs().min() > 1e-3
    torch.testing.assert_close(normalise(first, valid), normalise(second, valid), rtol=0, atol=1e-12)
    by_hand = torch.stack([torch.cat([one[1], key[1, s]]) @ w for s in range(5)])
    torch.testing.assert_close(first[1], by_hand)


def test_location_score_reads_no_source_and_says_how_far_it_reaches() -> None:
    torch.manual_seed(3)
    query, W = torch.randn(2, 4).double(), torch.randn(6, 4).double()
    torch.testing.assert_close(location_score(query, W, 5), query @ W[:5].T)
    with pytest.raises(ValueError, match=r"6 source rows; this sentence has 7"):
        location_score(query, W, 7)


def test_softmax_has_no_mass_on_hidden_rows_and_no_value_over_nothing() -> None:
    visible = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    with pytest.raises(EmptyRowError, match=r"\[1\]"):
        normalise(torch.zeros(3, 3), visible)
    weights = normalise(torch.tensor([[1.0, 80.0, 2.0]]), visible[:1])
    assert weights[0, 1] == 0
    torch.testing.assert_close(weights.sum(), torch.tensor(1.0))


def test_window_is_centred_on_the_floor_and_clipped_to_the_sentence() -> None:
    valid = valid_rows(torch.tensor([6, 6, 4, 6]), 6)
    seen = window(torch.tensor([2.9, 0.2, 9.0, -3.0]), 1, valid)
    rows = [row.nonzero().flatten().tolist() for row in seen]
    assert rows == [[1, 2, 3], [0, 1], [2, 3], [0, 1]]


def test_gaussian_uses_the_real_centre_and_half_the_half_width() -> None:
    found = gaussian(torch.tensor([1.5]).double(), half_width=4, length=4)
    by_hand = torch.exp(-((torch.arange(4).double() - 1.5) ** 2) / (2 * 2.0**2))
    torch.testing.assert_close(found[0], by_hand)


def test_predicted_centre_lies_inside_the_sentence() -> None:
    torch.manual_seed(4)
    query, W, v = torch.randn(50, 4), torch.randn(4, 4), torch.randn(4)
    lengths = torch.full((50,), 9)
    centre = predicted_centre(query, W, v, lengths)
    torch.testing.assert_close(centre, 9 * torch.sigmoid(torch.tanh(query @ W.T) @ v))
    assert bool(((centre > 0) & (centre < 9)).all())
    assert centre.std() > 0.1


def test_heads_must_divide_the_model() -> None:
    with pytest.raises(ValueError, match="not a multiple"):
        MultiHeadAttention(10, 4)
