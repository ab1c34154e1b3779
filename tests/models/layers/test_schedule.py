"""The measured derivative of random stacks is zero exactly where the graph has no path; streaming changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from models.analysis.receptive import PRESETS, Layer, contiguous, cycles, doubling, field, lengths, reach
from models.layers.schedule import ScheduleStack, measured_field, row_gradient
from tests.models.analysis.test_receptive import schedules


@settings(max_examples=60)
@given(schedules(), some.integers(1, 24), some.integers(0, 9))
def test_reachability_is_the_pattern_of_the_derivative(
    layers: tuple[Layer, ...], rows: int, seed: int
) -> None:
    structural = reach(layers, rows)
    for output in range(len(structural)):
        measured = measured_field(layers, rows, output, seed).numpy()
        assert np.array_equal(measured > 0, structural[output])


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_measured_as_derived(name: str) -> None:
    layers = PRESETS[name]
    rows = min(1_100, 2 * field(layers).span)
    output = lengths(layers, rows)[-1] - 1
    measured = measured_field(layers, rows, output).numpy()
    assert np.array_equal(measured > 0, reach(layers, rows)[output])


def test_the_deepest_and_widest_stack_does_not_underflow() -> None:
    layers = contiguous(40, 64)
    assert measured_field(layers, 2_600, 2_599).gt(0).sum() == 40 * 63 + 1


def test_the_derivative_by_hand() -> None:
    weights = torch.tensor([[2.0, 0.0], [3.0, 1.0]]).double()

    def mixed(rows: torch.Tensor) -> torch.Tensor:
        return weights @ rows

    found = row_gradient(mixed, torch.randn(2, 5).double(), 1)
    torch.testing.assert_close(found, torch.tensor([3.0, 1.0]).double() * 5**0.5)


@pytest.mark.parametrize("layers", [contiguous(3, 4), doubling(5, 2), cycles(2, 8), (Layer(1), Layer(3, 5))])
def test_streaming_from_buffers_is_the_pass_over_all_rows(layers: tuple[Layer, ...]) -> None:
    stack = ScheduleStack(layers, channels=3)
    rows = torch.randn(2, 21, 3, dtype=torch.float64)
    torch.testing.assert_close(stack.stream(rows), stack(rows), rtol=0, atol=1e-14)
    kept = [buffer.shape[1] for buffer in stack.buffers_like(rows)]
    assert kept == [(layer.width - 1) * layer.dilation for layer in layers]


@pytest.mark.parametrize("layer", [Layer(3, causal=False), Layer(2, stride=2)])
def test_a_layer_that_needs_later_rows_or_skips_some_does_not_stream(layer: Layer) -> None:
    stack = ScheduleStack([layer])
    with pytest.raises(ValueError, match="causal layers of stride 1"):
        stack.stream(torch.zeros(1, 4, 4, dtype=torch.float64))
