"""One linear system by every route, against annotated-s4, scipy and the S4 authors' code, and against itself."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from models.layers import state_space as s
from models.layers.convolution import glu
from tests.models.golden import Case, case

ROUTES = (s.convolve, s.convolve_direct, s.convolve_fft)


def complex_of(found: Case, name: str) -> Tensor:
    return torch.complex(found[f"{name}_re"], found[f"{name}_im"])


def test_bilinear_and_zero_order_hold_as_annotated_s4_and_scipy_have_them() -> None:
    found = case("09_ssm_bilinear")
    A, B, C, step = found["A"], found["B"][:, 0], found["C"][0], float(found["step"])
    a_bar, b_bar = s.discretize(A, B, step)
    found.check("Ab", a_bar)
    found.check("Bb", b_bar.unsqueeze(1))
    held = s.discretize(A, B, step, "zoh")
    found.check("scipy_zoh_Ad", held[0])
    found.check("scipy_zoh_Bd", held[1].unsqueeze(1))
    kernel = s.kernel(a_bar, b_bar, C, 9)
    states, y = s.recur(a_bar, b_bar, C, 0.0, found["u"])
    found.check("K", kernel)
    found.check("y_recurrence", y)
    found.check("x_last", states[-1])
    for route in ROUTES:
        found.check("y_conv", route(found["u"], kernel))


def test_hippo_is_diagonal_plus_low_rank_and_its_kernel_is_a_cauchy_product() -> None:
    found = case("09_s4_dplr_hippo")
    A, B = s.hippo_legs(6)
    found.check("hippo_A", A)
    found.check("hippo_B", B)
    ours = s.legs_low_rank(6)
    rebuilt = ours.V @ (torch.diag(ours.Lambda) - ours.P.unsqueeze(1) * ours.P.conj()) @ ours.V.conj().T
    torch.testing.assert_close(rebuilt.real, A, rtol=0, atol=1e-11)
    found.check("Lambda_im", ours.Lambda.imag)
    Lambda, P, B_, C = (complex_of(found, name) for name in ("Lambda", "P", "B", "Cb"))
    a_bar, b_bar = s.discretize_low_rank(Lambda, P, P, B_, float(found["step"]))
    found.same(a_bar, complex_of(found, "Ab"))
    found.same(b_bar.unsqueeze(1), complex_of(found, "Bb"))
    kernel = s.kernel_low_rank(Lambda, P, P, B_, C[0], float(found["step"]), 12)
    found.check("K", kernel.real)
    found.same(kernel, complex_of(found, "K_from_powers"))
    for route in ROUTES:
        found.check("y_conv", route(found["u"], kernel.real))
    _, y = s.recur(a_bar, b_bar, C[0], 0.0, found["u"].to(C.dtype))
    found.same(y, complex_of(found, "y_recurrence"))


def test_the_diagonal_layer_of_s4d() -> None:
    found = case("09_s4d_standalone")
    Lambda = torch.complex(-found["log_A_real"].exp(), found["A_imag"])
    a_bar, b_bar = s.discretize_diagonal(Lambda, found["log_dt"].exp().unsqueeze(-1))
    kernel = s.kernel_diagonal(torch.view_as_complex(found["C"].contiguous()), b_bar, a_bar, 11)
    found.check("kernel", kernel)
    y = torch.nn.functional.gelu(s.convolve(found["u"], kernel) + found["D"].unsqueeze(-1) * found["u"])
    mixed = y.transpose(1, 2) @ found["W_out"][..., 0].T + found["b_out"]
    found.check("output", glu(mixed).transpose(1, 2))


def test_the_authors_diagonal_and_low_rank_layers_step_and_convolve() -> None:
    for name in ("09_s4_statespaces_diag", "09_s4_statespaces_dplr"):
        found = case(name)
        dA, dB, dC = (complex_of(found, part) for part in ("dA", "dB", "dC"))
        dense = dA if dA.ndim == 3 else torch.diag_embed(dA)
        factor = float(found.meta["dense_factor"])
        kernels = [
            factor * s.kernel(a, b, c, found["u"].shape[-1]).real
            for a, b, c in zip(dense, dB, dC[0], strict=True)
        ]
        found.check("kernel", torch.stack(kernels))
        y = s.convolve(found["u"], torch.stack(kernels)) + found["D"][0].unsqueeze(-1) * found["u"]
        found.check("y_layer", y)
        found.check("y_step", y)


def random_system(n: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """A stable dense system."""
    generator = torch.Generator().manual_seed(seed)
    A, B, C = (torch.randn(*shape, generator=generator).double() for shape in ((n, n), (n,), (n,)))
    return A - (torch.linalg.eigvals(A).real.max() + 0.1) * torch.eye(n).double(), B, C


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 40),
    st.floats(0.01, 0.5),
    st.sampled_from(["bilinear", "zoh"]),
    st.integers(0, 999),
)
def test_convolution_is_recurrence_on_any_system(
    n: int, length: int, delta: float, method: str, seed: int
) -> None:
    A, B, C = random_system(n, seed)
    a_bar, b_bar = s.discretize(A, B, delta, method)
    u = torch.randn(length, generator=torch.Generator().manual_seed(seed + 1)).double()
    _, recurrent = s.recur(a_bar, b_bar, C, 0.7, u)
    size = max(1.0, float(recurrent.abs().max()))
    for route in ROUTES:
        convolved = route(u, s.kernel(a_bar, b_bar, C, length)) + 0.7 * u
        torch.testing.assert_close(convolved / size, recurrent / size, rtol=0, atol=1e-9)
    torch.testing.assert_close(
        s.response(a_bar, b_bar, C, length) @ u + 0.7 * u, recurrent, rtol=1e-9, atol=1e-9
    )


def test_single_precision_stays_close_over_4096_rows() -> None:
    """The stated tolerance: 2e-4 of the largest output between FFT convolution and recurrence in float32."""
    A, B, C = (part.float() for part in random_system(4, 0))
    a_bar, b_bar = s.discretize(A, B, 0.05, "zoh")
    u = torch.randn(4096, generator=torch.Generator().manual_seed(1))
    _, recurrent = s.recur(a_bar, b_bar, C, 0.0, u)
    convolved = s.convolve(u, s.kernel(a_bar, b_bar, C, 4096))
    assert (convolved - recurrent).abs().max() / recurrent.abs().max() < 2e-4


def test_a_short_convolution_lets_nothing_of_a_later_row_into_an_earlier_one() -> None:
    u, K = torch.randn(2, 3, s.DIRECT), torch.randn(3, s.DIRECT)
    later = u.clone()
    later[..., 40:] = 1e6
    assert torch.equal(s.convolve(u, K)[..., :40], s.convolve(later, K)[..., :40])
    assert not torch.equal(s.convolve_fft(u, K)[..., :40], s.convolve_fft(later, K)[..., :40])


def test_a_system_that_varies_has_no_kernel() -> None:
    A, B, C = random_system(2, 3)
    bars = [s.discretize(A * (1 + 0.5 * k), B, 0.1) for k in range(12)]
    varying = s.response(torch.stack([a for a, _ in bars]), torch.stack([b for _, b in bars]), C, 12)
    fixed = s.response(*bars[0], C, 12)
    along = [torch.diagonal(fixed, -k) for k in range(11)]
    assert max(float(one.max() - one.min()) for one in along) < 1e-12
    assert float(torch.diagonal(varying, -1).max() - torch.diagonal(varying, -1).min()) > 1e-3


def test_powers_by_doubling_are_powers() -> None:
    base = torch.randn(3, 4, dtype=torch.complex128, generator=torch.Generator().manual_seed(0)) * 0.6
    for length in (1, 2, 3, 8, 13):
        torch.testing.assert_close(s.powers(base, length), base.unsqueeze(-1) ** torch.arange(length))


def test_the_three_starts_have_their_papers_modes() -> None:
    lin, inv, legs = (s.s4d_lambda(8, kind) for kind in ("lin", "inv", "legs"))  # type: ignore[arg-type]
    assert torch.equal(lin.imag, torch.pi * torch.arange(4).double())
    torch.testing.assert_close(inv.imag, 8 / torch.pi * (8 / (2 * torch.arange(4).double() + 1) - 1))
    assert torch.allclose(torch.stack([lin, inv, legs]).real, torch.full((3, 4), -0.5).double())
    assert (legs.imag > 0).all()


def test_what_cannot_be_made_discrete_is_told() -> None:
    A, B = torch.tensor([[20.0]]).double(), torch.ones(1).double()
    with pytest.raises(ValueError, match="divides by zero"):
        s.discretize(A, B, 0.1)
    with pytest.raises(ValueError, match="bilinear and zoh"):
        s.discretize(A, B, 0.1, "euler")
    with pytest.raises(ValueError, match="legs, lin and inv"):
        s.s4d_lambda(4, "x")  # type: ignore[arg-type]
