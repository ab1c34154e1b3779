"""The meter: operations against torch's and fvcore's counts, and what a timeline says of its calls."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from models.execution.calls import Counter, Facts, Meter, Share, Streams, measure
from models.layers.blocks import CrossLayer, SelfLayer, Style
from models.layers.recurrence import GRUCell, run_gru
from tests.models.golden import GOLDEN

CASES = json.loads((GOLDEN / "15_flops" / "cases.json").read_text(encoding="utf-8"))["cases"]


def flops(work: Callable[[], Any]) -> int:
    with torch.inference_mode(), Counter() as counter:
        work()
    return counter.total


def encoder(c: dict[str, int]) -> int:
    layer = SelfLayer(Style(c["d"], c["h"], c["ff"], 0.0)).eval()
    return flops(lambda: layer(torch.randn(c["B"], c["T"], c["d"]), torch.ones(c["T"], c["T"]).bool()))


def decoder(c: dict[str, int]) -> int:
    """Keys and values of the memory are projected once by the caller, so they are counted with the layer here."""
    layer = CrossLayer(Style(c["d"], c["h"], c["ff"], 0.0)).eval()
    rows, memory = torch.randn(c["B"], c["T"], c["d"]), torch.randn(c["B"], c["S"], c["d"])
    own, over = torch.ones(c["T"], c["T"]).bool(), torch.ones(c["T"], c["S"]).bool()
    return flops(lambda: layer(rows, None, layer.cross.keys_values(memory), own, over))


def gru(c: dict[str, int]) -> int:
    cell = GRUCell(c["d_in"], c["H"])
    rows = torch.randn(c["B"], c["T"], c["d_in"])
    return flops(lambda: run_gru(cell, rows, torch.ones(c["B"], c["T"]).bool()))


def linear(c: dict[str, int]) -> int:
    layer = nn.Linear(c["i"], c["o"])
    return flops(lambda: layer(torch.randn(c["B"], c["T"], c["i"])))


OURS = {
    "transformer_encoder_layer": encoder,
    "transformer_decoder_layer": decoder,
    "gru": gru,
    "linear": linear,
}


@pytest.mark.parametrize("found", [c for c in CASES if c["name"] in OURS], ids=lambda c: c["name"])
def test_operations_are_those_of_the_formula(found: dict[str, Any]) -> None:
    assert OURS[found["name"]](found["config"]) == found["formula_2mac"]


def test_the_counter_agrees_with_torchs_own_forwards_and_backwards() -> None:
    layer, rows = SelfLayer(Style(16, 4, 64, 0.0)), torch.randn(2, 7, 16)

    def step() -> None:
        layer(rows, torch.ones(7, 7).bool())[0].sum().backward()

    with FlopCounterMode(display=False) as theirs:
        step()
    with Counter() as ours:
        step()
    assert ours.total == theirs.get_total_flops() > 2 * 92288


def schedule(seconds: list[float]) -> Callable[[Meter], Streams]:
    def run(meter: Meter) -> Streams:
        for k, wait in enumerate(seconds):
            share = Share(0, 3 + k, (2 + k, 3 + k), ((0, 3 + k),), 9)
            meter.call(lambda w=wait: time.sleep(w), lambda _, s=share: Facts("decode", (s,), 1, 10, 20))
        return Streams(((5, 6, 7, 9, 9),), (2,))

    return run


def test_a_timeline_has_medians_inside_their_quartiles_and_calls_one_after_another() -> None:
    shares: list[float] = []
    found = measure("sleep", schedule([0.002, 0.006]), repeats=5, warm_up=2, report=shares.append)
    first, second = found.calls
    assert 0.002 <= first.low <= first.median <= first.high < second.low <= second.median <= second.high
    assert first.start == 0 and first.end <= second.start < second.end == found.seconds
    assert len(found.excluded) == 2 and min(found.excluded) >= 0.008
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) == 2 * 7
    assert (first.facts.supplied, first.facts.read, first.facts.decided) == (1, 3, 1)
    assert first.flops == 0


def test_the_slow_first_run_is_not_in_the_numbers() -> None:
    runs = [0]

    def cold(meter: Meter) -> Streams:
        runs[0] += 1
        wait = 0.05 if runs[0] == 2 else 0.001  # the first run counts, the second is the first one timed
        return schedule([wait])(meter)

    found = measure("cold", cold, repeats=3, warm_up=1)
    assert found.excluded[0] >= 0.05 > 10 * 0.001 > found.calls[0].high


def test_a_report_that_raises_ends_the_work() -> None:
    done: list[float] = []

    def stop(share: float) -> None:
        done.append(share)
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure("stopped", schedule([0.0] * 10), report=stop)
    assert len(done) == 3


def test_two_runs_that_differ_are_not_compared() -> None:
    runs = [0]

    def growing(meter: Meter) -> Streams:
        runs[0] += 1
        return schedule([0.0] * runs[0])(meter)

    with pytest.raises(RuntimeError, match="different calls"):
        measure("growing", growing)


def test_counting_in_one_thread_does_not_see_another() -> None:
    """What torch's FlopCounterMode would do through the hooks that it puts on every module of the process."""
    from concurrent.futures import ThreadPoolExecutor

    layer, rows = nn.Linear(8, 8), torch.randn(4, 8)
    with ThreadPoolExecutor(1) as other, Counter() as counter:
        other.submit(lambda: [layer(rows) for _ in range(5)]).result()
        layer(rows)
    assert counter.total == 2 * 4 * 8 * 8
