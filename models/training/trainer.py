"""Training one system: AdamW, warm-up then cosine, label smoothing, clipping; resumable to the bit.

A run's order of batches, dropout and candidates depends on its seed and step alone, and its whole state
(weights, moments, generator) is written as safetensors, so a resumed run continues as if it had never stopped.
For most of a run the softmax covers a batch's own targets and random candidates with the -log q correction
(Jean et al. 2015); the last part uses the whole vocabulary.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from models.interface import System
from models.training.corpus import Batch, Pair, batches, collate
from models.training.objectives import Objective, target_rows

Precision = Literal["bf16", "fp32"]


@dataclass(frozen=True)
class Recipe:
    """Choices of a run, each recorded in the checkpoint's provenance."""

    steps: int = 20_000
    tokens: int = 800  # padded target tokens a batch
    rate: float = 1.2e-3
    warmup: int = 400
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    smoothing: float = 0.1
    clip: float = 1.0
    candidates: int = 800  # random entries beside a batch's own targets
    full_softmax: float = 0.15  # last share of the run with the whole vocabulary
    precision: Precision = "fp32"  # of matrix products; parameters and states stay float32
    validate_every: int = 1_000
    patience: int = 8  # validations without improvement before an early stop
    seed: int = 20030527


def learning_rate(step: int, recipe: Recipe) -> float:
    """Linear warm-up, then a cosine to 2% of the peak at the last step."""
    if step < recipe.warmup:
        return recipe.rate * (step + 1) / recipe.warmup
    done = (step - recipe.warmup) / max(1, recipe.steps - recipe.warmup)
    return recipe.rate * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))


def full_loss(rows: Tensor, labels: Tensor, table: Tensor, bias: Tensor, smoothing: float) -> Tensor:
    """Mean label-smoothed cross entropy over the whole vocabulary. rows (N, d), labels (N,)."""
    return F.cross_entropy(F.linear(rows, table, bias).float(), labels, label_smoothing=smoothing)


def candidate_loss(
    rows: Tensor, labels: Tensor, table: Tensor, bias: Tensor, smoothing: float, drawn: Tensor
) -> Tensor:
    """The same over the batch's targets and `drawn` ids; a drawn entry's logit is lifted by -log of its chance."""
    own, places = labels.unique(return_inverse=True)
    extra = drawn[~torch.isin(drawn, own)].unique()
    chosen = torch.cat([own, extra])
    chance = 1 - (1 - 1 / table.shape[0]) ** drawn.numel()
    correction = torch.zeros(chosen.numel(), device=rows.device)
    correction[own.numel() :] = -math.log(chance)
    logits = F.linear(rows, table[chosen], bias[chosen]).float() + correction
    return F.cross_entropy(logits, places, label_smoothing=smoothing)


