"""WaveNet against pytorch-wavenet's numbers, its buffers against the whole pass, and its field against the schedule."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from models.analysis.receptive import Layer, field
from models.catalog import entry
from models.decoding.greedy import greedy
from models.interface import Read, Rows
from models.layers.schedule import row_gradient
from models.systems.wavenet import Config, WaveNet, gated_activation
from tests.models.golden import case, fill
from tests.models.small import small, source, target

NONE = source(1)


def reference() -> WaveNet:
    """pytorch-wavenet's weights: 5 classes, filter and gate as halves of one convolution."""
    found = case("05_wavenet_pytorch")
    config = Config(5, d_model=4, d_gate=3, d_skip=5, dilations=tuple(found.meta["dilations"]))
    system = WaveNet(config).double().eval()
    system.mixed, system.output = torch.nn.Linear(5, 6).double(), torch.nn.Linear(6, 5).double()
    layers: dict[str, Tensor] = {}
    for k in range(len(config.dilations)):
        both = [found[f"{name}_convs.{k}.weight"] for name in ("filter", "gate")]
        layers[f"layers__{k}__convolution__weight"] = torch.cat(both)
        layers[f"layers__{k}__residual__weight"] = found[f"residual_convs.{k}.weight"].squeeze(-1)
        layers[f"layers__{k}__skip__weight"] = found[f"skip_convs.{k}.weight"].squeeze(-1)
    fill(
        system, **layers, embedding__weight=found["start_conv.weight"].squeeze(-1).T,
        mixed__weight=found["end_conv_1.weight"].squeeze(-1), mixed__bias=found["end_conv_1.bias"],
        output__weight=found["end_conv_2.weight"].squeeze(-1), output__bias=found["end_conv_2.bias"],
    )  # fmt: skip
    return system


@torch.no_grad()
def test_logits_are_pytorch_wavenets() -> None:
    found, system = case("05_wavenet_pytorch"), reference()
    assert system.field == found.meta["receptive_field"]
    logits = system.score(source(1, 1), found["ids"]).logits
    found.check("logits", logits[:, -found.meta["output_length"] :].flatten(0, 1))


@torch.no_grad()
@pytest.mark.parametrize("width", [1, 2, 3])
def test_stepping_from_buffers_is_the_whole_pass(width: int) -> None:
    system: Any = small(entry("wavenet"), width=width)
    given = target(41, 30)
    scored = system.score(source(1, 1), given)
    state, rows = system.read(source(1, 1)), []
    shapes = [tuple(one.shape) for one in state.buffers]
    for token in given.T:
        stepped = system.step(state, token)
        state = stepped.state
        rows.append(stepped.logits)
    torch.testing.assert_close(torch.stack(rows, 1), scored.logits, rtol=0, atol=1e-10)
    assert [tuple(one.shape) for one in state.buffers] == shapes
    assert [shape[1] for shape in shapes] == [(width - 1) * d for d in system.config.dilations]


@torch.no_grad()
def test_padding_after_a_text_and_other_texts_beside_it_change_nothing() -> None:
    system, given = small(entry("wavenet")), target(12, 7)
    together = system.score(source(1, 1), given).logits
    torch.testing.assert_close(system.score(NONE, given[:1]).logits[0], together[0])
    torch.testing.assert_close(system.score(NONE, given[1:, :7]).logits[0], together[1, :7])


def test_a_decision_moves_with_its_field_and_with_nothing_else() -> None:
    system = small(entry("wavenet"), dilations=(1, 4))
    given = target(12)
    vectors = system.source_table()(given)[0]
    known = torch.ones(1, 12, dtype=torch.bool)

    def decisions(rows: Tensor) -> Tensor:
        copies = rows.shape[0]
        ids, valid = NONE.ids.expand(copies, -1), NONE.valid.expand(copies, -1)
        read = Rows(given.expand(copies, -1), known.expand(copies, -1), rows)
        return system.features(Rows(ids, valid), read)[0]

    measured = row_gradient(decisions, vectors, 11)
    assert (measured.nonzero().flatten() - 11).tolist() == field([Layer(2, 1), Layer(2, 4)]).offsets.tolist()


def test_the_shipped_schedule_reads_a_sentence() -> None:
    system = WaveNet(Config())
    assert system.field == field([Layer(2, d) for d in system.config.dilations]).span == 127
    assert len(field([Layer(2, d) for d in system.config.dilations]).holes) == 0
    assert sum(p.numel() for p in system.parameters()) <= 2_000_000
    assert system.sequential_steps(500) == 12


def test_the_gate_by_hand() -> None:
    rows = torch.tensor([0.5, 100.0, 0.0, -100.0]).double()
    torch.testing.assert_close(
        gated_activation(rows), torch.tensor([0.5 * torch.tensor(0.5).double().tanh(), 0.0]).double()
    )


@torch.no_grad()
def test_a_text_is_continued_one_byte_at_a_time() -> None:
    system = small(entry("wavenet"))
    found = greedy(system, system.read(NONE), max_length=6)
    best = system.score(NONE, torch.tensor([[1, *found.tokens[:-1]]])).logits[0].argmax(-1)
    assert best.tolist() == found.tokens


def test_a_source_is_refused() -> None:
    system = small(entry("wavenet"))
    with pytest.raises(ValueError, match="no source rows"):
        system.score(source(3), target(4))
    with pytest.raises(ValueError, match="no read to change"):
        system.score(NONE, target(4), read=Read(bias=torch.zeros(1, 4, 1)))
