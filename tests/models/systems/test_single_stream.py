"""Packing source and target into one contiguous stream a request."""

from __future__ import annotations

import torch

from models.systems.single_stream import pack


def test_each_request_is_contiguous_and_padding_stands_at_its_end() -> None:
    source = torch.tensor([[[1.0], [2.0], [3.0]], [[4.0], [0.0], [0.0]]])
    valid = torch.tensor([[True, True, True], [True, False, False]])
    target = torch.tensor([[[7.0], [8.0]], [[9.0], [6.0]]])
    stream = pack(source, valid, target)
    assert stream.vectors[0, :, 0].tolist() == [1, 2, 3, 7, 8]
    assert stream.vectors[1, :3, 0].tolist() == [4, 9, 6]
    assert stream.valid.tolist() == [[True] * 5, [True, True, True, False, False]]
    assert stream.prefix.tolist() == [3, 1]
    assert torch.equal(stream.target_rows(stream.vectors), target)
