"""RNNsearch against the authors' own code (GroundHog), a tutorial of its step order, and dl4mt's conditional GRU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from models.interface import Rows
from models.layers.attention import additive_score, mix, normalise
from models.layers.readout import DeepOutput
from models.layers.recurrence import GRUStep, gru_reset_after
from models.systems.rnn_search import Config, RNNSearch, SearchState, StepTrace
from tests.models.golden import Case, blocks, case, fill, wrong_conventions


def negated_update(r: Tensor, z: Tensor, h: Tensor) -> Tensor:
    """GroundHog's update gate writes at 1, Cho's carries: sigmoid(-x) = 1 - sigmoid(x), so its share changes sign."""
    return torch.cat([r, -z, h], dim=-1).T


def groundhog_gru(c: Case, side: str, embed: str, carries: bool = False) -> dict[str, Tensor]:
    """W, b, U_gates, U of a GroundHog transition with Cho's names; only its candidate has a bias."""
    sign = -1 if carries else 1
    W = [c[f"W.W_0_{embed}_{kind}_embdr_0"] for kind in ("reset", "update", "input")]
    R, G, U = (c[f"W.{kind}_{side}_transition_0"] for kind in "RGW")
    b = c[f"W.b_0_{embed}_input_embdr_0"]
    return {
        "W": negated_update(W[0], sign * W[1], W[2]),
        "U_gates": torch.cat([R, -sign * G], dim=-1).T,
        "U": U.T,
        "b": torch.cat([torch.zeros(2 * len(b)).double(), b]),
    }


def groundhog(c: Case, carries: bool = False) -> RNNSearch:
    """Our system with the authors' weights; its tied table holds their target table."""
    config = Config(
        vocab_size=8, d_embedding=4, d_annotation=6, d_hidden=6, d_alignment=6, cell="cho", dropout=0.0
    )
    system = RNNSearch(config).double()
    fill(system.forwards, **groundhog_gru(c, "enc", "enc", carries))
    fill(system.backwards, **groundhog_gru(c, "back_enc", "back_enc", carries))
    fill(system.cell, **groundhog_gru(c, "dec", "dec", carries))
    context = [c[f"W.W_0_dec_dec_{kind}_0"] for kind in ("reseter", "updater", "inputter")]
    context[1] = -context[1] if carries else context[1]
    fill(
        system,
        C__weight=negated_update(*context),
        initial__weight=c["W.W_0_dec_initializer_0"].T,
        initial__bias=c["W.b_0_dec_initializer_0"],
        embedding__weight=c["W.W_0_dec_approx_embdr"] + c["W.b_0_dec_approx_embdr"],
        attention__W__weight=c["W.B_dec_transition_0"].T,
        attention__W__bias=torch.zeros(6).double(),
        attention__U__weight=c["W.A_dec_transition_0"].T,
        attention__v=c["W.D_dec_transition_0"][:, 0],
    )
    return system


def groundhog_source(c: Case, ids: Tensor, valid: Tensor) -> Rows:
    table = c["W.W_0_enc_approx_embdr"] + c["W.b_0_enc_approx_embdr"]
    return Rows(ids, valid, table[ids])


def groundhog_readout(c: Case) -> DeepOutput:
    """Their maxout layer over [state ; context ; embedding] and ours are one map."""
    module = DeepOutput(6 + c["W.W_0_dec_repr_readout"].shape[0] + 4, 3).double()
    kinds = ("hid_readout_0", "repr_readout", "prev_readout_0")
    W = torch.cat([c[f"W.W_0_dec_{kind}"] for kind in kinds]).T
    fill(module, linear__weight=W, linear__bias=c["W.b_0_dec_hid_readout_0"])
    return module


def groundhog_probabilities(c: Case, maxed: Tensor) -> Tensor:
    """The two matrices that follow their maxout."""
    return torch.softmax(
        maxed @ c["W.W1_dec_deep_softmax"] @ c["W.W2_dec_deep_softmax"] + c["W.b_dec_deep_softmax"], -1
    )


def walk(system: RNNSearch, source: Rows, target: Tensor) -> list[StepTrace]:
    """Steps that consume target (B, T): step t consumes y_t, after it was predicted, as the authors' code does."""
    state, traces = system.read(source), []
    for x in system.cell.project(system.embedding(target)).unbind(1):
        state, trace = system.transition(state, x, None)
        traces.append(trace)
    return traces


