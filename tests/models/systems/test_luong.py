"""Luong's order h_t -> a_t -> c_t -> h~_t against the authors' own code (run in Octave) and Joey NMT."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.interface import Read, Rows
from models.layers import attention as equations
from models.layers.recurrence import GRUCell
from models.systems.luong import Config, Luong, LuongAttention, LuongState, Score, StepTrace, Window
from models.systems.rnn_search import AdditiveAttention
from tests.models.golden import Case, blocks, case, fill, names, wrong_conventions

# ---- the authors' code: sources stored reversed and padded on the left, positions from 1, no LSTM biases


def octave_system(c: Case, score: Score, window: Window = "global") -> Luong:
    facts = c.meta["config"]
    d, emb = c["W_h"].shape[0], c["E_tgt"].shape[1]
    config = Config(
        vocab_size=c["E_tgt"].shape[0], d_embedding=emb, d_hidden=d, n_layers=facts["layers"], score=score,
        window=window, half_width=facts["D"], input_feeding=facts["input_feeding"], dropout=0.0,
    )  # fmt: skip
    system = Luong(config).double()
    for stack, side in ((system.encoder, "src"), (system.decoder, "tgt")):
        for i, cell in enumerate(stack.cells):
            both = c[f"W_{side}{i + 1}"]  # [input ; state], gates i, f, o, cell input: our order
            fill(cell, W=both[:, :-d], U=both[:, -d:], b=torch.zeros(4 * d).double())
    fill(system, combine__weight=c["W_h"], embedding__weight=c["E_tgt"])
    if score == "general":
        fill(system, attention__W=c["W_a"].T)  # theirs multiplies the target state: h_s W_a h_t
    if window == "local_p":
        fill(system, attention__W_centre=c["W_pos"], attention__v_centre=c["v_pos"][0])
    return system


def to_right(rows: Tensor, valid: Tensor) -> Tensor:
    """Left-padded rows (B, S, ...) with their padding moved to the right, order kept."""
    return torch.stack([torch.cat([r[v], r[~v]]) for r, v in zip(rows, valid, strict=True)])


def flip_valid(rows: Tensor, lengths: Tensor) -> Tensor:
    """Right-padded rows with each sentence's own rows turned round."""
    pairs = zip(rows, lengths.tolist(), strict=True)
    return torch.stack([torch.cat([r[:n].flip(0), r[n:]]) for r, n in pairs])


def octave_start(c: Case, system: Luong) -> LuongState:
    """Encode in their reading order; keep the memory in the sentence's own order, from position 0."""
    stored = c["src_mask"].bool()
    lengths = stored.sum(1)
    assert torch.equal(lengths, c["src_words"])
    valid = torch.arange(stored.shape[1]) < lengths.unsqueeze(1)
    vectors = to_right(c["E_src"][c["src"]], stored)
    state = system.read(Rows(torch.zeros_like(c["src"]), valid, vectors))
    c.same(state.memory, to_right(c["src_hidden"], stored), valid)
    return LuongState(
        flip_valid(state.memory, lengths), valid, state.hidden, state.cell, state.attentional, state.position
    )


def octave_walk(c: Case, system: Luong) -> list[StepTrace]:
    """Steps over their target; every intermediate but the weights is compared here."""
    state, traces = octave_start(c, system), []
    for t, token in enumerate(c["tgt"].T):
        state, trace = system.transition(state, system.embedding(token), None)
        live = c["tgt_mask"][:, t].bool()
        found = {
            "h": trace.hidden,
            "c": state.cell[-1],
            "context": trace.attention.context,
            "h_tilde": trace.attentional,
        }
        for name, ours in found.items():
            c.same(ours, c[name][:, t], live)
        traces.append(trace)
    return traces


def octave_global(c: Case, system: Luong) -> None:
    stored, lengths = c["src_mask"].bool(), c["src_words"]
    for t, trace in enumerate(octave_walk(c, system)):
        live = c["tgt_mask"][:, t].bool()
        theirs = flip_valid(to_right(c["align"][:, t], stored), lengths)
        c.same(trace.attention.weights, theirs, live)


def test_global_general_equals_the_authors_code() -> None:
    c = case("02_luong_global_general_octave")
    octave_global(c, octave_system(c, "general"))


def test_global_dot_with_input_feeding_and_two_layers_equals_the_authors_code() -> None:
    c = case("02_luong_global_dot_feed_octave")
    octave_global(c, octave_system(c, "dot"))


