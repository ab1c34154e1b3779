"""The transitions against Keras, ONNX Runtime and torch, and the article's numbers (0x03B, 0x03D)."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from models.layers.recurrence import (
    ElmanCell,
    GRUCell,
    LSTM1997Cell,
    LSTMCell,
    LSTMStep,
    elman,
    gru_cho,
    gru_reset_after,
    lstm_peephole,
    run_gru,
    run_lstm,
)
from models.systems.lstm_seq2seq import Stack
from tests.models.golden import Case, blocks, case, check_article, fill, inputs, names, wrong_conventions


def valid_rows(lengths: Tensor, width: int) -> Tensor:
    return torch.arange(width) < lengths.unsqueeze(1)


def walk_gru(cell: GRUCell, x: Tensor, valid: Tensor, hidden: Tensor) -> Tensor:
    """Rows (B, T, d) from a given first state; a masked row repeats the state before it."""
    rows = []
    for t, share in enumerate(cell.project(x).unbind(1)):
        hidden = torch.where(valid[:, t : t + 1], cell(share, hidden), hidden)
        rows.append(hidden)
    return torch.stack(rows, dim=1)


def gru_from(W: Tensor, U: Tensor, b: Tensor, b_hidden: Tensor | None, order: str) -> GRUCell:
    """A cell from blocks of rows in `order` (z update, r reset, h candidate)."""
    cell = GRUCell(W.shape[1], U.shape[1], "cho" if b_hidden is None else "reset_after").double()
    own = {"W": W, "b": b} if b_hidden is None else {"W": W, "b": b, "b_hidden": b_hidden}
    values = {name: blocks(value, order, "rzh") for name, value in own.items()}
    fill(cell, U_gates=blocks(U, order, "rz"), U=blocks(U, order, "h"), **values)
    return cell


def keras_cell(c: Case) -> GRUCell:
    after = c["bias"].dim() == 2
    b, b_hidden = (c["bias"][0], c["bias"][1]) if after else (c["bias"], None)
    return gru_from(c["W"].T, c["U"].T, b, b_hidden, "zrh")


@pytest.mark.parametrize("name", names("03_gru_keras"))
def test_gru_equals_keras(name: str) -> None:
    c = case(name)
    rows = walk_gru(keras_cell(c), c["x"], c["mask"], c["h0"])
    c.check("out_seq", rows)
    c.check("out_last", rows[:, -1])


def test_wrong_reset_or_flipped_update_gate_would_be_seen() -> None:
    c = case("03_gru_keras_cho")
    W, U, b = c["W"].T, c["U"].T, c["bias"]
    after = gru_from(W, U, b, torch.zeros_like(b), "zrh")
    flipped = gru_from(W, U, b, None, "zrh")
    d = flipped.d_hidden
    with torch.no_grad():  # sigmoid(-x) = 1 - sigmoid(x): z then writes where Cho's z carries
        flipped.W[d : 2 * d] *= -1
        flipped.b[d : 2 * d] *= -1
        flipped.U_gates[d:] *= -1
    for cell, name in [
        (after, "GRU reset after matmul (torch) on Cho fixture"),
        (flipped, "GRU z role flipped"),
    ]:
        rows = walk_gru(cell, c["x"], c["mask"], c["h0"]).detach()
        error = float((rows - c["out_seq"]).abs().max())
        assert error > 0.05
        assert error == pytest.approx(wrong_conventions()[name], rel=1e-4)


def ort_cell(c: Case, after: bool) -> GRUCell:
    wb, rb = c["B"][0].chunk(2)
    W, R = c["W"][0], c["R"][0]
    return gru_from(W, R, wb, rb, "zrh") if after else gru_from(W, R, wb + rb, None, "zrh")


@pytest.mark.parametrize("name", names("03_gru_onnxruntime"))
def test_gru_equals_onnx_runtime(name: str) -> None:
    c = case(name)
    X = c["X"].transpose(0, 1)
    valid = valid_rows(c["sequence_lens"], X.shape[1])
    rows = walk_gru(ort_cell(c, bool(c.meta["linear_before_reset"])), X, valid, c["initial_h"][0])
    c.same(rows, c["Y"][:, 0].transpose(0, 1), valid)
    c.same(rows[:, -1], c["Y_h"][0])


def test_bidirectional_gru_equals_packed_torch() -> None:
    c = case("03_gru_torch_bidir_packed")
    valid = valid_rows(c["lengths"], c["x"].shape[1])
    for side, (suffix, backwards) in enumerate([("", False), ("_reverse", True)]):
        part = [c[f"{kind}_l0{suffix}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        cell = gru_from(*part, order="rzh")
        rows, last = run_gru(cell, c["x"], valid, backwards=backwards)
        d = cell.d_hidden
        c.same(rows, c["out"][..., side * d : (side + 1) * d], valid)
        c.same(last, c["h_n"][side])


def lstm_walk(c: Case, cell: LSTMCell | LSTM1997Cell) -> None:
    X = c["X"].transpose(0, 1)
    valid = valid_rows(c["sequence_lens"], X.shape[1])
    rows, last = run_lstm(cell, X, valid, LSTMStep(c["initial_h"][0], c["initial_c"][0]))
    c.same(rows, c["Y"][:, 0].transpose(0, 1), valid)
    c.same(last.hidden, c["Y_h"][0])
    c.same(last.cell, c["Y_c"][0])


def ort_lstm(c: Case, wanted: str) -> dict[str, Tensor]:
    wb, rb = c["B"][0].chunk(2)
    return {"W": blocks(c["W"][0], "iofg", wanted), "U": blocks(c["R"][0], "iofg", wanted),
            "b": blocks(wb + rb, "iofg", wanted)}  # fmt: skip


def test_modern_lstm_equals_onnx_runtime() -> None:
    c = case("03_lstm_onnxruntime")
    cell = LSTMCell(c["X"].shape[-1], c["R"].shape[-1]).double()
    fill(cell, **ort_lstm(c, "ifog"))
    lstm_walk(c, cell)


def test_lstm_of_1997_equals_onnx_runtime_with_its_forget_gate_held_open() -> None:
    c = case("03_lstm_onnxruntime_no_forget")
    wb, rb = c["B"][0].chunk(2)
    assert torch.sigmoid(blocks(wb + rb, "iofg", "f")).eq(1).all()
    cell = LSTM1997Cell(c["X"].shape[-1], c["R"].shape[-1]).double()
    fill(cell, **ort_lstm(c, "iog"))
    lstm_walk(c, cell)


@pytest.mark.parametrize("name", names("03_lstm_onnxruntime_peephole"))
def test_peephole_lstm_equals_onnx_runtime(name: str) -> None:
    c = case(name)
    w = ort_lstm(c, "ifog")
    P = blocks(c["P"][0], "iof", "ifo")
    state, lengths = LSTMStep(c["initial_h"][0], c["initial_c"][0]), c["sequence_lens"]
    for t, x in enumerate(c["X"].unbind(0)):
        new = lstm_peephole(x @ w["W"].T + w["b"], state.hidden, state.cell, w["U"], P)
        live = (t < lengths).unsqueeze(1)
        state = LSTMStep(*(torch.where(live, a, b) for a, b in zip(new, state, strict=True)))
        c.same(state.hidden, c["Y"][t, 0], live.expand_as(state.hidden))
    c.same(state.hidden, c["Y_h"][0])
    c.same(state.cell, c["Y_c"][0])


def test_stacked_lstm_equals_packed_torch() -> None:
    c = case("03_lstm_torch_packed")
    stack = Stack(c["x"].shape[-1], c["h_n"].shape[-1], n_layers=2, dropout=0.0).double()
    for i, cell in enumerate(stack.cells):
        bias = c[f"bias_ih_l{i}"] + c[f"bias_hh_l{i}"]
        parts = {"W": c[f"weight_ih_l{i}"], "U": c[f"weight_hh_l{i}"], "b": bias}
        fill(cell, **{name: blocks(value, "ifgo", "ifog") for name, value in parts.items()})
    valid = valid_rows(c["lengths"], c["x"].shape[1])
    rows, ends = stack(c["x"], valid)
    c.check("out", rows, valid)
    c.check("h_n", torch.stack([end.hidden for end in ends]))
    c.check("c_n", torch.stack([end.cell for end in ends]))


def test_gru_update_of_the_article() -> None:
    """0x03D: z carries. The gates are given, so they are put in through their pre-activations."""
    given = inputs("gru_update")
    x = torch.cat([torch.zeros(2).double(), torch.logit(given["z"]), torch.atanh(given["h_candidate"])])
    zeros = torch.zeros(4, 2).double(), torch.zeros(2, 2).double()
    made = gru_cho(x.unsqueeze(0), given["h_prev"].unsqueeze(0), *zeros)
    check_article("gru_update", made.hidden[0])
    torch.testing.assert_close(made.update[0], given["z"])
    after = gru_reset_after(x.unsqueeze(0), given["h_prev"].unsqueeze(0), *zeros, torch.zeros(6).double())
    check_article("gru_update", after.hidden[0])


@pytest.mark.parametrize("name", ["0.8^20", "1.1^20"])
def test_twenty_equal_jacobians_multiply(name: str) -> None:
    """0x03B: at the zero state tanh has slope one, so a channel's derivative through 20 steps is base^20."""
    given = inputs(name)
    U, x = given["base"].reshape(1, 1), torch.zeros(1, 1).double()

    def walk(hidden: Tensor) -> Tensor:
        for _ in range(int(given["exponent"])):
            hidden = elman(x, hidden, U)
        return hidden

    slope = torch.autograd.functional.jacobian(walk, torch.zeros(1, 1).double())
    check_article(name, slope.squeeze())


