"""Put other weights into one decision and see how far its output moves (Jain and Wallace, NAACL 2019; 0x04J).

Everything before decision t stays as it was. The weights over the source rows are replaced by permuted ones, by
equal ones, and by a search for weights as far from the model's own as they can be (Jensen-Shannon) while the output
distribution stays within `tolerance` (total variation). The search is a lower bound: it shows that such weights
exist, and never that none lie farther.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models.analysis.distances import jensen_shannon
from models.interface import Read, Rows, System
from models.systems.luong import StepTrace as LuongStep
from models.training.tokenizer import BOS

STARTS, STEPS, BISECTIONS, RATE = 8, 30, 10, 0.4
SLACK = 0.98  # the search aims at this share of the tolerance, so that rounding never exceeds it


@dataclass(frozen=True)
class Decision:
    """One decision as a function of its weights alone: the state before it and the token before it are fixed.

    weights (S,) are the model's own, summing to `mass` (1, or local-p's coefficient sum); visible (S,) may be read.
    """

    system: System
    state: Any
    token: Tensor
    weights: Tensor
    visible: Tensor

    @property
    def mass(self) -> Tensor:
        return self.weights.sum()

    def log_probs(self, weights: Tensor) -> Tensor:
        """Output distributions under weights (N, S): (N, V)."""
        rows = torch.zeros(len(weights), dtype=torch.long, device=weights.device)
        stepped = self.system.step(
            self.state.select(rows), self.token.expand(len(weights)), read=Read(weights=weights)
        )
        return torch.log_softmax(stepped.logits, dim=-1)


@dataclass(frozen=True)
class Moved:
    """Several rows of weights and what each does to the decision: N rows, S source rows.

    js: Jensen-Shannon distance to the model's own weights (both scaled to sum 1); tv: total variation between the
    outputs; chosen: probability of the token that the run chose; top: the most probable token.
    """

    weights: np.ndarray
    js: np.ndarray
    tv: np.ndarray
    chosen: np.ndarray
    top: np.ndarray

    def row(self, index: int) -> Moved:
        """One row as a Moved of length 1."""
        part = slice(index, index + 1)
        return Moved(self.weights[part], self.js[part], self.tv[part], self.chosen[part], self.top[part])


@dataclass(frozen=True)
class Movement:
    """One decision under the model's own, equal, permuted and searched weights."""

    own: Moved
    uniform: Moved
    permuted: Moved
    adversarial: Moved
    tolerance: float


def reach(system: System, source: Rows, target: Sequence[int], t: int) -> Decision:
    """Decision t of a run whose tokens are target: the state after the t decisions before it.

    Raises ValueError for a system whose read has no single row of weights.
    """
    with torch.inference_mode(False), torch.no_grad():
        state: Any = system.read(Rows(source.ids.clone(), source.valid.clone()))
        for token in [BOS, *target][:t]:
            state = system.step(state, source.ids.new_full((1,), token)).state
        last = source.ids.new_full((1,), [BOS, *target][t])
        trace = system.step(state, last).trace
        weights = system.alignment(trace)
        if weights is None or not hasattr(trace, "attention"):
            raise ValueError("This system does not read the source through one row of weights.")
        visible = trace.visible if isinstance(trace, LuongStep) else source.valid.clone()
        return Decision(system, state, last, weights[0], visible[0])


def move(
    decision: Decision, chosen: int, tolerance: float, *, seed: int = 0, permutations: int = 20
) -> Movement:
    """All four replacements at once. chosen: the token that the run took here. tolerance in (0, 1)."""
    with torch.inference_mode(False):
        own = decision.weights.unsqueeze(0)
        shuffled = permute(decision, permutations, seed)
        equal = (decision.visible * decision.mass / decision.visible.sum()).unsqueeze(0)
        found = search(decision, torch.cat([equal, shuffled, _single(decision)]), tolerance)
        own_log = decision.log_probs(own)
        parts = [_moved(decision, rows, own_log, chosen) for rows in (own, equal, shuffled, found)]
    return Movement(*parts, tolerance=tolerance)


@torch.no_grad()
def permute(decision: Decision, count: int, seed: int) -> Tensor:
    """The model's own weights in `count` random orders over the visible rows, (count, S)."""
    generator = torch.Generator().manual_seed(seed)
    places = decision.visible.nonzero().squeeze(-1)
    rows = decision.weights.new_zeros(count, len(decision.weights))
    for row in rows:
        order = torch.randperm(len(places), generator=generator).to(places.device)
        row[places] = decision.weights[places[order]]
    return rows