class ThirdScore(LuongAttention):
    """Their third score, which no paper prints: v_a . tanh(h_s + W_a h_t)."""

    def __init__(self, config: Config, W: Tensor, v: Tensor) -> None:
        super().__init__(config)
        self.third = nn.Parameter(W), nn.Parameter(v)

    def scores(self, query: Tensor, memory: Tensor, score: Score) -> Tensor:
        W, v = self.third
        return equations.additive_score(F.linear(query, W), memory, v)


def test_order_of_the_authors_code_holds_for_their_third_score_too() -> None:
    c = case("02_luong_global_additive_octave")
    system = octave_system(c, "dot")
    system.attention = ThirdScore(system.config, c["W_a"], c["v_a"][0])
    octave_global(c, system)


def slots(weights: Tensor, centre: Tensor, half_width: int) -> Tensor:
    """Weights (B, S) at the window's slots: slot j is row floor(p_t) + D - j, zero outside the sentence."""
    places = centre.floor().long().unsqueeze(1) + half_width - torch.arange(2 * half_width + 1)
    inside = (places >= 0) & (places < weights.shape[1])
    return weights.gather(1, places.clamp(0, weights.shape[1] - 1)) * inside


def test_local_m_equals_the_authors_code() -> None:
    c = case("02_luong_local_m_octave")
    system, lengths = octave_system(c, "dot", "local_m"), c["src_words"]
    for t, trace in enumerate(octave_walk(c, system)):
        live = c["tgt_mask"][:, t].bool()
        assert trace.centre.eq(t).all()
        middle = trace.centre.minimum(
            lengths - 1.0
        )  # past the end their p_t stays on the last word, as ours does
        c.same(slots(trace.attention.weights, middle, system.config.half_width), c["align"][:, t], live)
        assert torch.equal(trace.content, trace.attention.weights)


def test_local_p_equals_the_authors_code_and_is_not_normalised_again() -> None:
    c = case("02_luong_local_p_octave")
    system, D = octave_system(c, "general", "local_p"), c.meta["config"]["D"]
    worst = 0.0
    for t, trace in enumerate(octave_walk(c, system)):
        live = c["tgt_mask"][:, t].bool()
        c.same(trace.centre, c["p_scale"][:, t] * c["src_words"], live)
        c.same(slots(trace.content, trace.centre, D), c["align_before_gauss"][:, t], live)
        weights = slots(trace.attention.weights, trace.centre, D)
        c.same(weights, c["align"][:, t], live)
        assert trace.attention.weights.sum(1)[live].lt(1).all()
        renormalised = weights / weights.sum(1, keepdim=True)
        worst = max(worst, float((renormalised - c["align"][:, t])[live].detach().abs().max()))
    assert worst == pytest.approx(wrong_conventions()["local-p renormalised"], rel=1e-3)


def test_literal_window_would_be_seen() -> None:
    """Centring on p_t itself instead of its floor keeps other rows (their note: 26 against 20)."""
    c = case("02_luong_local_p_octave")
    system, D = octave_system(c, "general", "local_p"), c.meta["config"]["D"]
    ours = literal = 0
    for t, trace in enumerate(octave_walk(c, system)):
        live, places = c["tgt_mask"][:, t].bool(), torch.arange(c["src"].shape[1])
        near = (places - trace.centre.unsqueeze(1)).abs() <= D
        valid = places < c["src_words"].unsqueeze(1)
        ours += int(trace.visible[live].sum())
        literal += int((near & valid)[live].sum())
    assert [ours, literal] == wrong_conventions()[
        "local-p window: slots kept by authors code vs literal rule"
    ]


def test_later_normalised_variant_of_the_code_multiplies_scores_and_is_another_function() -> None:
    c = case("02_luong_local_p_renorm_octave")
    system, D = octave_system(c, "general", "local_p"), c.meta["config"]["D"]
    state, furthest = octave_start(c, system), 0.0
    for t in range(c["tgt"].shape[1]):
        live, query = c["tgt_mask"][:, t].bool(), c["h"][:, t]
        moved = LuongState(state.memory, state.valid, (query,), state.cell, state.attentional, state.position)
        ours, _, centre, visible = system.attend(query, moved, None)
        bell = equations.gaussian(centre, D, visible.shape[1])
        theirs = equations.normalise(ours.scores * bell, visible)
        c.same(slots(theirs, centre, D), c["align"][:, t], live)
        c.same(equations.mix(theirs, state.memory), c["context"][:, t], live)
        furthest = max(furthest, float((ours.weights - theirs)[live].detach().abs().max()))
    assert furthest > 0.05