def test_elman_jacobian_of_the_article() -> None:
    given = inputs("tanh_rnn_jacobian")
    x = (given["Wx"] @ given["x"] + given["b"]).unsqueeze(0)
    slope = torch.autograd.functional.jacobian(
        lambda h: elman(x, h.unsqueeze(0), given["Wh"])[0], given["h_prev"]
    )
    check_article("tanh_rnn_jacobian", slope)


def test_elman_cell_walks_and_carries_over_padding() -> None:
    torch.manual_seed(0)
    cell, x = ElmanCell(3, 4).double(), torch.randn(2, 5, 3).double()
    rows, last = run_gru(cell, x, valid_rows(torch.tensor([5, 2]), 5))
    alone, end = run_gru(cell, x[1:, :2], torch.ones(1, 2, dtype=torch.bool))
    torch.testing.assert_close(rows[1:, :2], alone)
    torch.testing.assert_close(last[1:], end)
    assert rows[1, 2:].eq(rows[1, 1]).all()


def test_backwards_reading_starts_at_the_last_valid_row() -> None:
    torch.manual_seed(1)
    cell, x = GRUCell(3, 4).double(), torch.randn(2, 5, 3).double()
    rows, _ = run_gru(cell, x, valid_rows(torch.tensor([5, 3]), 5), backwards=True)
    alone, _ = run_gru(cell, x[1:, :3], torch.ones(1, 3, dtype=torch.bool), backwards=True)
    torch.testing.assert_close(rows[1:, :3], alone)
    assert rows[1, 3:].eq(0).all()


def test_a_new_lstm_cell_carries_before_it_learns_to_drop() -> None:
    cell = LSTMCell(2, 3)
    assert blocks(cell.b.detach(), "ifog", "f").eq(1).all()
    assert blocks(cell.b.detach(), "ifog", "iog").eq(0).all()