class Run:
    """One resumable training run. `step` counts updates; `advance` makes one."""

    def __init__(
        self, system: System, pairs: Any, recipe: Recipe, folder: Path, objective: Objective = target_rows
    ) -> None:
        """pairs(epoch) -> Sequence[Pair]: the training pairs of one epoch."""
        self.system, self.pairs, self.recipe, self.folder = system, pairs, recipe, folder
        self.objective = objective
        self.optimiser = torch.optim.AdamW(
            system.parameters(),
            lr=recipe.rate,
            betas=recipe.betas,
            weight_decay=recipe.weight_decay,
            fused=True,
        )
        self.step, self.epoch, self.place, self.seconds = 0, 0, 0, 0.0
        self.best, self.stale = math.inf, 0
        self.device = next(system.parameters()).device
        self._batches = self._epoch(0)
        torch.manual_seed(recipe.seed)

    def _epoch(self, epoch: int) -> Iterator[list[Pair]]:
        return batches(self.pairs(epoch), self.recipe.tokens, self.recipe.seed + epoch)

    def _next(self) -> Batch:
        for pairs in self._batches:
            self.place += 1
            return collate(pairs)
        self.epoch, self.place = self.epoch + 1, 0
        self._batches = self._epoch(self.epoch)
        return self._next()

    def loss(self, batch: Batch) -> Tensor:
        enabled = self.recipe.precision == "bf16"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=enabled):
            rows, labels = self.objective(self.system, batch)
            table, bias = self.system.output_table()
            small = table.shape[0] <= self.recipe.candidates  # nothing to save by drawing from it
            if small or self.step >= self.recipe.steps * (1 - self.recipe.full_softmax):
                return full_loss(rows, labels, table, bias, self.recipe.smoothing)
            drawn = torch.randint(table.shape[0], (self.recipe.candidates,), device=self.device)
            return candidate_loss(rows, labels, table, bias, self.recipe.smoothing, drawn)

    def advance(self) -> dict[str, float]:
        """One update; returns loss, gradient norm, learning rate and target tokens."""
        self.system.train()
        batch = self._next().to(self.device)
        rate = learning_rate(self.step, self.recipe)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        loss = self.loss(batch)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.system.parameters(), self.recipe.clip)
        self.optimiser.step()
        self.step += 1
        return {
            "loss": float(loss.detach()),
            "gradient_norm": float(norm),
            "rate": rate,
            "tokens": batch.tokens,
        }

    @property
    def finished(self) -> bool:
        """All steps are done, or validation has stopped improving."""
        return self.step >= self.recipe.steps or self.stale >= self.recipe.patience

    @property
    def stored(self) -> bool:
        """The folder holds a run to resume."""
        return (self.folder / "run.safetensors").exists()

    def save(self) -> None:
        """Write everything that the next step depends on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = {f"system.{n}": p.detach() for n, p in self.system.named_parameters()}
        names = [n for n, _ in self.system.named_parameters()]
        for index, moments in self.optimiser.state_dict()["state"].items():
            tensors |= {f"moment.{names[index]}.{key}": value for key, value in moments.items()}
        tensors |= self._generators()
        draft = self.folder / "run.draft"
        facts = {k: str(getattr(self, k)) for k in ("step", "epoch", "place", "seconds", "best", "stale")}
        save_file({k: v.contiguous().clone() for k, v in tensors.items()}, draft, metadata=facts)
        draft.replace(self.folder / "run.safetensors")
        (self.folder / "recipe.json").write_text(json.dumps(asdict(self.recipe), indent=1), encoding="utf-8")

    def _generators(self) -> dict[str, Tensor]:
        own = {"generator": torch.get_rng_state()}
        if self.device.type == "cuda":
            own["generator_cuda"] = torch.cuda.get_rng_state(self.device)
        return own

    def resume(self) -> None:
        """Continue the run stored in the folder. Raises FileNotFoundError when there is none."""
        from safetensors import safe_open

        path = self.folder / "run.safetensors"
        tensors = load_file(path)
        with safe_open(path, "pt") as stored:
            facts = stored.metadata()
        self.step, self.epoch, self.place, self.stale = (
            int(facts[k]) for k in ("step", "epoch", "place", "stale")
        )
        self.seconds, self.best = float(facts["seconds"]), float(facts["best"])
        self._restore(tensors)
        self._batches = self._epoch(self.epoch)
        for _ in range(self.place):
            next(self._batches)
        torch.set_rng_state(tensors["generator"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(tensors["generator_cuda"], self.device)

    def _restore(self, tensors: dict[str, Tensor]) -> None:
        state = self.optimiser.state_dict()
        with torch.no_grad():
            for index, (name, parameter) in enumerate(self.system.named_parameters()):
                parameter.copy_(tensors[f"system.{name}"])
                prefix = f"moment.{name}."
                state["state"][index] = {
                    k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)
                }
        self.optimiser.load_state_dict(state)


@torch.inference_mode()
def validate(
    system: System, pairs: Sequence[Pair], tokens: int = 4_000, objective: Objective = target_rows
) -> float:
    """Mean negative log-likelihood of a label, in nats. What an objective draws at random is drawn from one seed."""
    system.eval()
    device = next(system.parameters()).device
    total, count = 0.0, 0
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for chunk in batches(pairs, tokens, 0):
            rows, labels = objective(system, collate(chunk).to(device))
            total += float(F.cross_entropy(system.project(rows), labels, reduction="sum"))
            count += labels.numel()
    return total / count


@dataclass
class Meter:
    """Running figures between two log lines."""

    loss: float = 0.0
    norm: float = 0.0
    tokens: float = 0.0
    updates: int = 0
    started: float = 0.0

    def add(self, line: dict[str, float]) -> None:
        self.loss += line["loss"]
        self.norm += line["gradient_norm"]
        self.tokens += line["tokens"]
        self.updates += 1

    def line(self, step: int, rate: float, seconds: float) -> dict[str, float]:
        n = max(1, self.updates)
        return {
            "step": step,
            "loss": round(self.loss / n, 4),
            "gradient_norm": round(self.norm / n, 4),
            "rate": round(rate, 7),
            "tokens_per_second": round(self.tokens / max(1e-9, time.perf_counter() - self.started), 1),
            "seconds": round(seconds, 1),
        }
