"""ConvS2S against fairseq's, layer by layer and as a whole, and its buffers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.catalog import entry
from models.interface import Rows
from models.layers.convolution import RowConvolution, glu
from models.systems.convs2s import Config, ConvS2S
from tests.models.golden import Case, article, case
from tests.models.small import small, source, target

PAD = 1  # in fairseq


def fairseq() -> tuple[Case, ConvS2S]:
    """Our modules with fairseq's weights: embeddings of 4, states of 5, a readout of 3."""
    found = case("04_convs2s_fairseq")
    system = ConvS2S(Config(vocab_size=9, d_model=5, n_layers=2, dropout=0.0)).double().eval()
    system.source_in, system.source_out = linear(found, "encoder.fc1"), linear(found, "encoder.fc2")
    system.target_in, system.target_out = linear(found, "decoder.fc1"), linear(found, "decoder.fc2")
    for k in range(2):
        encoder, decoder = system.encoder[k], system.decoder[k]
        convolution(encoder.convolution, found, f"encoder.convolutions.{k}")  # type: ignore[arg-type]
        convolution(decoder.convolution, found, f"decoder.convolutions.{k}")  # type: ignore[arg-type]
        decoder.query = linear(found, f"decoder.attention.{k}.in_projection")
        decoder.context = linear(found, f"decoder.attention.{k}.out_projection")
    return found, system


def linear(found: Case, name: str) -> nn.Linear:
    weight = found[f"{name}.weight"]
    made = nn.Linear(weight.shape[1], weight.shape[0]).double()
    with torch.no_grad():
        made.weight.copy_(weight)
        made.bias.copy_(found[f"{name}.bias"])
    return made


def convolution(ours: RowConvolution, found: Case, name: str) -> None:
    """Theirs is (k, in, out) with tap 0 the oldest."""
    with torch.no_grad():
        ours.weight.copy_(found[f"{name}.weight"].permute(2, 1, 0))
        ours.bias.copy_(found[f"{name}.bias"])


def placed(found: Case, side: str, ids: Tensor) -> Tensor:
    """fairseq's embedding plus position: row 2 for the first real token, row 1 for padding."""
    real = ids != PAD
    place = torch.where(real, 1 + real.cumsum(1), torch.ones_like(ids))
    return found[f"{side}.embed_tokens.weight"][ids] + found[f"{side}.embed_positions.weight"][place]


def test_encoder_and_decoder_are_fairseqs(monkeypatch: pytest.MonkeyPatch) -> None:
    found, system = fairseq()
    src, prev = found["src"].long(), found["prev_output"].long()
    source_rows, target_rows = placed(found, "encoder", src), placed(found, "decoder", prev)
    # the vectors already are words plus positions
    monkeypatch.setattr(ConvS2S, "place", lambda self, vectors, table, start=0: vectors)
    valid = src != PAD
    memory = system.encode(Rows(src, valid, source_rows))
    found.check("enc_out_a", memory.keys, valid)
    found.check("enc_out_b", memory.values, valid)
    given = Rows(prev, torch.ones_like(prev, dtype=torch.bool), target_rows)
    rows, trace = system.features(Rows(src, valid, source_rows), given)
    for k, read in enumerate(trace.cross):
        found.check(f"dec_att{k}_weights", read.weights)
    found.check("avg_attn", system.alignment(trace))
    found.check("logits", linear(found, "decoder.fc3")(rows))


def test_a_layer_reads_its_neighbourhood_and_no_more() -> None:
    layer = RowConvolution(2, 3, width=3, dilation=2).double()
    rows = torch.randn(1, 9, 2).double()
    whole = layer(rows)
    changed = rows.clone()
    changed[0, 4] += 1.0
    moved = (layer(changed) - whole).abs().sum(-1)[0] > 0
    assert moved.nonzero().flatten().tolist() == [4, 6, 8]
    centred = RowConvolution(2, 3, width=3, dilation=2, causal=False).double()
    moved = (centred(changed) - centred(rows)).abs().sum(-1)[0] > 0
    assert moved.nonzero().flatten().tolist() == [2, 4, 6]
    with pytest.raises(ValueError, match="odd width"):
        RowConvolution(2, 3, width=2, causal=False)


@pytest.mark.parametrize(("width", "dilation"), [(1, 1), (2, 3), (3, 1), (4, 2)])
def test_stepping_from_the_buffer_is_the_convolution(width: int, dilation: int) -> None:
    layer = RowConvolution(3, 2, width, dilation).double()
    rows = torch.randn(2, 11, 3).double()
    buffer, found = layer.buffer(rows), []
    for row in rows.unbind(1):
        out, buffer = layer.step(row, buffer)
        assert buffer.shape == (2, (width - 1) * dilation, 3)
        found.append(out)
    torch.testing.assert_close(torch.stack(found, 1), layer(rows), rtol=0, atol=1e-12)


def test_the_articles_shapes_and_a_layer_is_one_product_over_its_windows() -> None:
    given, shapes = (article()["convs2s_shape_trace"][part] for part in ("inputs", "expected"))
    B, T, d, k = (given[name] for name in "BTdk")
    layer, rows = RowConvolution(d, 2 * d, k).double(), torch.randn(B, T, d).double()
    windows = F.pad(rows, (0, 0, k - 1, 0)).unfold(1, k, 1).transpose(2, 3)  # (B, T, k, d), oldest first
    W = layer.weight.transpose(1, 2).flatten(1)  # tap by tap, the channels of each together
    product, update = windows.flatten(2) @ W.T + layer.bias, glu(layer(rows))
    torch.testing.assert_close(layer(rows), product)
    found = {
        "windows": windows, "flat": windows.flatten(2), "W": W, "pre_glu": product, "update": update,
        "out": rows + update,
    }  # fmt: skip
    assert {name: list(one.shape) for name, one in found.items()} == shapes


def test_glu_by_hand() -> None:
    assert glu(torch.tensor([2.0, -4.0, 0.0, 100.0])).tolist() == [1.0, -4.0]


def test_a_state_keeps_the_last_rows_of_each_layer_whatever_the_length() -> None:
    item = entry("convs2s")
    system = small(item)
    config: Any = system.config
    state: Any = system.read(source(6, 4))
    shapes = {tuple(one.shape) for one in state.buffers}
    for token in target(9, 9).T:
        state = system.step(state, token).state
    assert {tuple(one.shape) for one in state.buffers} == shapes == {(2, config.width - 1, config.d_model)}
    assert len(state.buffers) == config.n_layers
    assert state.position.tolist() == [9, 9]


def test_more_rows_than_positions_are_told() -> None:
    system = small(entry("convs2s"), positions=8)
    with pytest.raises(ValueError, match="8 learned positions a side; this needs 9"):
        system.read(source(9))