def search(decision: Decision, candidates: Tensor, tolerance: float) -> Tensor:
    """The farthest weights found whose output stays within tolerance, (1, S): at worst the model's own.

    Candidates (N, S) are first drawn back towards the model's own weights until they fit; the best then climb.
    """
    own = decision.log_probs(decision.weights.unsqueeze(0)).detach().exp()
    fitting = _draw_back(decision, candidates, own, tolerance)
    far = _divergence(fitting, decision.weights)
    best = fitting[far.argsort(descending=True)[:STARTS]]
    climbed = _climb(decision, best, own, tolerance)
    everything = torch.cat([climbed, best, decision.weights.unsqueeze(0)])
    fits = _variation(decision, everything, own) <= tolerance
    far = _divergence(everything, decision.weights).masked_fill(~fits, -1.0)
    return everything[far.argmax()].unsqueeze(0)


def _single(decision: Decision) -> Tensor:
    """All of the mass on one visible row, for each visible row."""
    eye = torch.eye(len(decision.weights), dtype=decision.weights.dtype, device=decision.weights.device)
    return eye[decision.visible] * decision.mass


@torch.no_grad()
def _draw_back(decision: Decision, candidates: Tensor, own: Tensor, tolerance: float) -> Tensor:
    """Each candidate moved along its line to the model's own weights until the output fits, by bisection."""
    low, high = candidates.new_zeros(len(candidates), 1), candidates.new_ones(len(candidates), 1)
    share = high
    for _ in range(BISECTIONS):
        mixed = decision.weights + share * (candidates - decision.weights)
        fits = (_variation(decision, mixed, own) <= tolerance * SLACK).unsqueeze(-1)
        low, high = torch.where(fits, share, low), torch.where(fits, high, share)
        share = (low + high) / 2
    return decision.weights + low * (candidates - decision.weights)


def _climb(decision: Decision, starts: Tensor, own: Tensor, tolerance: float) -> Tensor:
    """Gradient ascent on the divergence, with a penalty outside the tolerance; the best fitting row of each climb."""
    hidden = ~decision.visible
    z = (starts / decision.mass + 1e-4).log().detach().requires_grad_(True)
    optimiser = torch.optim.Adam([z], lr=RATE)
    best, height = starts, _divergence(starts, decision.weights)
    for _ in range(STEPS):
        with torch.enable_grad():
            rows = decision.mass * torch.softmax(z.masked_fill(hidden, -torch.inf), dim=-1)
            variation, far = _variation(decision, rows, own), _divergence(rows, decision.weights)
            loss = 20 * torch.relu(variation - tolerance * SLACK) / tolerance - far
            (z.grad,) = torch.autograd.grad(loss.sum(), z)
        better = (variation <= tolerance * SLACK) & (far > height)
        best = torch.where(better.unsqueeze(-1), rows.detach(), best)
        height = torch.where(better, far.detach(), height)
        optimiser.step()
    return best


def _variation(decision: Decision, weights: Tensor, own: Tensor) -> Tensor:
    """Total variation between the outputs under weights (N, S) and the model's own, (N,)."""
    return (decision.log_probs(weights).exp() - own).abs().sum(-1) / 2


def _divergence(first: Tensor, second: Tensor) -> Tensor:
    """Jensen-Shannon divergence of rows scaled to sum 1, in nats, (N,)."""
    p = first / first.sum(-1, keepdim=True)
    q = (second / second.sum(-1, keepdim=True)).expand_as(p)
    middle = (p + q) / 2
    logs = middle.clamp(min=1e-12).log()
    return (
        (torch.xlogy(p, p.clamp(min=1e-12)) - p * logs).sum(-1) + (torch.xlogy(q, q) - q * logs).sum(-1)
    ) / 2


@torch.no_grad()
def _moved(decision: Decision, weights: Tensor, own: Tensor, chosen: int) -> Moved:
    log_probs = decision.log_probs(weights)
    scaled = (weights / weights.sum(-1, keepdim=True)).double().cpu().numpy()
    base = (decision.weights / decision.mass).double().cpu().numpy()
    return Moved(
        weights=weights.cpu().numpy(),
        js=jensen_shannon(scaled / scaled.sum(-1, keepdims=True), base / base.sum()),
        tv=((log_probs.exp() - own.exp()).abs().sum(-1) / 2).cpu().numpy(),
        chosen=log_probs[:, chosen].exp().cpu().numpy(),
        top=log_probs.argmax(-1).cpu().numpy(),
    )
