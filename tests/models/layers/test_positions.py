"""Sinusoidal positions against the Annotated Transformer's table."""

from __future__ import annotations

import torch

from models.layers.positions import sinusoid
from tests.models.golden import case


def test_table_is_the_papers_and_interleaved() -> None:
    c = case("06_sinusoidal")
    c.check("interleaved", sinusoid(12, 8))


def test_table_is_not_the_one_in_halves() -> None:
    """tensor2tensor's frequencies have another denominator, so no order of its channels gives the paper's table."""
    c = case("06_sinusoidal")
    ours, halves = sinusoid(12, 8).T, c["t2t_halves"].T
    nearest = (ours.unsqueeze(1) - halves.unsqueeze(0)).abs().amax(-1).amin(-1)
    assert nearest.max() > 0.1


def test_an_offset_table_is_the_tail_of_a_longer_one() -> None:
    torch.testing.assert_close(sinusoid(3, 6, offset=4), sinusoid(7, 6)[4:], rtol=0, atol=0)


def test_odd_widths_keep_their_last_sine() -> None:
    table = sinusoid(5, 7)
    assert table.shape == (5, 7)
    torch.testing.assert_close(table[:, 6], torch.sin(torch.arange(5).double() / 10000 ** (6 / 7)))
    assert table[0].tolist() == [0, 1, 0, 1, 0, 1, 0]
