"""Maxout and the tied table."""

from __future__ import annotations

import torch

from models.layers.readout import DeepOutput, TiedOutput, embedding, maxout


def test_maxout_takes_the_larger_neighbour() -> None:
    assert maxout(torch.tensor([[1.0, 5.0, -2.0, -3.0]])).tolist() == [[5.0, -2.0]]


def test_deep_output_is_maxout_of_one_linear_map_of_its_parts() -> None:
    torch.manual_seed(0)
    module, one, other = DeepOutput(5, 3), torch.randn(2, 2), torch.randn(2, 3)
    by_hand = (
        (torch.cat([one, other], -1) @ module.linear.weight.T + module.linear.bias).view(2, 3, 2).amax(-1)
    )
    torch.testing.assert_close(module(one, other), by_hand)


def test_output_and_embedding_are_one_parameter() -> None:
    table = embedding(7, 4)
    output = TiedOutput(table)
    output(table(torch.tensor([3]))).sum().backward()
    assert output.table.weight is table.weight
    assert table.weight.grad is not None
    assert table.weight.grad.abs().sum(1).gt(0).all()
    assert abs(float(table.weight.detach().norm(dim=1).mean()) - 1) < 0.6
