"""Transformer layers against torch's, post-norm and pre-norm, and the Annotated Transformer with its embeddings."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from models.interface import Rows
from models.layers.attention import MultiHeadAttention
from models.layers.blocks import CrossLayer, FeedForward, Order, SelfLayer, Style
from models.layers.visibility import causal
from models.systems.transformer import Config, Transformer
from tests.models.golden import Case, case, fill, wrong_conventions


def torch_attention(c: Case, prefix: str, module: MultiHeadAttention) -> None:
    W, b = c[f"{prefix}.in_proj_weight"].chunk(3), c[f"{prefix}.in_proj_bias"].chunk(3)
    for i, name in enumerate(("query", "key", "value")):
        fill(module, **{f"{name}__weight": W[i], f"{name}__bias": b[i]})
    fill(module, output__weight=c[f"{prefix}.out_proj.weight"], output__bias=c[f"{prefix}.out_proj.bias"])


def torch_rest(c: Case, prefix: str, layer: SelfLayer | CrossLayer) -> None:
    for ours, theirs in (("0", "linear1"), ("2", "linear2")):
        fill(layer.feedforward, **{f"{ours}__{p}": c[f"{prefix}.{theirs}.{p}"] for p in ("weight", "bias")})
    for i, norm in enumerate(layer.norms):
        fill(norm, weight=c[f"{prefix}.norm{i + 1}.weight"], bias=c[f"{prefix}.norm{i + 1}.bias"])


def style(c: Case, order: Order) -> Style:
    facts = c.meta["config"]
    return Style(c["src"].shape[-1], facts["heads"], facts["ff"], 0.0, order)


def encoder_layer(c: Case, i: int, order: Order = "post") -> SelfLayer:
    layer = SelfLayer(style(c, order)).double()
    torch_attention(c, f"encoder.layers.{i}.self_attn", layer.attention)
    torch_rest(c, f"encoder.layers.{i}", layer)
    return layer


def decoder_layer(c: Case, i: int, order: Order = "post") -> CrossLayer:
    layer = CrossLayer(style(c, order)).double()
    torch_attention(c, f"decoder.layers.{i}.self_attn", layer.attention)
    torch_attention(c, f"decoder.layers.{i}.multihead_attn", layer.cross)
    torch_rest(c, f"decoder.layers.{i}", layer)
    return layer


def final_norm(c: Case, stack: str) -> nn.LayerNorm:
    """nn.Transformer adds one after each stack, even post-norm; Vaswani et al. 2017 has none there."""
    norm = nn.LayerNorm(c["src"].shape[-1]).double()
    fill(norm, weight=c[f"{stack}.norm.weight"], bias=c[f"{stack}.norm.bias"])
    return norm


def source_visible(c: Case) -> Tensor:
    return ~c["src_pad"].bool()[:, None, None, :]


def target_visible(c: Case) -> Tensor:
    """Their target has padding inside the mask too: (B, 1, T, T)."""
    return causal(c["tgt"].shape[1]) & ~c["tgt_pad"].bool()[:, None, None, :]


def check_stacks(c: Case, order: Order) -> Tensor:
    """Both stacks, every layer against theirs; returns the rows before the encoder's last norm."""
    x, y = c["src"], c["tgt"]
    for i in range(c.meta["config"]["enc_layers"]):
        x, trace, _ = encoder_layer(c, i, order)(x, source_visible(c))
        c.check(f"enc_layer{i}_attn", trace.weights)
        c.check(f"enc_layer{i}_out", x)
    memory = final_norm(c, "encoder")(x)
    c.check("memory", memory)
    for i in range(c.meta["config"]["dec_layers"]):
        layer = decoder_layer(c, i, order)
        kept = layer.cross.keys_values(memory)
        y, target, cross, _ = layer(y, None, kept, target_visible(c), source_visible(c))
        c.check(f"dec_layer{i}_self_attn", target.weights)
        c.check(f"dec_layer{i}_cross_attn", cross.weights)
        c.check(f"dec_layer{i}_out", y)
    c.check("output", final_norm(c, "decoder")(y))
    return x


def test_post_norm_layers_equal_torch() -> None:
    c = case("06_transformer_postnorm_torch")
    error = float((check_stacks(c, "post") - c["memory"]).detach().abs().max())
    name = "post-norm without the extra final encoder LayerNorm"
    assert error == pytest.approx(wrong_conventions()[name], rel=1e-4)


def test_pre_norm_layers_equal_torch() -> None:
    check_stacks(case("06_transformer_prenorm_torch"), "pre")


# ---- the Annotated Transformer: pre-norm, and a LayerNorm of its own


def harvard_norm(c: Case, prefix: str, x: Tensor) -> Tensor:
    """Standard deviation with n - 1, epsilon added outside the root."""
    scaled = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)
    return c[f"{prefix}.a_2"] * scaled + c[f"{prefix}.b_2"]


def harvard_attention(c: Case, prefix: str) -> MultiHeadAttention:
    module = MultiHeadAttention(8, 2).double()
    for i, name in enumerate(("query", "key", "value", "output")):
        fill(module, **{f"{name}__{p}": c[f"{prefix}.linears.{i}.{p}"] for p in ("weight", "bias")})
    return module


