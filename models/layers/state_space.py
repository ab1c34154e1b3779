"""One linear state system, two schedules: recurrence and convolution (Gu et al. 2022; 0x0C.3).

    x'(t) = A x(t) + B u(t),  y(t) = C x(t) + D u(t)                       continuous
    x_k = Abar x_(k-1) + Bbar u_k,  y_k = C x_k + D u_k                    one step of size Delta a row
    K_l = C Abar^l Bbar,  y = K * u + D u                                  the same layer, time-invariant

Three parameterisations of A: dense (any matrix), diagonal (S4D: K is a Vandermonde product) and diagonal plus low rank
(S4: K's generating function is a Cauchy product, read at the roots of unity). HiPPO-LegS is the matrix they start from.

Glossary: N states a channel, L rows, d channels; delta is Delta; a_bar, b_bar are the discrete A and B; Lambda, P, Q
are the diagonal and the low-rank factors of A = diag(Lambda) - P Q^*.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

Method = Literal["bilinear", "zoh"]
DIRECT = 128  # rows up to which, in a batch of 32 on a CPU, the Toeplitz product costs what the FFT costs


# ---- dense


def discretize(A: Tensor, B: Tensor, delta: float, method: str = "bilinear") -> tuple[Tensor, Tensor]:
    """Abar and Bbar of A (N, N), B (N,) or (N, M) for one step.

    bilinear: (I - Delta/2 A)^-1 (I + Delta/2 A), (I - Delta/2 A)^-1 Delta B. zoh: exp(Delta A) and its integral times
    B, read from one exponential of the block matrix [A B; 0 0], so that a singular A is no special case.
    Raises ValueError with a sentence where I - Delta/2 A has no inverse, or for another method.
    """
    columns = B.unsqueeze(-1) if B.ndim == 1 else B
    if method == "bilinear":
        a_bar, b_bar = _bilinear(A, columns, delta)
    elif method == "zoh":
        a_bar, b_bar = _zero_order_hold(A, columns, delta)
    else:
        raise ValueError(f"No discretisation is called {method!r}; there are bilinear and zoh.")
    return a_bar, b_bar[:, 0] if B.ndim == 1 else b_bar


def _bilinear(A: Tensor, B: Tensor, delta: float) -> tuple[Tensor, Tensor]:
    one = torch.eye(A.shape[0], dtype=A.dtype, device=A.device)
    left = one - delta / 2 * A
    solved, info = torch.linalg.solve_ex(left, torch.cat([one + delta / 2 * A, delta * B], dim=1))
    if bool(info) or not bool(torch.isfinite(solved).all()):
        raise ValueError(
            f"With a step of {delta:g} the bilinear rule divides by zero: 2 / step is an eigenvalue of A."
        )
    return solved[:, : A.shape[0]], solved[:, A.shape[0] :]


def _zero_order_hold(A: Tensor, B: Tensor, delta: float) -> tuple[Tensor, Tensor]:
    n, m = B.shape
    block = torch.zeros(n + m, n + m, dtype=A.dtype, device=A.device)
    block[:n, :n], block[:n, n:] = A, B
    whole = torch.linalg.matrix_exp(block * delta)
    return whole[:n, :n], whole[:n, n:]


def kernel(a_bar: Tensor, b_bar: Tensor, C: Tensor, length: int) -> Tensor:
    """K_l = C Abar^l Bbar for l = 0 .. length - 1, by the definition: (N, N), (N,), (N,) -> (L,)."""
    x, found = b_bar, []
    for _ in range(length):
        found.append((C * x).sum())
        x = a_bar @ x
    return torch.stack(found)


def recur(a_bar: Tensor, b_bar: Tensor, C: Tensor, D: float | Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """Every state (L, N) and output (L,), one row after another.

    a_bar (N, N) and b_bar (N,), or one of each a row, (L, N, N) and (L, N): a system that varies with time.
    """
    length = len(u)
    every_a = a_bar.expand(length, -1, -1) if a_bar.ndim == 2 else a_bar
    every_b = b_bar.expand(length, -1) if b_bar.ndim == 1 else b_bar
    x, states = torch.zeros_like(every_b[0]), []
    for A_k, B_k, u_k in zip(every_a, every_b, u, strict=True):
        x = A_k @ x + B_k * u_k
        states.append(x)
    rows = torch.stack(states)
    return rows, rows @ C + D * u


def response(a_bar: Tensor, b_bar: Tensor, C: Tensor, length: int) -> Tensor:
    """What u_s adds to y_t, (L, L): C A_t .. A_(s+1) B_s on and below the diagonal. Toeplitz if nothing varies."""
    impulses = torch.eye(length, dtype=C.dtype, device=C.device)
    return torch.stack([recur(a_bar, b_bar, C, 0.0, one)[1] for one in impulses], dim=1)


def convolve(u: Tensor, K: Tensor) -> Tensor:
    """Causal convolution over the last axis, y_t = sum_l K_l u_(t-l): u (..., L), K (..., L), real.

    A short input meets the Toeplitz matrix of K, so that a later row adds exactly nothing to an earlier one; a long one
    goes by FFT, whose rounding spreads over every row.
    """
    return convolve_direct(u, K) if u.shape[-1] <= DIRECT else convolve_fft(u, K)


def convolve_direct(u: Tensor, K: Tensor) -> Tensor:
    """`convolve` as the sum it stands for, L^2 products: window t of the padded K is K_(t-L+1) .. K_t."""
    windows = F.pad(K, (u.shape[-1] - 1, 0)).unfold(-1, u.shape[-1], 1)  # (..., L, L)
    return torch.einsum("...tl,...l->...t", windows, u.flip(-1))


def convolve_fft(u: Tensor, K: Tensor) -> Tensor:
    """`convolve` in L log L: both are padded to 2 L, so that the end does not run round into the beginning."""
    size = 2 * u.shape[-1]
    return torch.fft.irfft(torch.fft.rfft(u, size) * torch.fft.rfft(K, size), size)[..., : u.shape[-1]]


# ---- HiPPO


def hippo_legs(n: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """HiPPO-LegS (Gu et al. 2020): A (N, N), B (N,). A_nk = -sqrt((2n+1)(2k+1)) below, -(n+1) on the diagonal."""
    root = (2 * torch.arange(n, dtype=dtype) + 1).sqrt()
    A = -torch.tril(root.unsqueeze(1) * root, -1) - torch.diag(torch.arange(1, n + 1, dtype=dtype))
    return A, root


class LowRank(NamedTuple):
    """A = V (diag(Lambda) - P P^*) V^*, with B in the same basis: complex (N,) each, V (N, N)."""

    Lambda: Tensor
    P: Tensor
    B: Tensor
    V: Tensor


def legs_low_rank(n: int) -> LowRank:
    """HiPPO-LegS as normal plus low rank, diagonalised by a unitary V (Gu et al. 2022, Theorem 1).

    A + P P^T with P = sqrt(n + 1/2) is skew-symmetric minus one half, so V is unitary and Re Lambda = -1/2.
    """
    A, B = hippo_legs(n)
    P = (torch.arange(n, dtype=A.dtype) + 0.5).sqrt()
    normal = A + P.unsqueeze(1) * P
    skew = normal - torch.diag(normal.diagonal())
    imaginary, V = torch.linalg.eigh(skew.to(torch.complex128) * -1j)
    Lambda = normal.diagonal().mean() + 1j * imaginary
    back = V.conj().T
    return LowRank(Lambda, back @ P.to(V.dtype), back @ B.to(V.dtype), V)


# ---- diagonal (S4D)


def discretize_diagonal(Lambda: Tensor, delta: Tensor, method: str = "zoh") -> tuple[Tensor, Tensor]:
    """Abar and the factor that makes Bbar of B, elementwise: Lambda (..., N), delta broadcastable."""
    if method == "zoh":
        a_bar = torch.exp(delta * Lambda)
        return a_bar, (a_bar - 1) / Lambda
    if method == "bilinear":
        below = 1 - delta / 2 * Lambda
        return (1 + delta / 2 * Lambda) / below, delta / below
    raise ValueError(f"No discretisation is called {method!r}; there are bilinear and zoh.")


def powers(a_bar: Tensor, length: int) -> Tensor:
    """Abar^l for l = 0 .. L - 1: (..., N) -> (..., N, L), by doubling: log2 L products instead of L powers."""
    found, leap = torch.ones_like(a_bar).unsqueeze(-1), a_bar.unsqueeze(-1)
    while found.shape[-1] < length:
        found = torch.cat([found, found * leap], dim=-1)
        leap = leap * leap
    return found[..., :length]


def vandermonde(weights: Tensor, a_bar: Tensor, length: int) -> Tensor:
    """sum_n w_n Abar_n^l for l = 0 .. L - 1: (..., N), (..., N) -> (..., L), complex."""
    return (weights.unsqueeze(-2) @ powers(a_bar, length)).squeeze(-2)


def kernel_diagonal(C: Tensor, b_bar: Tensor, a_bar: Tensor, length: int) -> Tensor:
    """Real kernel of a diagonal system whose modes come in conjugate pairs, one of each given: 2 Re sum C b Abar^l."""
    return 2 * vandermonde(C * b_bar, a_bar, length).real


def s4d_lambda(n: int, kind: Literal["legs", "lin", "inv"] = "lin") -> Tensor:
    """N / 2 modes to start from (Gu et al. 2022b, S4D): -1/2 + i pi n (Lin); -1/2 + i N/pi (N/(2n+1) - 1) (Inv);
    or the eigenvalues of the normal part of HiPPO-LegS with positive imaginary part (LegS)."""
    place = torch.arange(n // 2, dtype=torch.float64)
    if kind == "lin":
        return torch.complex(torch.full_like(place, -0.5), math.pi * place)
    if kind == "inv":
        return torch.complex(torch.full_like(place, -0.5), n / math.pi * (n / (2 * place + 1) - 1))
    if kind == "legs":
        every = legs_low_rank(n).Lambda
        upper = every[every.imag > 0]
        return upper[upper.imag.argsort()]
    raise ValueError(f"No start is called {kind!r}; there are legs, lin and inv.")


# ---- diagonal plus low rank (S4)


def cauchy(weights: Tensor, points: Tensor, Lambda: Tensor) -> Tensor:
    """sum_n w_n / (z - Lambda_n) at each point: (N,), (L,), (N,) -> (L,)."""
    return (weights / (points.unsqueeze(-1) - Lambda)).sum(-1)


def discretize_low_rank(
    Lambda: Tensor, P: Tensor, Q: Tensor, B: Tensor, delta: float
) -> tuple[Tensor, Tensor]:
    """Dense bilinear Abar (N, N), Bbar (N,) of A = diag(Lambda) - P Q^*."""
    A = torch.diag(Lambda) - P.unsqueeze(1) * Q.conj()
    return discretize(A, B, delta, "bilinear")


def kernel_low_rank(
    Lambda: Tensor, P: Tensor, Q: Tensor, B: Tensor, C: Tensor, delta: float, length: int
) -> Tensor:
    """K of S4 without a power of Abar (Gu et al. 2022, Algorithm 1): (N,) complex each -> (L,) complex.

    At the L-th roots of unity z the generating function sum_l K_l z^l is, with g = 2/Delta (1-z)/(1+z) and
    C~ = C (I - Abar^L), four Cauchy products and Woodbury's identity; an inverse FFT gives K.
    """
    a_bar, _ = discretize_low_rank(Lambda, P, Q, B, delta)
    one = torch.eye(len(Lambda), dtype=a_bar.dtype, device=a_bar.device)
    truncated = C @ (one - torch.linalg.matrix_power(a_bar, length))
    # At z = -1 (L even) g has its pole; the limit there is Delta/2 C~ B.
    z = torch.exp(-2j * math.pi * torch.arange(length, dtype=torch.float64, device=a_bar.device) / length)
    safe = torch.where((1 + z).abs() < 1e-12, torch.ones_like(z), z)
    g, factor = 2 / delta * (1 - safe) / (1 + safe), 2 / (1 + safe)
    k00, k01 = cauchy(truncated * B, g, Lambda), cauchy(truncated * P, g, Lambda)
    k10, k11 = cauchy(Q.conj() * B, g, Lambda), cauchy(Q.conj() * P, g, Lambda)
    at_roots = factor * (k00 - k01 / (1 + k11) * k10)
    at_roots = torch.where((1 + z).abs() < 1e-12, delta / 2 * (truncated @ B), at_roots)
    return torch.fft.ifft(at_roots)
