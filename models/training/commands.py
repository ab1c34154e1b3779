"""`train` and the tokenizer's making, as the command line calls them."""

from __future__ import annotations

import json
import random
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from models.catalog import LANGUAGE, Entry
from models.execution import checkpoints
from models.execution.device import device, fast_bf16
from models.interface import System
from models.training.corpus import (
    CREDIT,
    Pair,
    asked,
    corpus_sha256,
    encode_pairs,
    english_alone,
    load_pairs,
    story_pairs,
)
from models.training.corruption import draw_spans, hide_spans
from models.training.objectives import OBJECTIVES
from models.training.tokenizer import Tokenizer, load_tokenizer, save_tokenizer, train_tokenizer
from models.training.trainer import Meter, Recipe, Run, learning_rate, validate

LogLine = Callable[[dict[str, float]], dict[str, float]]
EpochPairs = Callable[[int], list[Pair]]
Encode = Callable[[Sequence[tuple[str, str]]], list[Pair]]
RUNS = Path("runs")
STORY_SHARE = 0.1
ENGLISH_SHARE = 0.15  # of the pairs, for systems that also continue plain English
SPAN_SHARE = 0.15  # of the pairs, for a text-to-text system once it translates
VALID_PAIRS = 800


def make_tokenizer(corpus: Path) -> None:
    """Train the joint vocabulary on the training part, story pairs included, and commit it under assets/."""
    pairs = load_pairs(corpus, "train")
    stories = story_pairs(int(len(pairs) * STORY_SHARE), seed=0)
    save_tokenizer(
        train_tokenizer(text for pair in [*pairs, *stories] for text in pair),
        {
            "command": "python -m models tokenizer --corpus DIR",
            "kind": "byte-level BPE, English and French together, merges inside display words only",
            "trained_on": f"{len(pairs)} training pairs of the corpus and {len(stories)} pairs of the story grammar",
            "corpus_sha256": corpus_sha256(corpus),
            "credit": CREDIT,
        },
    )


def encoder(entry: Entry, tokenizer: Tokenizer) -> Encode:
    """Text pairs -> what the system's objective reads: both sides, or English alone for a language model."""
    encode = english_alone if entry.task == LANGUAGE else encode_pairs
    return lambda pairs: encode(pairs, tokenizer)


def epoch_pairs(corpus: list[Pair], encode: Encode, seed: int, continues: bool = False) -> EpochPairs:
    """epoch -> training pairs: the corpus, and freshly generated story pairs, a tenth as many.

    Where a system continues plain English, some of the English sides follow as targets of an empty source.
    """

    def of(epoch: int) -> list[Pair]:
        stories = story_pairs(int(len(corpus) * STORY_SHARE), seed + epoch)
        pairs = corpus + encode(stories)
        if continues:
            chosen = random.Random(seed + epoch).sample(pairs, int(len(pairs) * ENGLISH_SHARE))
            pairs += [Pair([], pair.source) for pair in chosen]
        return pairs

    return of


def span_pairs(pairs: Sequence[Pair], rng: random.Random) -> list[Pair]:
    """One side of every pair, English or French, with spans hidden (Raffel et al. 2020, 3.1.4)."""
    sides = (rng.choice((pair.source, pair.target)) for pair in pairs)
    return [Pair(*hide_spans(ids, draw_spans(len(ids), rng))) for ids in sides]


def text_to_text(of: EpochPairs, prompt: Sequence[int], seed: int, spans_only: bool) -> EpochPairs:
    """epoch -> the same pairs as texts: only hidden spans, or the prompt's translations with some hidden spans."""

    def texts(epoch: int) -> list[Pair]:
        rng, pairs = random.Random(seed + epoch), of(epoch)
        if spans_only:
            return span_pairs(pairs, rng)
        return asked(pairs, prompt) + span_pairs(rng.sample(pairs, int(len(pairs) * SPAN_SHARE)), rng)

    return texts


def build(entry: Entry, vocab_size: int, dropout: float) -> System:
    config = entry.config_class()(**{**entry.config, "vocab_size": vocab_size, "dropout": dropout})
    return entry.system_class()(config)


def start_from(system: System, other: Entry) -> list[str]:
    """Copy every parameter of a trained system that has the same name and shape; returns what stayed new."""
    trained, _ = checkpoints.load_system(other)
    known, fresh = dict(trained.named_parameters()), []
    for name, parameter in system.named_parameters():
        if name in known and known[name].shape == parameter.shape:
            parameter.data.copy_(known[name])
        else:
            fresh.append(name)
    return fresh


