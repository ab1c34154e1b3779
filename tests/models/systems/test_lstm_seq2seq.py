"""Sutskever's system: what crosses, and in which order the source is read."""

from __future__ import annotations

import torch

from models.interface import Rows
from models.systems.lstm_seq2seq import Config, LSTMSeq2Seq, reading_order


def small(**changes: bool) -> LSTMSeq2Seq:
    torch.manual_seed(0)
    config = Config(vocab_size=40, d_embedding=4, d_hidden=5, n_layers=3, dropout=0.0, **changes)  # type: ignore[arg-type]
    return LSTMSeq2Seq(config).double().eval()


def whole(*ids: int) -> Rows:
    return Rows(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool))


def test_reversal_keeps_the_end_and_the_padding_in_place() -> None:
    valid = torch.arange(5) < torch.tensor([[5], [3], [1]])
    assert reading_order(valid, True).tolist() == [[3, 2, 1, 0, 4], [1, 0, 2, 3, 4], [0, 1, 2, 3, 4]]
    assert reading_order(valid, False).tolist() == [[0, 1, 2, 3, 4]] * 3


def test_reversal_is_a_choice_about_the_data() -> None:
    """The same weights read 7 8 9 EOS reversed exactly as they read 9 8 7 EOS forward."""
    turned, straight = small(reverse_source=True), small(reverse_source=False)
    straight.load_state_dict(turned.state_dict())
    target = torch.tensor([[1, 20, 21]])
    one = turned.score(whole(7, 8, 9, 2), target)
    other = straight.score(whole(9, 8, 7, 2), target)
    assert torch.equal(one.logits, other.logits)
    assert one.trace.order.tolist() == [[2, 1, 0, 3]]
    assert not torch.equal(one.logits, straight.score(whole(7, 8, 9, 2), target).logits)


def test_hidden_and_cell_of_every_layer_cross_and_nothing_else() -> None:
    system = small()
    tensors = system.read(whole(7, 8, 9, 10, 11, 2)).tensors()
    assert [t.name for t in tensors] == [f"{kind}[{i}]" for kind in ("hidden", "cell") for i in range(3)]
    assert {t.shape for t in tensors} == {(1, 5)}
    assert [t.shape for t in system.read(whole(7, 2)).tensors()] == [t.shape for t in tensors]


def test_the_decoder_starts_from_the_encoders_states() -> None:
    system = small()
    states, _, crossing = system.encode(whole(7, 8, 9, 2))
    assert torch.equal(crossing.hidden[-1], states[:, -1])
    silent = type(crossing)(
        *(tuple(torch.zeros_like(t) for t in part) for part in (crossing.hidden, crossing.cell))
    )
    token = torch.tensor([1])
    assert not torch.equal(system.step(crossing, token).logits, system.step(silent, token).logits)