def authors_probabilities(
    c: Case, system: RNNSearch, traces: list[StepTrace], target: Tensor
) -> list[Tensor]:
    """Their p(y_t) reads s_(t-1), c_t and y_(t-1) (appendix A.2.2); the embedding before the first token is zero."""
    readout, before = groundhog_readout(c), torch.zeros(target.shape[0], 4).double()
    rows = []
    for t, trace in enumerate(traces):
        rows.append(groundhog_probabilities(c, readout(trace.previous, trace.attention.context, before)))
        before = system.embedding(target[:, t])
    return rows


def test_rnnsearch_equals_the_authors_code() -> None:
    c = case("01_bahdanau_rnnsearch_groundhog")
    system, x, y = groundhog(c), c["x"].T, c["y"].T
    valid, live = c["x_mask"].T.bool(), c["y_mask"].bool()
    traces = walk(system, groundhog_source(c, x, valid), y)
    alpha = torch.stack([trace.attention.weights for trace in traces])  # (T, B, S)
    c.same(alpha, c["alignment"].transpose(1, 2), live)
    rows = torch.stack(authors_probabilities(c, system, traces, y))
    given = rows.gather(-1, c["y"].unsqueeze(-1)).squeeze(-1)
    c.check("word_probs", given, live)
    c.check("cost_per_sample", -(given.log() * live).sum(0))


def test_rnnsearch_stepped_alone_equals_the_authors_sampler() -> None:
    c = case("01_bahdanau_rnnsearch_groundhog")
    system, x, y = groundhog(c), c["step.x"].unsqueeze(0), c["step.y"].unsqueeze(0)
    source = groundhog_source(c, x, torch.ones_like(x, dtype=torch.bool))
    state = system.read(source)
    c.same(state.annotations[0], c["step.annotations"])
    c.same(state.hidden[0], c["step.s0"])
    traces = walk(system, source, y)
    c.same(torch.stack([t.hidden for t in traces]), c["step.states"])
    c.same(torch.stack(authors_probabilities(c, system, traces, y)), c["step.probs"])


def test_an_update_gate_of_the_other_sign_would_be_seen() -> None:
    c = case("01_bahdanau_rnnsearch_groundhog")
    x = c["step.x"].unsqueeze(0)
    source = groundhog_source(c, x, torch.ones_like(x, dtype=torch.bool))
    wrong = groundhog(c, carries=True).read(source).annotations[0]
    assert (wrong - c["step.annotations"]).abs().max() > 0.1


def torch_gru(c: Case, names: tuple[str, str, str, str], width: int) -> dict[str, Tensor]:
    """torch's block order r, z, n is ours; W keeps its first `width` columns (the token's share)."""
    W, U, b, b_hidden = (c[name] for name in names)
    return {"W": W[:, :width], "U_gates": blocks(U, "rzh", "rz"), "U": blocks(U, "rzh", "h"),
            "b": b, "b_hidden": b_hidden}  # fmt: skip


def bentrevett(c: Case) -> RNNSearch:
    config = Config(
        vocab_size=8,
        d_embedding=3,
        d_annotation=4,
        d_hidden=5,
        d_alignment=5,
        cell="reset_after",
        dropout=0.0,
    )
    system = RNNSearch(config).double()
    for cell, side in ((system.forwards, "f"), (system.backwards, "b")):
        parts = (f"enc_Wih_{side}", f"enc_Whh_{side}", f"enc_bih_{side}", f"enc_bhh_{side}")
        fill(cell, **torch_gru(c, parts, 3))
    fill(system.cell, **torch_gru(c, ("dec_Wih", "dec_Whh", "dec_bih", "dec_bhh"), 3))
    fill(
        system,
        C__weight=c["dec_Wih"][:, 3:],
        embedding__weight=c["E_trg"],
        attention__W__weight=c["W_attn"][:, :5],
        attention__W__bias=c["b_attn"],
        attention__U__weight=c["W_attn"][:, 5:],
        attention__v=c["v_attn"][0],
    )
    return system


def bentrevett_start(c: Case, system: RNNSearch) -> SearchState:
    """Their s_0 reads the ends of both directions, the paper's the backward one alone."""
    ids = c["src"].T
    state = system.read(Rows(ids, torch.ones_like(ids, dtype=torch.bool), c["E_src"][ids]))
    H, d = state.annotations, system.config.d_annotation
    first = torch.tanh(F.linear(torch.cat([H[:, -1, :d], H[:, 0, d:]], -1), c["W_init"], c["b_init"]))
    return SearchState(H, state.keys, state.valid, first)


