"""The selective scan by its three schedules, against the authors' reference and Hugging Face's Mamba."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from models.layers.selective import scan, scan_loop, scan_step, survival
from models.systems.mamba import Config, Mamba, Mixer
from models.systems.single_stream import Stream
from tests.models.golden import Case, case, names


def inputs(found: Case) -> list[Tensor]:
    """The reference's channel-first tensors as ours: u, delta, A, B, C."""
    delta = found["delta"]
    if found.meta["delta_softplus"]:
        delta = torch.nn.functional.softplus(delta + found["delta_bias"].unsqueeze(-1))
    first = [found["u"], delta, found["B"], found["C"]]
    u, delta, B, C = (one.transpose(1, 2) for one in first)
    return [u, delta, found["A"], B, C]


@pytest.mark.parametrize("name", ["10_selective_scan_ref", "10_selective_scan_ref_bare"])
def test_the_authors_reference_scan(name: str) -> None:
    found = case(name)
    u, delta, A, B, C = inputs(found)
    for y, last in (scan(u, delta, A, B, C), scan(u, delta, A, B, C, chunk=2), scan_loop(u, delta, A, B, C)):
        if "D" in found:
            y = (y + found["D"] * u) * torch.nn.functional.silu(found["z"].transpose(1, 2))
        found.check("out", y.transpose(1, 2))
        found.check("last_state", last)


def load_mixer(mixer: Mixer, found: Case, prefix: str) -> None:
    """A block of another implementation: its rows [x | z] and [step | B | C] are ours."""
    ours = {
        "log_A": "A_log", "D": "D", "taps_bias": "conv1d.bias", "project.weight": "in_proj.weight",
        "select.weight": "x_proj.weight", "step_size.weight": "dt_proj.weight", "step_size.bias": "dt_proj.bias",
        "output.weight": "out_proj.weight",
    }  # fmt: skip
    parameters = dict(mixer.named_parameters())
    with torch.no_grad():
        for name, theirs in ours.items():
            parameters[name].copy_(found[f"{prefix}{theirs}"])
        mixer.taps.copy_(found[f"{prefix}conv1d.weight"][:, 0])


@pytest.mark.parametrize("name", names("10_mamba_block_mambapy"))
def test_the_block_of_mambapy_all_at_once_and_row_by_row(name: str) -> None:
    found = case(name)
    D, d_step = found["p.dt_proj.weight"].shape
    d_model, d_state, width = (
        found["x"].shape[-1],
        found["p.A_log"].shape[1],
        found["p.conv1d.weight"].shape[-1],
    )
    config = Config(d_model=d_model, expand=D // d_model, d_state=d_state, d_step=d_step, width=width)
    mixer = Mixer(config).double()
    load_mixer(mixer, found, "p.")
    mixer.norm = nn.Identity()  # type: ignore[assignment]
    y, last, _, _ = mixer(found["x"])
    found.check("y_pscan", y)
    found.check("h_last", last)
    state, buffer = mixer.zeros(len(found["x"]))
    for t, row in enumerate(found["x"].unbind(1)):
        out, state, buffer, _ = mixer.step(row, state, buffer)
        found.same(out, found["y_step"][:, t])


def test_the_language_model_of_transformers() -> None:
    found = case("10_mamba_lm")
    system = Mamba(Config(vocab_size=11, d_model=6, d_state=4, d_step=2, n_layers=2)).double().eval()
    for k, mixer in enumerate(system.layers):
        load_mixer(mixer, found, f"p.backbone.layers.{k}.mixer.")  # type: ignore[arg-type]
    with torch.no_grad():
        system.embedding.weight.copy_(found["p.backbone.embeddings.weight"])
        system.norm.weight.copy_(found["p.backbone.norm_f.weight"])
        for k, mixer in enumerate(system.layers):
            mixer.norm.weight.copy_(found[f"p.backbone.layers.{k}.norm.weight"])  # type: ignore[union-attr, operator]
    for module in system.modules():
        if isinstance(module, nn.RMSNorm):
            module.eps = 1e-5
    ids = found["input_ids"].long()
    none = torch.zeros(2, dtype=torch.long)
    vectors = system.embedding(ids)
    stream = Stream(vectors, torch.ones_like(ids, dtype=torch.bool), none, torch.arange(7).expand(2, -1))
    rows, _ = system.run(stream)
    found.check("logits", system.project(rows))
    state = system.layers[0](vectors)[1]  # type: ignore[operator]
    found.check("ssm_state0", state)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 3),
    st.integers(1, 20),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 7),
    st.integers(0, 999),
)
def test_scan_is_loop_is_step(batch: int, length: int, D: int, N: int, chunk: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    u, delta, B, C, x = (
        torch.rand(*shape, generator=generator).double()
        for shape in (
            (batch, length, D),
            (batch, length, D),
            (batch, length, N),
            (batch, length, N),
            (batch, D, N),
        )
    )
    A = -torch.rand(D, N, generator=generator).double() * 3
    y, last = scan_loop(u, delta, A, B, C, x)
    chunked, end = scan(u, delta, A, B, C, x, chunk)
    torch.testing.assert_close(chunked, y, rtol=0, atol=1e-9)
    torch.testing.assert_close(end, last, rtol=0, atol=1e-9)
    for t in range(length):
        row, x = scan_step(u[:, t], delta[:, t], A, B[:, t], C[:, t], x)
        torch.testing.assert_close(row, y[:, t], rtol=0, atol=1e-9)


def test_single_precision_stays_close_over_4096_rows() -> None:
    """The stated tolerance: 1e-4 of the largest output, float32 scan against the float64 loop."""
    generator = torch.Generator().manual_seed(0)
    u, delta, B, C = (torch.rand(1, 4096, n, generator=generator) - 0.2 * (n == 3) for n in (6, 6, 3, 3))
    A = -torch.rand(6, 3, generator=generator)
    exact, _ = scan_loop(*(one.double() for one in (u, delta.abs(), A, B, C)))
    single, _ = scan(u, delta.abs(), A, B, C)
    assert float((single - exact).abs().max() / exact.abs().max()) < 1e-4


def test_its_own_backward_is_the_derivative() -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = ((2, 7, 3), (2, 7, 3), (3, 4), (2, 7, 4), (2, 7, 4), (2, 3, 4))
    given_ = [torch.rand(*shape, generator=generator).double().requires_grad_() for shape in shapes]

    def of(u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return scan(u, delta, -A, B, C, x, 3)

    assert torch.autograd.gradcheck(of, given_)


def test_survival_is_the_product_of_what_each_row_leaves() -> None:
    generator = torch.Generator().manual_seed(0)
    delta, A = torch.rand(5, 3, generator=generator).double(), -torch.rand(3, 2, generator=generator).double()
    kept = survival(delta, A)
    by_hand = torch.exp(delta[3].unsqueeze(-1) * A) * torch.exp(delta[2].unsqueeze(-1) * A)
    torch.testing.assert_close(kept[3, 1], by_hand.mean())
    assert torch.equal(kept.diagonal(), torch.ones(5).double())
    assert kept.triu(1).eq(0).all()


def test_a_chunk_of_no_rows_is_refused() -> None:
    rows, A = torch.ones(1, 1, 1), torch.ones(1, 1)
    with pytest.raises(ValueError, match="at least one row"):
        scan(rows, rows, A, rows, rows, chunk=0)
