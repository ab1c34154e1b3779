"""`train` from end to end on a corpus of a few lines: log, checkpoint, provenance, resuming and early stop."""

from __future__ import annotations

import gzip
import itertools
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from models.catalog import Entry, entry
from models.execution import checkpoints
from models.training import commands
from models.training.corpus import corpus_sha256, story_pairs
from models.training.tokenizer import ByteTokenizer, Tokenizer, save_tokenizer, train_tokenizer
from models.training.trainer import Recipe
from tests.models.small import SIZES, config

LINES = [
    "Go.\tVa !",
    "I know.\tJe sais.",
    "Thank you.\tMerci.",
    "It was good.\tC'était bon.",
    "He left.\tIl est parti.",
]
RECIPE = Recipe(steps=100, tokens=40, rate=3e-3, warmup=5, candidates=20, validate_every=25, seed=11)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for split, lines in (("train", LINES * 8), ("valid", LINES), ("test", LINES)):
        with gzip.open(folder / f"{split}.tsv.gz", "wt", encoding="utf-8") as out:
            out.write("".join(line + "\n" for line in lines))
    return folder


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A small vocabulary that knows these words, so that a step is quick."""
    folder, texts = tmp_path_factory.mktemp("tokenizer"), [t for line in LINES for t in line.split("\t")]
    texts += [t for pair in story_pairs(300, seed=5) for t in pair]
    save_tokenizer(train_tokenizer(texts, 800), {}, folder)
    return Tokenizer(folder / "tokenizer.json")


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vocabulary: Tokenizer) -> None:
    """Runs, assets and vocabulary of this test alone."""
    move(tmp_path, monkeypatch)
    known = {"pieces": vocabulary, "bytes": ByteTokenizer()}
    monkeypatch.setattr(commands, "load_tokenizer", known.__getitem__)


def move(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "RUNS", folder / "runs")
    monkeypatch.setattr(checkpoints, "CHECKPOINTS", folder / "assets" / "checkpoints")
    monkeypatch.setattr(checkpoints, "MANIFEST", folder / "assets" / "manifest.json")


def tiny(slug: str) -> Entry:
    item = entry(slug)
    sizes = {k: v for k, v in vars(config(item)).items() if k in SIZES and k not in ("vocab_size", "dropout")}
    return replace(item, config={**item.config, **sizes})


def log_of(slug: str) -> list[dict[str, Any]]:
    text = (checkpoints.CHECKPOINTS / slug / "log.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def run_of(slug: str) -> dict[str, torch.Tensor]:
    return load_file(commands.RUNS / slug / "run.safetensors")


def test_training_leaves_a_log_a_checkpoint_and_where_it_came_from(
    corpus: Path, vocabulary: Tokenizer
) -> None:
    item = tiny("rnn_encoder_decoder")
    commands.train(item, corpus, RECIPE, dropout=0.1)
    log = log_of(item.slug)
    valid = [line for line in log if "valid_loss" in line]
    assert [line["step"] for line in valid] == [25, 50, 75, 100]
    (line,) = (line for line in log if "loss" in line)
    assert line.keys() == {"step", "loss", "gradient_norm", "rate", "tokens_per_second", "seconds"}
    assert all(isinstance(value, int | float) for line in log for value in line.values())
    assert valid[-1]["valid_loss"] < valid[0]["valid_loss"]
    facts = checkpoints.read_manifest(checkpoints.MANIFEST)[item.slug]
    assert facts["corpus_sha256"] == corpus_sha256(corpus)
    assert facts["tokenizer_sha256"] == vocabulary.sha256
    assert (facts["seed"], facts["steps"], facts["dropout"]) == (11, 100, 0.1)
    assert facts["valid_loss"] == min(line["valid_loss"] for line in valid)
    assert facts["recipe"]["tokens"] == 40
    assert "seed" not in facts["recipe"]
    assert facts["command"].startswith("python -m models ")
    assert "Tatoeba" in facts["credit"]
    assert facts["started_from"] is None
    system, _ = checkpoints.load_system(item)
    for name, parameter in system.named_parameters():
        assert torch.equal(parameter, run_of(item.slug)[f"system.{name}"].half().float())


def test_two_sessions_make_the_run_of_one(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first session's minutes end at some step; --resume continues it to the same weights, bit by bit."""
    item, recipe = tiny("luong"), replace(RECIPE, steps=24, validate_every=10)
    commands.train(item, corpus, recipe, dropout=0.1)
    whole = run_of(item.slug)
    move(tmp_path / "again", monkeypatch)
    clock = itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr(commands, "time", SimpleNamespace(perf_counter=lambda: float(next(clock))))
        commands.train(item, corpus, recipe, dropout=0.1, minutes=0.4)
    stopped = log_of(item.slug)[-1]["step"]
    assert 5 < stopped < 22
    assert stopped % 10  # in the middle between two validations
    commands.train(item, corpus, recipe, dropout=0.1, resume=True)
    again = run_of(item.slug)
    assert whole.keys() == again.keys()
    assert all(torch.equal(whole[name], again[name]) for name in whole)
    assert log_of(item.slug)[-1]["step"] == 24


