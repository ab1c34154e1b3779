"""A run resumes to the bit, its losses agree, and its figures are what they say."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from models.catalog import entry
from models.interface import System
from models.training.corpus import Pair, collate
from models.training.trainer import Meter, Recipe, Run, candidate_loss, full_loss, learning_rate, validate
from tests.models.small import VOCABULARY, config

RECIPE = Recipe(
    steps=16,
    tokens=60,
    rate=1e-2,
    warmup=4,
    candidates=12,
    full_softmax=0.4,
    validate_every=4,
    patience=3,
    seed=7,
)


def synthetic(epoch: int) -> list[Pair]:
    """Other pairs every epoch, as the story grammar makes them."""
    rng = random.Random(epoch)
    return [
        Pair(*([rng.randrange(5, VOCABULARY) for _ in range(rng.randrange(1, 7))] for _ in "st"))
        for _ in range(50)
    ]


def tiny(slug: str) -> System:
    torch.manual_seed(0)
    return entry(slug).system_class()(config(entry(slug), dropout=0.2))


def start(folder: Path, slug: str = "rnn_search", recipe: Recipe = RECIPE) -> Run:
    return Run(tiny(slug), synthetic, recipe, folder)


def everything(run: Run) -> dict[str, Tensor]:
    """Every parameter and every moment by name."""
    found = {name: p.detach() for name, p in run.system.named_parameters()}
    for index, moments in run.optimiser.state_dict()["state"].items():
        found |= {f"{index}.{key}": value for key, value in moments.items()}
    return found


def same(one: Run, other: Run) -> bool:
    pair = everything(one), everything(other)
    assert pair[0].keys() == pair[1].keys()
    assert len(pair[0]) == 4 * len(list(one.system.parameters()))
    return all(torch.equal(pair[0][name], pair[1][name]) for name in pair[0])


@pytest.mark.parametrize("slug", ["rnn_search", "transformer"])
@pytest.mark.parametrize("precision", ["bf16", "fp32"])
def test_a_resumed_run_is_the_same_run_to_the_bit(tmp_path: Path, slug: str, precision: str) -> None:
    recipe = Recipe(**{**vars(RECIPE), "precision": precision})
    whole = start(tmp_path / "a", slug, recipe)  # a new run seeds the process's generator
    lines = [whole.advance() for _ in range(12)]
    assert whole.epoch >= 1  # the second half crosses into another epoch
    first = start(tmp_path / "b", slug, recipe)
    halves = [first.advance() for _ in range(6)]
    first.seconds, first.best, first.stale = 12.5, 3.25, 2
    first.save()
    torch.manual_seed(999)  # another process has another generator
    second = start(tmp_path / "b", slug, recipe)
    second.system.load_state_dict({k: v + 1 for k, v in second.system.state_dict().items()})
    assert second.stored
    second.resume()
    assert (second.step, second.seconds, second.best, second.stale) == (6, 12.5, 3.25, 2)
    halves += [second.advance() for _ in range(6)]
    assert halves == lines
    assert same(whole, second)
    assert (second.step, second.epoch, second.place) == (whole.step, whole.epoch, whole.place)


def test_the_seed_decides_a_run(tmp_path: Path) -> None:
    one, again = start(tmp_path), start(tmp_path)
    other = start(tmp_path, recipe=Recipe(**{**vars(RECIPE), "seed": 8}))
    for run in (one, again, other):
        torch.manual_seed(run.recipe.seed)
        for _ in range(3):
            run.advance()
    assert same(one, again)
    assert not same(one, other)


def test_a_run_that_was_never_stored_says_so(tmp_path: Path) -> None:
    run = start(tmp_path)
    assert not run.stored
    with pytest.raises(FileNotFoundError):
        run.resume()


def test_a_stored_run_names_its_recipe(tmp_path: Path) -> None:
    run = start(tmp_path)
    run.advance()
    run.save()
    assert json.loads((tmp_path / "recipe.json").read_text())["rate"] == RECIPE.rate
    assert not (tmp_path / "run.draft").exists()


def test_learning_rate_climbs_then_falls_to_two_percent() -> None:
    recipe = Recipe(steps=1000, warmup=100, rate=1e-3)
    rates = [learning_rate(step, recipe) for step in range(1000)]
    assert rates[0] == pytest.approx(1e-5)
    assert rates[:100] == sorted(rates[:100])
    assert rates[99] == pytest.approx(1e-3)
    assert rates[100:] == sorted(rates[100:], reverse=True)
    assert rates[550] == pytest.approx(1e-3 * 0.51)
    assert rates[-1] == pytest.approx(2e-5, rel=0.01)
    assert learning_rate(5000, recipe) == pytest.approx(2e-5)


def test_advance_uses_the_rate_of_its_step_and_clips(tmp_path: Path) -> None:
    run = start(tmp_path, recipe=Recipe(**{**vars(RECIPE), "clip": 1e-3}))
    line = run.advance()
    assert line["rate"] == learning_rate(0, run.recipe) == run.optimiser.param_groups[0]["lr"]
    grads = torch.stack([p.grad.norm() for p in run.system.parameters() if p.grad is not None])
    assert line["gradient_norm"] > 1e-3
    assert float(grads.norm()) <= 1e-3 * 1.001


def rows(n: int = 9) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    table, bias = torch.randn(30, 4, generator=generator), torch.randn(30, generator=generator)
    return torch.randn(n, 4, generator=generator), torch.randint(30, (n,), generator=generator), table, bias


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_candidate_loss_is_the_full_loss_when_every_entry_is_drawn(smoothing: float) -> None:
    features, labels, table, bias = rows()
    full = full_loss(features, labels, table, bias, smoothing)
    drawn = torch.arange(30).repeat(40)
    found = candidate_loss(features, labels, table, bias, smoothing, drawn)
    torch.testing.assert_close(found, full, rtol=1e-5, atol=1e-5)
    few = candidate_loss(features, labels, table, bias, smoothing, drawn[:3])
    assert abs(float(few - full)) > 1e-2


def test_corrected_candidates_estimate_the_whole_sum() -> None:
    """With a drawn entry lifted by -log of its chance, the mean normaliser over draws is the full one."""
    features, labels, table, bias = rows(1)
    logits = F.linear(features, table, bias)[0]
    generator = torch.Generator().manual_seed(2)
    draws = torch.randint(30, (4000, 10), generator=generator)
    losses = torch.stack([candidate_loss(features, labels, table, bias, 0.0, drawn) for drawn in draws])
    normaliser = torch.exp(losses + logits[labels[0]]).mean()
    assert float(normaliser) == pytest.approx(float(logits.exp().sum()), rel=0.05)


def test_full_loss_is_label_smoothed_cross_entropy() -> None:
    features, labels, table, bias = rows()
    log_p = torch.log_softmax(features @ table.T + bias, dim=-1)
    own = log_p.gather(1, labels.unsqueeze(1))[:, 0]
    by_hand = -(0.9 * own + 0.1 * log_p.mean(1)).mean()
    torch.testing.assert_close(full_loss(features, labels, table, bias, 0.1), by_hand)


def test_the_last_share_of_a_run_uses_the_whole_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[str] = []
    for kind in ("full", "candidate"):
        original = globals()[f"{kind}_loss"]
        monkeypatch.setattr(
            f"models.training.trainer.{kind}_loss", lambda *a, k=kind, f=original: used.append(k) or f(*a)
        )
    run = start(tmp_path)
    for _ in range(RECIPE.steps):
        run.advance()
    assert used == ["candidate"] * 10 + ["full"] * 6  # 0.4 of 16, and the tenth step still lies before 9.6
    assert run.finished


def test_a_run_is_finished_by_steps_or_by_patience(tmp_path: Path) -> None:
    run = start(tmp_path)
    assert not run.finished
    run.stale = RECIPE.patience
    assert run.finished


def test_validation_loss_is_the_mean_over_real_tokens_without_dropout() -> None:
    system, pairs = tiny("transformer"), synthetic(0)
    found = validate(system, pairs)
    assert found == pytest.approx(validate(system, pairs, tokens=30), rel=1e-5)
    total, count = 0.0, 0
    for pair in pairs:
        batch = collate([pair])
        log_p = torch.log_softmax(system.score(batch.source, batch.target_in).logits[0], -1)
        total -= float(log_p.gather(1, batch.labels[0].unsqueeze(1)).detach().sum())
        count += len(pair.target) + 1
    assert found == pytest.approx(total / count, rel=1e-5)
    assert not system.training


def test_meter_averages_what_it_was_told() -> None:
    meter = Meter()
    for loss, norm, tokens in [(2.0, 1.0, 30), (4.0, 3.0, 50)]:
        meter.add({"loss": loss, "gradient_norm": norm, "tokens": tokens})
    line = meter.line(200, 1e-3, 12.34)
    assert (line["step"], line["loss"], line["gradient_norm"], line["rate"]) == (200, 3.0, 2.0, 1e-3)
    assert line["seconds"] == 12.3
    assert math.isfinite(line["tokens_per_second"])
    assert line.keys() == {"step", "loss", "gradient_norm", "rate", "tokens_per_second", "seconds"}