def test_step_order_is_previous_state_weights_context_new_state() -> None:
    c = case("01_bahdanau_step_order_bentrevett")
    system = bentrevett(c)
    state = bentrevett_start(c, system)
    c.check("annotations", state.annotations.transpose(0, 1))
    c.same(state.hidden, c["states"][0])
    for t, token in enumerate(c["trg_in"]):
        embedded = system.embedding(token)
        before = state.hidden
        state, trace = system.transition(state, system.cell.project(embedded), None)
        assert trace.previous is before
        c.same(trace.attention.weights, c["alpha"][t])
        c.same(trace.attention.context, mix(c["alpha"][t], c["annotations"].transpose(0, 1)))
        c.same(trace.hidden, c["states"][t + 1])
        parts = torch.cat([trace.hidden, trace.attention.context, embedded], dim=-1)
        c.same(F.linear(parts, c["W_out"], c["b_out"]), c["logits"][t])


def test_querying_with_the_new_state_would_be_seen() -> None:
    """Luong's timing on Bahdanau's weights: alpha_t asked with s_t."""
    c = case("01_bahdanau_step_order_bentrevett")
    system, H = bentrevett(c), c["annotations"].transpose(0, 1)
    every = torch.ones(H.shape[:2], dtype=torch.bool)
    keys = system.attention.U(H)
    late = torch.stack([system.attention(s, keys, H, every).weights for s in c["states"][1:]])
    error = float((late - c["alpha"]).detach().abs().max())
    assert error == pytest.approx(wrong_conventions()["Bahdanau attention queried with s_t"], rel=1e-3)
    assert error > 1e6 * c.atol


def dl4mt_gru(c: Case, x: Tensor, hidden: Tensor, kind: str) -> GRUStep:
    """dl4mt multiplies the reset gate after the matrix; its gate columns are r, u."""
    b = torch.zeros(3 * hidden.shape[1]).double()
    return gru_reset_after(x, hidden, c[f"{kind}_U"].T, c[f"{kind}_Ux"].T, b)


def dl4mt_input(c: Case, x: Tensor, kind: str) -> Tensor:
    return torch.cat([x @ c[f"{kind}_W"] + c[f"{kind}_b"], x @ c[f"{kind}_Wx"] + c[f"{kind}_bx"]], dim=-1)


def test_plain_gru_equals_dl4mt() -> None:
    c = case("01_conditional_gru_dl4mt")
    hidden = torch.zeros(2, 4).double()
    for t, x in enumerate(c["x"]):
        new = dl4mt_gru(c, dl4mt_input(c, x, "g"), hidden, "g").hidden
        hidden = torch.where(c["mask"][t].bool().unsqueeze(1), new, hidden)
        c.same(hidden, c["gru_h"][t])


def second_gru(c: Case, context: Tensor, hidden: Tensor) -> Tensor:
    """The transition after the read: its own biases stand on the state's side, the context's share has none."""
    x = torch.cat([context @ c["c_Wc"], context @ c["c_Wcx"]], dim=-1)
    b = torch.cat([c["c_b_nl"], c["c_bx_nl"]])
    return gru_reset_after(x, hidden, c["c_U_nl"].T, c["c_Ux_nl"].T, b).hidden


def test_conditional_gru_reads_between_two_transitions() -> None:
    """A third order, s' = GRU1(s_(t-1), y) -> alpha -> c -> s = GRU2(s', c), from the same equations."""
    c = case("01_conditional_gru_dl4mt")
    H, valid = c["context"].transpose(0, 1), c["context_mask"].T.bool()
    keys, hidden = H @ c["c_Wc_att"] + c["c_b_att"], c["s0"]
    for t, x in enumerate(c["x"]):
        between = dl4mt_gru(c, dl4mt_input(c, x, "c"), hidden, "c").hidden
        live = c["mask"][t].bool().unsqueeze(1)
        between = torch.where(live, between, hidden)
        scores = additive_score(between @ c["c_W_comb_att"], keys, c["c_U_att"][:, 0]) + c["c_c_tt"]
        weights = normalise(scores, valid)
        context = mix(weights, H)
        hidden = torch.where(live, second_gru(c, context, between), hidden)
        found: dict[str, Any] = {"cgru_alpha": weights, "cgru_ctx": context, "cgru_h": hidden}
        for name, ours in found.items():
            c.same(ours, c[name][t])