def test_resuming_a_finished_run_changes_nothing(corpus: Path) -> None:
    item, recipe = tiny("rnn_encoder_decoder"), replace(RECIPE, steps=10, validate_every=5)
    commands.train(item, corpus, recipe)
    before, log = run_of(item.slug), log_of(item.slug)
    commands.train(item, corpus, recipe, resume=True)
    assert all(torch.equal(before[name], value) for name, value in run_of(item.slug).items())
    assert log_of(item.slug) == log


def test_a_new_run_starts_a_new_log_and_resume_without_a_run_is_a_new_run(corpus: Path) -> None:
    item, recipe = tiny("rnn_encoder_decoder"), replace(RECIPE, steps=10, validate_every=5)
    commands.train(item, corpus, recipe, resume=True)
    commands.train(item, corpus, recipe)
    assert [line["step"] for line in log_of(item.slug)] == [5, 10]


def test_validation_that_stops_improving_stops_the_run_and_keeps_the_best(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, losses = tiny("rnn_encoder_decoder"), iter([5.0, 4.0, 4.5, 4.0, 6.0, 1.0])
    monkeypatch.setattr(commands, "validate", lambda *_, **__: next(losses))
    commands.train(item, corpus, replace(RECIPE, validate_every=3, patience=3))
    assert [line["valid_loss"] for line in log_of(item.slug)] == [5.0, 4.0, 4.5, 4.0, 6.0]
    facts = checkpoints.read_manifest(checkpoints.MANIFEST)[item.slug]
    assert (facts["steps"], facts["valid_loss"]) == (6, 4.0)


@pytest.mark.parametrize(
    ("slug", "fresh"),
    [("luong_dot", []), ("luong_local_m", []), ("luong_location", ["attention.W"]),
     ("luong_local_p", ["attention.W_centre", "attention.v_centre"])],
)  # fmt: skip
def test_a_variant_starts_from_the_trained_global_system(corpus: Path, slug: str, fresh: list[str]) -> None:
    size = 800
    trained = commands.build(tiny("luong"), size, 0.1)
    checkpoints.save(tiny("luong"), trained, {}, checkpoints.CHECKPOINTS)
    item = tiny(slug)
    system = commands.build(item, size, 0.2)
    assert commands.start_from(system, tiny("luong")) == fresh
    known = dict(trained.named_parameters())
    for name, parameter in system.named_parameters():
        if name not in fresh:
            assert torch.equal(parameter, known[name].half().float())
    assert vars(system)["config"].dropout == 0.2
    assert entry(slug).starts_from == "luong"


def test_a_language_model_is_trained_on_english_bytes_alone(corpus: Path) -> None:
    item = tiny("wavenet")
    commands.train(item, corpus, replace(RECIPE, tokens=200, steps=60, validate_every=20, smoothing=0.0))
    losses = [line["valid_loss"] for line in log_of("wavenet") if "valid_loss" in line]
    assert losses[-1] < losses[0]
    facts = checkpoints.read_manifest(checkpoints.MANIFEST)["wavenet"]
    assert facts["tokenizer_sha256"] == ByteTokenizer().sha256
    system, _ = checkpoints.load_system(item)
    assert vars(system)["config"].vocab_size == ByteTokenizer().vocab_size
    encode = commands.encoder(item, ByteTokenizer())
    twice = [("Go.", "Va !"), ("Go.", "Allez !"), ("No.", "Non.")]
    assert [(pair.source, ByteTokenizer().decode(pair.target)) for pair in encode(twice)] == [
        ([], "Go."),
        ([], "No."),
    ]


def test_a_corpus_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No corpus file"):
        commands.train(tiny("rnn_search"), tmp_path / "nowhere", RECIPE)


def test_recipe_changes_leave_what_was_not_given() -> None:
    plain = commands.recipe_from()
    assert plain.precision in ("bf16", "fp32")
    assert replace(plain, precision=Recipe().precision) == Recipe()
    assert commands.recipe_from(steps=7, rate=None, precision="fp32") == Recipe(steps=7, precision="fp32")


def test_a_checkpoint_trains_onward_and_keeps_what_came_before(corpus: Path) -> None:
    """A new schedule begins at the shipped weights; log and provenance count the first one too."""
    item, first = tiny("rnn_encoder_decoder"), replace(RECIPE, steps=40, validate_every=20)
    commands.train(item, corpus, first, dropout=0.1)
    before = checkpoints.read_manifest(checkpoints.MANIFEST)[item.slug]
    shipped = dict(checkpoints.load_system(item)[0].named_parameters())
    commands.train(item, corpus, replace(first, steps=20, rate=1e-9, warmup=1), dropout=0.1, onward=True)
    facts = checkpoints.read_manifest(checkpoints.MANIFEST)[item.slug]
    assert [e["steps"] for e in facts["earlier"]] == [before["steps"]]
    assert facts["earlier"][0]["recipe"] == before["recipe"]
    assert facts["started_from"] == item.slug
    assert [line["step"] for line in log_of(item.slug) if "valid_loss" in line] == [20, 40, 60]
    for name, value in checkpoints.load_system(item)[0].named_parameters():
        torch.testing.assert_close(value, shipped[name], rtol=0, atol=1e-3)
    commands.train(item, corpus, replace(first, steps=30, rate=1e-9), dropout=0.1, onward=True, resume=True)
    resumed = checkpoints.read_manifest(checkpoints.MANIFEST)[item.slug]
    assert resumed["earlier"] == facts["earlier"]
    assert log_of(item.slug)[-1]["step"] == 70
