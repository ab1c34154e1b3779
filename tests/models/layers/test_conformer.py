"""The Conformer block against torchaudio and transformers, and what its routes can and cannot read."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from models.layers.conformer import ROUTES, ConformerBlock, Order, RelativeAttention, distances
from tests.models.golden import Case, case


def copy(found: Case, prefix: str, pairs: dict[str, Tensor | nn.Module]) -> None:
    """Their tensors into our parameters and running statistics; a module stands for all of its own."""
    with torch.no_grad():
        for theirs, ours in pairs.items():
            state = {"": ours} if isinstance(ours, Tensor) else ours.state_dict()
            for name, tensor in state.items():
                if name != "num_batches_tracked":
                    value = found[f"{prefix}{theirs}{'.' * bool(name)}{name}"]
                    tensor.copy_(value.reshape(tensor.shape))


def from_torchaudio(found: Case, layer: int, order: Order) -> ConformerBlock:
    prefix = f"p.conformer_layers.{layer}."
    d_feedforward, d_model = found[f"{prefix}ffn1.sequential.1.weight"].shape
    block = ConformerBlock(d_model, 2, d_feedforward, 3, order, relative=False).double().eval()
    copy(found, prefix, {
        "ffn1.sequential.0": block.norms["before"], "ffn1.sequential.1": block.before[0],
        "ffn1.sequential.4": block.before[2], "ffn2.sequential.0": block.norms["after"],
        "ffn2.sequential.1": block.after[0], "ffn2.sequential.4": block.after[2],
        "self_attn_layer_norm": block.norms["attention"], "self_attn.out_proj": block.attention.output,
        "conv_module.layer_norm": block.norms["convolution"], "conv_module.sequential.0": block.convolution.enter,
        "conv_module.sequential.2": block.convolution.taps, "conv_module.sequential.3": block.convolution.norm,
        "conv_module.sequential.5": block.convolution.leave, "final_layer_norm": block.last,
    })  # fmt: skip
    projections = (block.attention.query, block.attention.key, block.attention.value)
    parts = zip(
        *(found[f"{prefix}self_attn.in_proj_{kind}"].chunk(3) for kind in ("weight", "bias")), strict=True
    )
    with torch.no_grad():
        for ours, (weight, bias) in zip(projections, parts, strict=True):
            ours.weight.copy_(weight)
            ours.bias.copy_(bias)
    return block


def within(lengths: Tensor, rows: int) -> Tensor:
    return (torch.arange(rows) < lengths.unsqueeze(1))[:, None, None]


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("11_conformer_torchaudio", "attention first"),
        ("11_conformer_torchaudio_convfirst", "convolution first"),
    ],
)
def test_torchaudios_block_in_both_serial_orders(name: str, order: Order) -> None:
    found = case(name)
    x, layer = found["x"], 0
    while f"layer{layer}" in found:
        x, _ = from_torchaudio(found, layer, order)(x, within(found["lengths"], x.shape[1]))
        found.check(f"layer{layer}", x)
        layer += 1
    found.check("out", x)


def test_the_order_of_the_routes_matters() -> None:
    found = case("11_conformer_torchaudio_convfirst")
    visible = within(found["lengths"], found["x"].shape[1])
    x, _ = from_torchaudio(found, 0, "attention first")(found["x"], visible)
    assert (x - found["layer0"]).abs().max() > 1e-3


def test_transformers_block_with_relative_positions() -> None:
    found = case("11_conformer_hf_relative")
    valid, x = found["mask"], found["x"]
    block = ConformerBlock(8, 2, 12, 3, biases=False).double().eval()
    copy(found, "p.layers.0.", {
        "ffn1_layer_norm": block.norms["before"], "ffn1.intermediate_dense": block.before[0],
        "ffn1.output_dense": block.before[2], "ffn2_layer_norm": block.norms["after"],
        "ffn2.intermediate_dense": block.after[0], "ffn2.output_dense": block.after[2],
        "self_attn_layer_norm": block.norms["attention"], "self_attn.linear_q": block.attention.query,
        "self_attn.linear_k": block.attention.key, "self_attn.linear_v": block.attention.value,
        "self_attn.linear_out": block.attention.output, "self_attn.linear_pos": block.attention.distance,
        "self_attn.pos_bias_u": block.attention.content, "self_attn.pos_bias_v": block.attention.place,
        "conv_module.layer_norm": block.norms["convolution"], "conv_module.pointwise_conv1": block.convolution.enter,
        "conv_module.depthwise_conv": block.convolution.taps, "conv_module.batch_norm": block.convolution.norm,
        "conv_module.pointwise_conv2": block.convolution.leave, "final_layer_norm": block.last,
    })  # fmt: skip
    found.same(distances(x.shape[1], 8, x).unsqueeze(0), found["rel_pos"])
    y, _ = block(x.masked_fill(~valid.unsqueeze(-1), 0.0), valid[:, None, None])
    found.check("layer0", y)


def test_relative_scores_depend_on_the_distance_alone() -> None:
    torch.manual_seed(0)
    attention = RelativeAttention(8, 2).double()
    nn.init.normal_(attention.place)
    rows = torch.ones(1, 6, 8, dtype=torch.float64)  # one content everywhere: only places differ
    _, trace = attention.read(rows, torch.ones(1, 1, 6, 6, dtype=torch.bool))
    torch.testing.assert_close(trace.scores[..., 1:, 1:], trace.scores[..., :-1, :-1])
    assert trace.scores[0, 0, 0].std() > 1e-3


@pytest.mark.parametrize("order", list(ROUTES))
def test_what_a_row_reads_by_each_order(order: Order) -> None:
    torch.manual_seed(1)
    block = ConformerBlock(8, 2, 12, 3, order).double().eval()
    x = torch.randn(1, 9, 8, dtype=torch.float64, requires_grad=True)
    y, trace = block(x, torch.ones(1, 1, 1, 9, dtype=torch.bool))
    (slope,) = torch.autograd.grad(y[0, 4].square().sum(), x)
    read = (slope[0].abs().sum(-1) > 0).tolist()
    local = [abs(row - 4) <= 1 for row in range(9)]
    assert read == (local if order == "convolution only" else [True] * 9)
    assert (trace.attended is not None) == ("attention" in ROUTES[order])
    assert (trace.convolved is not None) == ("convolution" in ROUTES[order])


def test_parallel_routes_read_the_same_rows() -> None:
    torch.manual_seed(2)
    block = ConformerBlock(8, 2, 12, 3, "parallel").double().eval()
    x, visible = torch.randn(2, 5, 8, dtype=torch.float64), torch.ones(2, 1, 1, 5, dtype=torch.bool)
    _, before = block(x, visible)
    nn.init.normal_(block.attention.output.weight)  # another attention result
    _, after = block(x, visible)
    assert before.attended is not None and after.attended is not None and before.convolved is not None
    assert (before.attended - after.attended).abs().max() > 1e-3
    torch.testing.assert_close(before.convolved, after.convolved, rtol=0, atol=0)


def test_an_even_filter_is_refused() -> None:
    with pytest.raises(ValueError, match="odd width"):
        ConformerBlock(8, 2, 12, 4)