def harvard_feedforward(c: Case, prefix: str) -> FeedForward:
    module = FeedForward(8, 12).double()
    for ours, theirs in (("0", "w_1"), ("2", "w_2")):
        fill(module, **{f"{ours}__{p}": c[f"{prefix}.{theirs}.{p}"] for p in ("weight", "bias")})
    return module


def harvard_encoder(c: Case, x: Tensor) -> Tensor:
    visible = c["src_mask"].bool().unsqueeze(1)
    for i in range(2):
        prefix = f"encoder.layers.{i}"
        module, rows = (
            harvard_attention(c, f"{prefix}.self_attn"),
            harvard_norm(c, f"{prefix}.sublayer.0.norm", x),
        )
        x = x + module(rows, *module.keys_values(rows), visible)[0]
        rows = harvard_norm(c, f"{prefix}.sublayer.1.norm", x)
        x = x + harvard_feedforward(c, f"{prefix}.feed_forward")(rows)
    return harvard_norm(c, "encoder.norm", x)


def harvard_decoder(c: Case, y: Tensor, memory: Tensor) -> Tensor:
    for i in range(2):
        prefix = f"decoder.layers.{i}"
        norms = [f"{prefix}.sublayer.{n}.norm" for n in range(3)]
        own, cross = (harvard_attention(c, f"{prefix}.{k}") for k in ("self_attn", "src_attn"))
        rows = harvard_norm(c, norms[0], y)
        read, trace = own(rows, *own.keys_values(rows), c["tgt_mask"].bool().unsqueeze(1))
        c.check(f"dec{i}_self_attn", trace.weights)
        y = y + read
        read, trace = cross(
            harvard_norm(c, norms[1], y), *cross.keys_values(memory), c["src_mask"].bool().unsqueeze(1)
        )
        c.check(f"dec{i}_src_attn", trace.weights)
        y = y + read
        y = y + harvard_feedforward(c, f"{prefix}.feed_forward")(harvard_norm(c, norms[2], y))
    return harvard_norm(c, "decoder.norm", y)


def test_embeddings_positions_and_reads_equal_the_annotated_transformer() -> None:
    c = case("06_annotated_transformer")
    system = Transformer(Config(9, 8, 2, 12, 1, dropout=0.0)).double()
    x = system.place(c["src_embed.0.lut.weight"][c["src"]])
    c.check("src_state", x)
    memory = harvard_encoder(c, x)
    c.check("memory", memory)
    hidden = harvard_decoder(c, system.place(c["tgt_embed.0.lut.weight"][c["tgt"]]), memory)
    c.check("decoder_hidden", hidden)
    logits = hidden @ c["generator.proj.weight"].T + c["generator.proj.bias"]
    c.check("log_probs", torch.log_softmax(logits, dim=-1))


# ---- the whole system


def small() -> Transformer:
    torch.manual_seed(0)
    return Transformer(Config(40, 8, 2, 12, 2, dropout=0.0)).double().eval()


def test_three_read_relations_go_by_name() -> None:
    valid = torch.tensor([[True, True, True, False]])
    source = Rows(torch.tensor([[7, 8, 2, 0]]), valid)
    seen = small().visibility(source, torch.tensor([[1, 9, 10]]))
    assert seen["source_self"].tolist() == [[[True, True, True, False]] * 4]
    assert seen["cross"].tolist() == [[[True, True, True, False]] * 3]
    assert torch.equal(seen["target_self"][0], causal(3))


def test_attended_rows_of_each_relation() -> None:
    source = Rows(torch.tensor([[7, 8, 2, 0]]), torch.tensor([[True, True, True, False]]))
    trace = small().score(source, torch.tensor([[1, 9, 10]])).trace
    for layer in range(2):
        assert trace.encoder[layer].weights.shape == (1, 2, 4, 4)
        assert trace.encoder[layer].weights[..., 3].eq(0).all()
        assert trace.target[layer].weights.triu(1).eq(0).all()
        assert trace.cross[layer].weights.shape == (1, 2, 3, 4)
        assert trace.cross[layer].weights[..., 3].eq(0).all()


def test_alignment_is_the_mean_of_heads_or_one_head_of_one_layer() -> None:
    system = small()
    source = Rows(torch.tensor([[7, 8, 2]]), torch.ones(1, 3, dtype=torch.bool))
    trace = system.score(source, torch.tensor([[1, 9]])).trace
    torch.testing.assert_close(system.alignment(trace), trace.cross[1].weights.mean(1))
    torch.testing.assert_close(system.alignment(trace, layer=0, head=1), trace.cross[0].weights[:, 1])
    stepped = system.step(system.read(source), torch.tensor([1]))
    torch.testing.assert_close(system.alignment(stepped.trace), system.alignment(trace)[:, 0])


def test_the_cache_grows_by_one_row_a_layer_and_step_and_the_memory_does_not() -> None:
    system = small()
    source = Rows(torch.tensor([[7, 8, 2]]), torch.ones(1, 3, dtype=torch.bool))
    state = system.read(source)
    sizes = []
    for token in (1, 9, 10):
        after = system.step(state, torch.tensor([token])).state
        sizes.append(after.nbytes - state.nbytes)
        assert all(a is b for a, b in zip(after.memory_keys, state.memory_keys, strict=True))
        state = after
    assert sizes == [2 * 2 * 8 * 8] * 3  # layers x (key, value) x d_model x float64
