"""`python -m models`: what it prints as JSON, and a sentence with exit status 2 for what it cannot do."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import models
from models import __main__ as cli
from models.catalog import SYSTEMS, TRANSLATORS, entry
from models.execution import checkpoints
from models.execution.checkpoints import read_manifest, sha256
from models.training.tokenizer import EOS

ROOT = Path(__file__).resolve().parents[2]
TRAINED = sorted(read_manifest())
NOT = "The report was not convincing."


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["models", *words])
    return cli.main()


def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(monkeypatch, *words) == 0
    return json.loads(capsys.readouterr().out)


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What stands on standard error after exit status 2; nothing stands on standard output."""
    try:
        status = run(monkeypatch, *words)
    except SystemExit as stop:  # argparse
        status = stop.code
    told = capsys.readouterr()
    assert status == 2
    assert told.out == ""
    assert "Traceback" not in told.err
    return told.err.strip()


def test_list_tells_every_system(assets: Path, monkeypatch: Any, capsys: Any) -> None:
    rows = printed(monkeypatch, capsys, "list", "--json")
    assert [row["slug"] for row in rows] == [item.slug for item in SYSTEMS]
    fields = {"slug", "title", "family", "paper", "year", "task", "parameters", "device", "sha256", "metrics"}
    for row in rows:
        assert row.keys() == fields
        assert row["sha256"] == sha256(assets / "checkpoints" / row["slug"] / "weights.safetensors")
        assert row["parameters"] > 1000
        assert row["task"] == entry(row["slug"]).task
        assert row["device"]