# ---- Joey NMT: one bridge for every layer, the query before the context, biases, encoders of another width


def joey_valid(c: Case) -> Tensor:
    return c["src_mask"].bool()


def joey_combine(c: Case) -> nn.Linear:
    """tanh(W [q ; c] + b) for our [c ; h]."""
    d = c["W_att"].shape[0]
    combine = nn.Linear(c["W_att"].shape[1], d).double()
    fill(combine, weight=torch.cat([c["W_att"][:, d:], c["W_att"][:, :d]], dim=1), bias=c["b_att"])
    return combine


def joey_lstm(c: Case, feeding: bool) -> Luong:
    d, emb = c["W_key"].shape[0], c["trg_embed"].shape[-1]
    layers = c["h_last"].shape[1]
    system = Luong(Config(9, emb, d, layers, "general", input_feeding=feeding, dropout=0.0)).double()
    for i, cell in enumerate(system.decoder.cells):
        bias = c[f"rnn_bias_ih_l{i}"] + c[f"rnn_bias_hh_l{i}"]
        parts = {"W": c[f"rnn_weight_ih_l{i}"], "U": c[f"rnn_weight_hh_l{i}"], "b": bias}
        fill(cell, **{name: blocks(value, "ifgo", "ifog") for name, value in parts.items()})
    system.attention.W = nn.Parameter(c["W_key"])  # (d, d_encoder): q . (W_key h)
    system.combine = joey_combine(c)
    return system


@pytest.mark.parametrize("name", names("02_joeynmt_recurrent_decoder_lstm"))
def test_lstm_decoder_equals_joeynmt(name: str) -> None:
    c = case(name)
    system = joey_lstm(c, feeding=name.endswith("feed"))
    first = torch.tanh(F.linear(c["enc_last"], c["W_bridge"], c["b_bridge"]))
    start = (first,) * system.config.n_layers
    position = torch.zeros(len(first), dtype=torch.long)
    state = LuongState(c["enc_out"], joey_valid(c), start, start, torch.zeros_like(first), position)
    for t, embedded in enumerate(c["trg_embed"].unbind(1)):
        state, trace = system.transition(state, embedded, None)
        c.same(trace.attention.weights, c["alpha"][:, t])
        c.same(trace.attentional, c["att_vectors"][:, t])
        c.same(F.linear(trace.attentional, c["W_output"]), c["logits"][:, t])
    c.check("h_last", torch.stack(state.hidden, dim=1))


def joey_gru(c: Case) -> GRUCell:
    W, U = c["rnn_weight_ih_l0"], c["rnn_weight_hh_l0"]
    cell = GRUCell(W.shape[1], U.shape[1], "reset_after").double()
    fill(cell, W=W, U_gates=blocks(U, "rzh", "rz"), U=blocks(U, "rzh", "h"),
         b=c["rnn_bias_ih_l0"], b_hidden=c["rnn_bias_hh_l0"])  # fmt: skip
    return cell


def joey_scores(c: Case, query: Tensor) -> Tensor:
    if "W_query" not in c:
        return equations.general_score(query, c["enc_out"], c["W_key"])
    module = AdditiveAttention(4, 5, 4).double()
    fill(module, W__weight=c["W_query"], W__bias=torch.zeros(4).double(), U__weight=c["W_key"],
         v=c["v_energy"][0])  # fmt: skip
    return equations.additive_score(module.W(query), module.U(c["enc_out"]), module.v)


@pytest.mark.parametrize("name", names("02_joeynmt_recurrent_decoder_gru"))
def test_gru_decoder_in_luongs_order_equals_joeynmt(name: str) -> None:
    """Its attention="bahdanau" keeps Luong's timing too: the additive score is asked with the new state."""
    c = case(name)
    cell, combine, feeding = joey_gru(c), joey_combine(c), name.endswith("feed")
    hidden = torch.tanh(F.linear(c["enc_last"], c["W_bridge"], c["b_bridge"]))
    attentional = torch.zeros_like(hidden)
    for t, embedded in enumerate(c["trg_embed"].unbind(1)):
        row = torch.cat([embedded, attentional], dim=-1) if feeding else embedded
        hidden = cell(cell.project(row), hidden)
        weights = equations.normalise(joey_scores(c, hidden), joey_valid(c))
        attentional = torch.tanh(combine(torch.cat([equations.mix(weights, c["enc_out"]), hidden], dim=-1)))
        c.same(weights, c["alpha"][:, t])
        c.same(attentional, c["att_vectors"][:, t])
        c.same(F.linear(attentional, c["W_output"]), c["logits"][:, t])
    c.check("h_last", hidden.unsqueeze(1))


