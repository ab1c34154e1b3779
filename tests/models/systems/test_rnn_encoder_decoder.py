"""The fixed-context system against the RNNenc of its authors' later code (GroundHog)."""

from __future__ import annotations

import inspect

import torch
from torch import Tensor

from models.interface import Rows
from models.layers.readout import DeepOutput
from models.layers.recurrence import run_gru
from models.systems.rnn_encoder_decoder import Config, Decoder, RNNEncoderDecoder
from tests.models.golden import Case, case, fill
from tests.models.systems.test_rnn_search import groundhog_gru, groundhog_probabilities, negated_update


def groundhog(c: Case) -> RNNEncoderDecoder:
    """Cho's update gate carries, GroundHog's writes: its share changes sign (see negated_update)."""
    system = RNNEncoderDecoder(Config(vocab_size=8, d_embedding=4, d_hidden=6, dropout=0.0)).double()
    fill(system.encoder, **groundhog_gru(c, "enc", "enc"))
    own = groundhog_gru(c, "dec", "dec")
    context = negated_update(*(c[f"W.W_0_dec_dec_{k}_0"] for k in ("reseter", "updater", "inputter")))
    own["W"] = torch.cat([own["W"], context], dim=1)  # one projection of [E y ; c]
    fill(system.decoder.cell, **own)
    fill(
        system,
        decoder__initial__weight=c["W.W_0_dec_initializer_0"].T,
        decoder__initial__bias=c["W.b_0_dec_initializer_0"],
        embedding__weight=c["W.W_0_dec_approx_embdr"] + c["W.b_0_dec_approx_embdr"],
    )
    return system


def readout(c: Case) -> DeepOutput:
    module = DeepOutput(6 + 6 + 4, 3).double()
    W = torch.cat([c[f"W.W_0_dec_{kind}"] for kind in ("hid_readout_0", "repr_readout", "prev_readout_0")]).T
    fill(module, linear__weight=W, linear__bias=c["W.b_0_dec_hid_readout_0"])
    return module


def last_state(c: Case, system: RNNEncoderDecoder, ids: Tensor, valid: Tensor) -> Tensor:
    """Their c is the last encoder state itself; the 2014 paper (and `encode`) puts tanh(V .) between."""
    table = c["W.W_0_enc_approx_embdr"] + c["W.b_0_enc_approx_embdr"]
    return run_gru(system.encoder, table[ids], valid)[1]


def walk(c: Case, system: RNNEncoderDecoder, summary: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """(probabilities, states), (T, B, .): their p(y_t) reads s_(t-1), c and y_(t-1)."""
    hidden, before = system.decoder.start(summary), torch.zeros(y.shape[0], 4).double()
    rows, states = [], []
    for token in y.unbind(1):
        rows.append(groundhog_probabilities(c, readout(c)(hidden, summary, before)))
        before = system.embedding(token)
        hidden = system.decoder.step(before, hidden, summary)
        states.append(hidden)
    return torch.stack(rows), torch.stack(states)


def test_fixed_context_equals_the_authors_code() -> None:
    c = case("01_fixed_context_rnnenc_groundhog")
    system, live = groundhog(c), c["y_mask"].bool()
    summary = last_state(c, system, c["x"].T, c["x_mask"].T.bool())
    rows, _ = walk(c, system, summary, c["y"].T)
    given = rows.gather(-1, c["y"].unsqueeze(-1)).squeeze(-1)
    c.check("word_probs", given, live)
    c.check("cost_per_sample", -(given.log() * live).sum(0))


def test_fixed_context_stepped_alone_equals_the_authors_sampler() -> None:
    c = case("01_fixed_context_rnnenc_groundhog")
    system, x = groundhog(c), c["step.x"].unsqueeze(0)
    summary = last_state(c, system, x, torch.ones_like(x, dtype=torch.bool))
    c.same(summary.expand(5, -1), c["step.annotations"])
    c.same(system.decoder.start(summary)[0], c["step.s0"])
    rows, states = walk(c, system, summary, c["step.y"].unsqueeze(0))
    c.same(rows, c["step.probs"])
    c.same(states, c["step.states"])


def test_the_decoder_receives_the_summary_and_nothing_else_of_the_source() -> None:
    assert list(inspect.signature(Decoder.step).parameters) == ["self", "embedded", "hidden", "summary"]
    assert list(inspect.signature(Decoder.readout).parameters) == ["self", "embedded", "hidden", "summary"]
    assert list(inspect.signature(Decoder.start).parameters) == ["self", "summary"]


def test_sources_with_one_summary_cannot_be_told_apart() -> None:
    torch.manual_seed(0)
    system = RNNEncoderDecoder(Config(vocab_size=40, d_embedding=4, d_hidden=5)).double().eval()
    long, short = (torch.randint(5, 40, (1, n)) for n in (9, 3))
    states = [system.read(Rows(ids, torch.ones_like(ids, dtype=torch.bool))) for ids in (long, short)]
    assert (
        [t.shape for t in states[0].tensors()] == [t.shape for t in states[1].tensors()] == [(1, 5), (1, 5)]
    )
    token = torch.tensor([7])
    apart = [system.step(state, token).logits for state in states]
    assert not torch.equal(*apart)
    forged = type(states[0])(states[1].summary, system.decoder.start(states[1].summary))
    assert torch.equal(system.step(forged, token).logits, apart[1])


def test_the_summary_reaches_every_step() -> None:
    torch.manual_seed(0)
    system = RNNEncoderDecoder(Config(vocab_size=40, d_embedding=4, d_hidden=5)).double().eval()
    ids = torch.randint(5, 40, (1, 4))
    state = system.read(Rows(ids, torch.ones_like(ids, dtype=torch.bool)))
    for token in (1, 9, 8):
        summary = state.summary.detach().requires_grad_()
        stepped = system.step(type(state)(summary, state.hidden.detach()), torch.tensor([token]))
        (slope,) = torch.autograd.grad(stepped.logits.sum(), summary)
        assert slope.abs().min() > 0
        assert stepped.state.summary is summary
        state = stepped.state