def test_list_works_without_any_checkpoint(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(checkpoints, "MANIFEST", tmp_path / "manifest.json")
    assert {row["sha256"] for row in printed(monkeypatch, capsys, "list", "--json")} == {None}
    assert run(monkeypatch, "list") == 0
    assert len(capsys.readouterr().out.splitlines()) == len(SYSTEMS)


@pytest.mark.parametrize("beam", ["1", "3"])
def test_translate_prints_the_promised_fields(beam: str, assets: Path, monkeypatch: Any, capsys: Any) -> None:
    words = ("translate", "luong", NOT, "--beam", beam, "--max-length", "5", "--json")
    found = printed(monkeypatch, capsys, *words)
    assert found.keys() == {"text", "source_tokens", "target_tokens", "log_probs", "ended", "alignment"}
    assert len(found["log_probs"]) == len(found["target_tokens"]) == len(found["alignment"]) <= 5
    assert {len(row) for row in found["alignment"]} == {len(found["source_tokens"])}
    assert found["ended"] in ("eos", "length")
    assert found == models.load("luong").translate(NOT, beam=int(beam), max_length=5).as_dict()


def test_a_system_without_alignment_prints_null(assets: Path, monkeypatch: Any, capsys: Any) -> None:
    assert (
        printed(monkeypatch, capsys, "translate", "lstm_seq2seq", NOT, "--max-length", "2", "--json")[
            "alignment"
        ]
        is None
    )


def test_score_prints_tokens_and_their_sum(assets: Path, monkeypatch: Any, capsys: Any) -> None:
    found = printed(monkeypatch, capsys, "score", "rnn_search", NOT, "Le rapport.", "--json")
    assert found["target_tokens"][-1] == "EOS"
    assert len(found["log_probs"]) == len(found["target_tokens"])
    assert found["total"] == pytest.approx(sum(found["log_probs"]))
    assert run(monkeypatch, "score", "rnn_search", NOT, "Le rapport.") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(found["log_probs"]) + 1
    assert lines[-1].split() == [f"{found['total']:.4f}", "sum"]


def test_continue_prints_the_text_or_its_tokens(assets: Path, monkeypatch: Any, capsys: Any) -> None:
    found = printed(monkeypatch, capsys, "continue", "gpt", "The report", "--max-length", "3", "--json")
    assert found.keys() == {"text", "tokens", "given", "log_probs", "ended"}
    assert len(found["log_probs"]) == len(found["tokens"]) <= found["given"] + 3
    assert run(monkeypatch, "continue", "gpt", "The report", "--max-length", "3") == 0
    assert capsys.readouterr().out == found["text"] + "\n"
    assert "was not trained to continue" in refused(monkeypatch, capsys, "continue", "luong", "The")


def test_translate_without_json_prints_the_text_alone(assets: Path, monkeypatch: Any, capsys: Any) -> None:
    assert run(monkeypatch, "translate", "luong", NOT, "--max-length", "3") == 0
    assert capsys.readouterr().out == models.load("luong").translate(NOT, max_length=3).text + "\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("translate", "luong", "  "), "There is no sentence to translate."),
        (("translate", "luong", "report " * 1429), "Shorten it."),
        (("translate", "luong", NOT, "--beam", "0"), "The beam must be between"),
        (("translate", "luong", NOT, "--max-length", "1000"), "The maximum length must be between"),
        (("translate", "luong", NOT, "--beam", "many"), "invalid int value"),
        (("translate", "elman", NOT), "elman"),
        (("score", "luong", "", "Oui."), "There is no sentence to translate."),
        (("train", "luong", "--corpus", "/nowhere/at/all"), "No corpus file"),
        (("unknown",), "unknown"),
    ],
)
def test_what_cannot_be_done_is_told(
    words: tuple[str, ...], sentence: str, assets: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setenv(
        "MALLOC_TOP_PAD_", "0"
    )  # `train` otherwise starts itself anew with its allocator's settings
    assert sentence in refused(monkeypatch, capsys, *words)


@pytest.mark.parametrize("damage", ["byte", "missing"])
def test_a_damaged_checkpoint_is_told(damage: str, assets: Path, monkeypatch: Any, capsys: Any) -> None:
    path = assets / "checkpoints" / "luong" / "weights.safetensors"
    if damage == "byte":
        path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    else:
        path.unlink()
    told = refused(monkeypatch, capsys, "translate", "luong", NOT)
    assert told.startswith("The checkpoint of Luong general is ")
    assert len(told.splitlines()) == 1
    assert printed(monkeypatch, capsys, "translate", "rnn_search", NOT, "--max-length", "2", "--json")[
        "target_tokens"
    ]
    assert len(printed(monkeypatch, capsys, "list", "--json")) == len(SYSTEMS)


def test_the_command_runs_from_a_shell() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "models", "list", "--json"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=240, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert [row["slug"] for row in json.loads(found.stdout)] == [item.slug for item in SYSTEMS]


# ---- the committed checkpoints


def test_every_system_of_the_catalog_is_trained_and_committed() -> None:
    """Completeness: red until each system has its checkpoint and its manifest entry."""
    assert sorted(item.slug for item in SYSTEMS) == TRAINED


@pytest.mark.parametrize("slug", ["bert", "unilm"])
def test_a_committed_checkpoint_fills_a_hidden_word(slug: str, monkeypatch: Any, capsys: Any) -> None:
    (place,) = printed(monkeypatch, capsys, "fill", slug, "I don't [MASK] what to do.", "--json")
    assert place["position"] == 3
    assert place["pieces"][0] == "know"


def test_the_committed_language_model_knows_english_from_noise(monkeypatch: Any, capsys: Any) -> None:
    found = printed(
        monkeypatch, capsys, "continue", "wavenet", "I think that", "--max-length", "60", "--json"
    )
    assert found["text"].startswith("I think that ")
    assert found["ended"] == "eos"
    translator = models.load("wavenet")
    bits = []
    for text in ("He left this morning.", "ehl etf shitm niorng."):
        ids = [*translator.tokenizer.encode(text), EOS]
        bits.append(-float(translator.forced([EOS], ids)[1].mean()) / math.log(2))
    assert bits[0] < 2.5 < 4 < bits[1]


@pytest.mark.parametrize("slug", [item.slug for item in TRANSLATORS])
def test_a_committed_checkpoint_translates_and_scores(slug: str, monkeypatch: Any, capsys: Any) -> None:
    found = printed(monkeypatch, capsys, "translate", slug, "Thank you.", "--json")
    translator = models.load(slug)
    assert found["ended"] == "eos"
    assert found["text"].strip()
    assert found["target_tokens"][-1] == "EOS"
    assert (found["alignment"] is not None) is translator.system.has_alignment
    scored = printed(monkeypatch, capsys, "score", slug, "Thank you.", found["text"], "--json")
    if scored["target_tokens"] == found["target_tokens"]:
        assert scored["log_probs"] == pytest.approx(found["log_probs"], abs=1e-4)
    nonsense = printed(monkeypatch, capsys, "score", slug, "Thank you.", "zzz qqq", "--json")
    assert nonsense["total"] < scored["total"] - 5


@pytest.mark.parametrize("slug", TRAINED)
def test_a_committed_checkpoint_is_small_and_says_where_it_came_from(slug: str) -> None:
    path = checkpoints.CHECKPOINTS / slug / "weights.safetensors"
    assert path.stat().st_size <= 10_000_000
    facts = read_manifest()[slug]
    asked = {
        "command",
        "seed",
        "corpus_sha256",
        "tokenizer_sha256",
        "recipe",
        "valid_loss",
        "credit",
        "licence",
    }
    assert asked <= facts.keys()
    log = (checkpoints.CHECKPOINTS / slug / "log.jsonl").read_text().splitlines()
    assert any("valid_loss" in json.loads(line) for line in log)