# ---- choices


def small(**changes: Any) -> Luong:
    torch.manual_seed(0)
    config = {
        "vocab_size": 40,
        "d_embedding": 5,
        "d_hidden": 6,
        "half_width": 1,
        "max_source": 8,
        "dropout": 0.0,
    }
    system = Luong(Config(**{**config, **changes})).double().eval()
    with torch.no_grad():
        for parameter in system.parameters():
            parameter.uniform_(-0.8, 0.8)
    return system


def rows(length: int, seed: int = 0) -> Rows:
    ids = torch.randint(5, 40, (1, length), generator=torch.Generator().manual_seed(seed))
    return Rows(ids, torch.ones_like(ids, dtype=torch.bool))


TARGET = torch.tensor([[1, 9, 8, 7, 6, 30]])


def test_linear_concat_reads_the_same_rows_at_every_step() -> None:
    weights = small(score="concat").score(rows(5), TARGET).trace.decoder.attention.weights
    torch.testing.assert_close(weights, weights[:, :1].expand_as(weights), rtol=0, atol=1e-12)
    changing = small(score="general").score(rows(5), TARGET).trace.decoder.attention.weights
    assert (changing - changing[:, :1]).abs().max() > 1e-2


def test_location_scores_ignore_the_source_but_its_length_is_bounded() -> None:
    system = small(score="location")
    state = system.read(rows(5))
    query = torch.randn(1, 6).double()
    other = system.read(rows(5, seed=1))
    assert torch.equal(
        system.attend(query, state, None)[0].scores, system.attend(query, other, None)[0].scores
    )
    with pytest.raises(ValueError, match="8 source rows; this sentence has 9"):
        system.step(system.read(rows(9)), torch.tensor([1]))


def test_a_variant_shares_every_parameter_and_changes_nothing() -> None:
    system = small(score="general")
    before = system.score(rows(7), TARGET).logits
    other = system.variant(score="dot", window="local_m", half_width=2)
    assert [p.data_ptr() for p in other.parameters()] == [p.data_ptr() for p in system.parameters()]
    assert (system.config.score, system.config.window) == ("general", "global")
    assert not torch.equal(other.score(rows(7), TARGET).logits, before)
    assert torch.equal(system.score(rows(7), TARGET).logits, before)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"input_feeding": False}, "needs its own checkpoint"),
        ({"score": "concat"}, "no parameters for the concat score"),
        ({"score": "location"}, "no parameters for the location score"),
        ({"window": "local_p"}, "no centre predictor"),
    ],
)
def test_a_variant_without_its_parameters_says_so(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        small(score="general").variant(**changes)


def test_a_local_p_checkpoint_may_be_read_without_its_window() -> None:
    system = small(window="local_p")
    found = system.variant(window="global").score(rows(7), TARGET).trace.decoder
    assert found.visible.all()
    assert found.centre.eq(-1).all()
    assert system.variant(half_width=3).config.window == "local_p"


def test_a_visitor_moves_the_centre() -> None:
    system = small(window="local_m")
    centre = torch.tensor([[4.0, 4.0, 0.0, 6.0, 2.0, 9.0]])
    seen = system.score(rows(7), TARGET, read=Read(centre=centre)).trace.decoder.visible[0]
    expected = [[3, 4, 5], [3, 4, 5], [0, 1], [5, 6], [1, 2, 3], [5, 6]]
    assert [row.nonzero().flatten().tolist() for row in seen] == expected


def test_a_shifted_window_reads_one_row_further_on() -> None:
    system = small(window="local_m")
    seen = [s.score(rows(7), TARGET).trace.decoder for s in (system, system.variant(centre_shift=1))]
    assert torch.equal(seen[1].centre, seen[0].centre + 1)
    assert torch.equal(seen[1].visible[0, :-1], seen[0].visible[0, 1:])


def test_input_feeding_lets_the_next_step_see_what_was_read() -> None:
    for feeding in (True, False):
        system = small(input_feeding=feeding)
        plain = system.score(rows(5), TARGET).trace.decoder
        bias = torch.zeros(1, TARGET.shape[1], 5).double()
        bias[0, 0, 3] = 20.0
        forced = system.score(rows(5), TARGET, read=Read(bias=bias)).trace.decoder
        assert forced.attention.weights[0, 0, 3] > 0.99
        assert torch.equal(plain.hidden[:, 0], forced.hidden[:, 0])
        assert torch.equal(plain.hidden[:, 1], forced.hidden[:, 1]) is not feeding
