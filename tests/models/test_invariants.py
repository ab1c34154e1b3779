"""What must hold for every system in the catalog, whatever its paper."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from models.analysis import invariants
from models.catalog import TRANSLATORS, Entry, entry
from models.interface import Read, Rows, Scored, StateTensor, System
from models.layers.attention import gaussian
from models.layers.visibility import EmptyRowError
from tests.models.small import ALIGNED, VOCABULARY, config, small, source, target

EACH = pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)
EACH_ALIGNED = pytest.mark.parametrize("item", [entry(s) for s in ALIGNED], ids=lambda e: e.slug)


def repeat_steps(
    system: System, rows: Rows, target_in: Tensor, read: Read | None = None
) -> tuple[Tensor, list[Any]]:
    """Logits (B, T, V) of repeated one-token steps, and their traces."""
    state, logits, traces = system.read(rows), [], []
    for t, token in enumerate(target_in.unbind(1)):
        stepped = system.step(state, token, read=read.at(t) if read else None)
        state = stepped.state
        logits.append(stepped.logits)
        traces.append(stepped.trace)
    return torch.stack(logits, dim=1), traces


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)


@EACH
def test_repeated_steps_equal_the_teacher_forced_score(item: Entry) -> None:
    system, rows, target_in = small(item), source(7, 4, 1), target(6, 6, 6)
    scored = system.score(rows, target_in)
    logits, traces = repeat_steps(system, rows, target_in)
    assert scored.logits.shape == (3, 6, VOCABULARY)
    close(logits, scored.logits)
    if system.has_alignment:
        steps = torch.stack([one for t in traces if (one := system.alignment(t)) is not None], dim=1)
        close(steps, alignment(system, scored))
    else:
        assert system.alignment(scored.trace) is None


def alignment(system: System, scored: Scored) -> Tensor:
    found = system.alignment(scored.trace)
    assert found is not None
    return found


@EACH
def test_a_later_target_token_changes_no_earlier_logit(item: Entry) -> None:
    system, rows, target_in = small(item), source(6, 3), target(7, 7)
    before = system.score(rows, target_in)
    for t in range(1, 7):
        changed = target_in.clone()
        changed[:, t] = (changed[:, t] - 4) % (VOCABULARY - 5) + 5
        after = system.score(rows, changed)
        torch.testing.assert_close(after.logits[:, :t], before.logits[:, :t], rtol=0, atol=1e-12)
        assert (after.logits[:, t] - before.logits[:, t]).abs().max() > 1e-6
    assert invariants.future_difference(system, rows, target_in, before.logits) < 1e-12


@EACH
def test_a_padded_batch_equals_its_rows_alone(item: Entry) -> None:
    lengths, widths = (3, 9, 5), (8, 2, 5)
    system, rows, target_in = small(item), source(*lengths), target(*widths)
    scored = system.score(rows, target_in)
    for b, (S, T) in enumerate(zip(lengths, widths, strict=True)):
        own = Rows(rows.ids[b : b + 1, :S], rows.valid[b : b + 1, :S])
        alone = system.score(own, target_in[b : b + 1, :T])
        close(scored.logits[b : b + 1, :T], alone.logits)
        if system.has_alignment:
            close(alignment(system, scored)[b : b + 1, :T, :S], alignment(system, alone))
    first = Rows(rows.ids[:1, :3], rows.valid[:1, :3])
    logits = system.score(first, target_in[:1]).logits
    assert invariants.padding_difference(system, first, target_in[:1], logits) < 1e-10


@EACH
def test_what_stands_in_a_padded_row_does_not_matter(item: Entry) -> None:
    system, rows, target_in = small(item), source(3, 9), target(5, 5)
    noise = torch.randint(5, VOCABULARY, rows.ids.shape, generator=torch.Generator().manual_seed(5))
    noisy = Rows(torch.where(rows.valid, rows.ids, noise), rows.valid)
    assert not torch.equal(noisy.ids, rows.ids)
    close(system.score(noisy, target_in).logits, system.score(rows, target_in).logits)


@EACH
def test_select_takes_a_state_apart_and_puts_it_in_another_order(item: Entry) -> None:
    system, rows, target_in = small(item), source(7, 4, 6), target(4, 4, 4)
    state = system.read(rows)
    for token in target_in.T[:2]:
        state = system.step(state, token).state
    order = torch.tensor([2, 0, 0, 1])
    picked = state.select(order)
    assert type(picked) is type(state)
    plain, moved = system.step(state, target_in[:, 2]), system.step(picked, target_in[order, 2])
    close(moved.logits, plain.logits[order])
    close(
        system.step(moved.state, target_in[order, 3]).logits,
        system.step(plain.state, target_in[:, 3]).logits[order],
    )


@EACH
def test_state_tells_its_tensors_with_shape_and_bytes(item: Entry) -> None:
    state = small(item).read(source(7, 4))
    told: list[StateTensor] = state.tensors()
    assert told
    assert all(t.shape[0] == 2 and t.symbol and t.name for t in told)
    assert len({t.name for t in told}) == len(told)
    leaves = list(
        itertools.chain.from_iterable(v if isinstance(v, tuple) else (v,) for v in vars(state).values())
    )
    assert sum(t.nbytes for t in told) == state.nbytes == sum(v.nbytes for v in leaves)


@EACH
def test_a_step_leaves_the_state_before_it_untouched(item: Entry) -> None:
    system = small(item)
    state = system.read(source(5, 3))
    token = torch.tensor([9, 10])
    before = [v.clone() for v in flat(state)]
    first = system.step(state, token)
    assert all(torch.equal(a, b) for a, b in zip(before, flat(state), strict=True))
    assert torch.equal(system.step(state, token).logits, first.logits)


def flat(state: Any) -> list[Tensor]:
    return [p for v in vars(state).values() for p in (v if isinstance(v, tuple) else (v,))]


def visible_rows(item: Entry, rows: Rows, scored: Scored) -> Tensor:
    """(B, T, S): rows that a step may read."""
    if item.family == "Attention" and hasattr(scored.trace.decoder, "visible"):
        return scored.trace.decoder.visible
    return rows.valid.unsqueeze(1).expand(-1, scored.logits.shape[1], -1)


@EACH_ALIGNED
def test_weights_sum_to_one_and_hidden_rows_have_none(item: Entry) -> None:
    system, rows, target_in = small(item), source(3, 9, 1), target(11, 11, 11)
    scored = system.score(rows, target_in)
    weights, visible = alignment(system, scored), visible_rows(item, rows, scored)
    assert weights.shape == (3, 11, 9)
    assert weights.ge(0).all()
    assert weights[~visible].eq(0).all()
    assert invariants.masked_mass(weights, visible) == 0
    if item.slug == "luong_local_p":
        assert weights.sum(-1).le(1 + 1e-12).all()
        assert weights.sum(-1).min() < 0.9
    else:
        assert invariants.row_sum_difference(weights) < 1e-12


def test_local_p_is_content_times_gaussian_not_normalised_again() -> None:
    item = entry("luong_local_p")
    system, rows = small(item), source(9, 9, seed=3)
    step = system.score(rows, target(5, 5)).trace.decoder
    close(step.content.sum(-1), torch.ones(2, 5).double())
    for t in range(5):
        bell = gaussian(step.centre[:, t], system.config.half_width, 9)  # type: ignore[union-attr]
        close(step.attention.weights[:, t], step.content[:, t] * bell)
    assert step.centre.std() > 1e-3
    assert invariants.row_sum_difference(step.attention.weights) > 0.05


@EACH_ALIGNED
def test_a_source_with_nothing_to_read_is_an_error_that_names_its_row(item: Entry) -> None:
    rows = source(4, 4, 4)
    valid = rows.valid.clone()
    valid[1] = False
    with pytest.raises(EmptyRowError, match=r"Query row \[1[,\]]"):
        small(item).score(Rows(rows.ids, valid), target(3, 3, 3))


@EACH
def test_derivatives_reach_every_real_source_row_and_no_padded_one(item: Entry) -> None:
    system, rows, target_in = small(item), source(6, 3), target(5, 5)
    table = system.source_table()
    vectors = table(rows.ids).detach().requires_grad_()
    logits = system.score(Rows(rows.ids, rows.valid, vectors), target_in).logits
    close(logits, system.score(rows, target_in).logits)
    logits.log_softmax(-1)[..., 7].sum().backward()
    assert vectors.grad is not None
    size = vectors.grad.norm(dim=-1)
    assert size[rows.valid].min() > 1e-9
    assert size[~rows.valid].eq(0).all()


@EACH_ALIGNED
def test_given_weights_take_the_place_of_the_softmax(item: Entry) -> None:
    system, rows, target_in = small(item), source(5, 5), target(4, 4)
    weights = torch.full((2, 4, 5), 0.2).double()
    weights[0, 1] = torch.tensor([0.0, 1, 0, 0, 0])
    read = Read(weights=weights)
    scored = system.score(rows, target_in, read=read)
    close(alignment(system, scored), weights)
    close(repeat_steps(system, rows, target_in, read)[0], scored.logits)
    assert (scored.logits - system.score(rows, target_in).logits).abs().max() > 1e-4


@EACH_ALIGNED
def test_a_raised_score_draws_the_read_from_its_step_on(item: Entry) -> None:
    system, rows, target_in = small(item), source(3, 3), target(5, 5)
    bias = torch.zeros(2, 5, 3).double()
    bias[:, 2, 1] = 400.0  # above what dot products of random rows can reach
    read = Read(bias=bias)
    plain, forced = system.score(rows, target_in), system.score(rows, target_in, read=read)
    weights = alignment(system, forced)
    if item.slug == "luong_local_p":  # the Gaussian still fades what the softmax gave
        weights = forced.trace.decoder.content
    assert weights[:, 2, 1].min() > 0.99
    close(forced.logits[:, :2], plain.logits[:, :2])
    assert (forced.logits[:, 2] - plain.logits[:, 2]).abs().max() > 1e-6
    close(repeat_steps(system, rows, target_in, read)[0], forced.logits)


@EACH
def test_a_loaded_system_serves_two_visitors_at_once(item: Entry) -> None:
    system = small(item)
    asked = [(source(n, seed=n), target(6, seed=n)) for n in range(2, 10)]
    with torch.inference_mode():
        alone = [system.score(*request) for request in asked]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(torch.inference_mode()(lambda request: system.score(*request)), asked * 3))
    for one, other in zip(alone * 3, together, strict=True):
        assert torch.equal(one.logits, other.logits)
        if system.has_alignment:
            assert torch.equal(alignment(system, one), alignment(system, other))


@EACH
def test_a_few_updates_learn_three_pairs(item: Entry) -> None:
    """Every system can be trained: the teacher-forced loss falls below a third of where it began."""
    torch.manual_seed(0)
    sizes = {"d_embedding": 24, "d_hidden": 32, "d_annotation": 16, "d_alignment": 16, "d_model": 32}
    system: System = item.system_class()(config(item, **sizes))
    rows, full = source(4, 3, 4), target(5, 5, 5)
    optimiser = torch.optim.Adam(system.parameters(), lr=2e-2)
    losses = []
    for _ in range(30):
        logits = system.score(rows, full[:, :-1]).logits
        loss = F.cross_entropy(logits.flatten(0, 1), full[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[0] > 3
    assert losses[-1] < losses[0] / 3, losses[::10]