def train(
    entry: Entry,
    corpus: Path,
    recipe: Recipe,
    *,
    dropout: float = 0.1,
    resume: bool = False,
    onward: bool = False,
    spans_only: bool = False,
    minutes: float = 1e9,
) -> dict[str, Any]:
    """Train one system until its steps, an early stop, or the minutes of this session are over; returns provenance.

    resume continues the run in runs/SLUG where there is one; onward begins a new schedule, with fresh moments, at
    the parameters of the system's own checkpoint, and keeps the provenance of what came before. spans_only is the
    first half of text-to-text training: hidden spans and no translation.
    """
    if spans_only and entry.objective != "text_to_text":
        raise ValueError(
            f"{entry.title} is not trained from text to text, so it has no training on spans alone."
        )
    tokenizer = load_tokenizer(entry.alphabet)
    encode = encoder(entry, tokenizer)
    torch.manual_seed(recipe.seed)
    system = build(entry, tokenizer.vocab_size, dropout).to(device())
    origin = entry.slug if onward else entry.starts_from
    fresh = start_from(system, _entry(origin)) if origin else []
    some_english = entry.continues and entry.task != LANGUAGE  # a language model reads nothing else
    pairs = epoch_pairs(encode(load_pairs(corpus, "train")), encode, recipe.seed, some_english)
    prompt = tokenizer.encode(entry.prompt) if entry.prompt else []
    valid = encode(load_pairs(corpus, "valid")[:VALID_PAIRS])
    valid = span_pairs(valid, random.Random(0)) if spans_only else asked(valid, prompt)
    if entry.objective == "text_to_text":
        pairs = text_to_text(pairs, prompt, recipe.seed, spans_only)
    run = Run(system, pairs, recipe, RUNS / entry.slug, OBJECTIVES[entry.objective])
    resumed = resume and run.stored
    earlier = _earlier(entry, resumed) if onward else []
    if resumed:
        run.resume()
    elif not onward:
        log_file(entry).unlink(missing_ok=True)
    provenance = {
        "command": "python -m models " + shlex.join(sys.argv[1:]),
        "seed": recipe.seed,
        "corpus_sha256": corpus_sha256(corpus),
        "story_share": STORY_SHARE,
        "english_share": ENGLISH_SHARE if some_english else float(entry.task == LANGUAGE),
        "objective": "spans alone" if spans_only else entry.objective,
        "tokenizer_sha256": tokenizer.sha256,
        "dropout": dropout,
        "recipe": {k: v for k, v in vars(recipe).items() if k != "seed"},
        "started_from": origin,
        "new_parameters": fresh,
        "earlier": earlier,
        "credit": CREDIT,
        "licence": "Weights trained on Tatoeba text, CC BY 2.0 FR; give the credit with them.",
    }
    return _loop(entry, run, valid, provenance, minutes)


def _earlier(entry: Entry, resumed: bool) -> list[dict[str, Any]]:
    """The schedules that this run has behind it, oldest first; the checkpoint of a resumed run is its own."""
    facts = checkpoints.read_manifest()[entry.slug]
    if resumed:
        return facts.get("earlier", [])
    told = (
        "command",
        "seed",
        "recipe",
        "dropout",
        "steps",
        "seconds",
        "valid_loss",
        "started_from",
        "objective",
    )
    return [*facts.get("earlier", []), {name: facts[name] for name in told if name in facts}]


def _entry(slug: str) -> Entry:
    from models.catalog import entry

    return entry(slug)


def log_file(entry: Entry) -> Path:
    path = checkpoints.CHECKPOINTS / entry.slug / "log.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _loop(
    entry: Entry, run: Run, valid: list[Pair], provenance: dict[str, Any], minutes: float
) -> dict[str, Any]:
    recipe, started, before = run.recipe, time.perf_counter(), run.seconds
    log_line = _after(provenance["earlier"])
    meter = Meter(started=started)
    bar = tqdm(total=recipe.steps, initial=run.step, unit="step", mininterval=5)
    with bar, log_file(entry).open("a") as log:
        while not run.finished and time.perf_counter() - started < minutes * 60:
            meter.add(run.advance())
            bar.update()
            run.seconds = before + time.perf_counter() - started
            if run.step % 100 == 0:
                bar.set_postfix(loss=f"{meter.loss / meter.updates:.3f}")
                _write(log, log_line(meter.line(run.step, learning_rate(run.step, recipe), run.seconds)))
                meter = Meter(started=time.perf_counter())
            if run.step % recipe.validate_every == 0 or run.step == recipe.steps:
                _validate(entry, run, valid, provenance, log, log_line)
                meter = Meter(started=time.perf_counter())
        if not run.finished and run.step % recipe.validate_every:
            _validate(entry, run, valid, provenance, log, log_line)
    return provenance


def _after(earlier: list[dict[str, Any]]) -> LogLine:
    """Log lines count updates and seconds from the first schedule on."""
    steps, seconds = sum(e["steps"] for e in earlier), sum(e["seconds"] for e in earlier)
    return lambda line: {**line, "step": line["step"] + steps, "seconds": round(line["seconds"] + seconds, 1)}


def _write(log: Any, line: dict[str, float]) -> None:
    log.write(json.dumps(line) + "\n")
    log.flush()


def _validate(
    entry: Entry, run: Run, valid: list[Pair], provenance: dict[str, Any], log: Any, log_line: LogLine
) -> None:
    loss = validate(run.system, valid, objective=run.objective)
    _write(log, log_line({"step": run.step, "valid_loss": round(loss, 4), "seconds": run.seconds}))
    if loss < run.best:
        run.best, run.stale = loss, 0
        progress = {
            "steps": run.step,
            "epoch": run.epoch,
            "seconds": round(run.seconds),
            "valid_loss": round(loss, 4),
        }
        checkpoints.save(entry, run.system, {**provenance, **progress})
    else:
        run.stale += 1
    run.save()


def recipe_from(**changes: Any) -> Recipe:
    """The default recipe with the given changes; None leaves a default, precision follows the machine."""
    base = Recipe(precision="bf16" if fast_bf16() else "fp32")
    return replace(base, **{k: v for k, v in changes.items() if v is not None})
