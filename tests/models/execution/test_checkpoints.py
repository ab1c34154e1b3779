"""Checkpoints: half precision on disk, one manifest that vouches for them, and a sentence for every failure."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import models
from models.catalog import SYSTEMS, Entry, entry
from models.execution import checkpoints
from models.execution.checkpoints import (
    CheckpointError,
    load_system,
    read_manifest,
    save,
    sha256,
    update_manifest,
)
from tests.models.small import small

EACH = pytest.mark.parametrize("item", SYSTEMS, ids=lambda e: e.slug)


@EACH
def test_weights_are_halves_on_disk_and_floats_in_use(item: Entry, assets: Path) -> None:
    folder = assets / "checkpoints" / item.slug
    stored = load_file(folder / "weights.safetensors")
    system, facts = load_system(item)
    assert stored.keys() == dict(system.named_parameters()).keys()
    for name, parameter in system.named_parameters():
        assert stored[name].dtype == torch.float16
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, stored[name].float())
    assert not system.training
    assert not any(p.requires_grad for p in system.parameters())
    assert facts["parameters"] == sum(p.numel() for p in system.parameters())


def test_saving_rounds_to_halves_and_nothing_else(tmp_path: Path) -> None:
    item, system = entry("rnn_search"), small(entry("rnn_search"))
    save(item, system, {"seed": 3}, tmp_path / "checkpoints")
    loaded, facts = load_system(item, tmp_path / "checkpoints")
    for name, parameter in loaded.named_parameters():
        original = dict(system.named_parameters())[name]
        assert torch.equal(parameter, original.half().float())
        torch.testing.assert_close(parameter, original.float(), rtol=1e-3, atol=1e-4)
    assert loaded.config == system.config
    assert facts["seed"] == 3


@EACH
def test_the_manifest_vouches_for_both_files(item: Entry, assets: Path) -> None:
    facts, folder = read_manifest(assets / "manifest.json")[item.slug], assets / "checkpoints" / item.slug
    assert facts["weights_sha256"] == sha256(folder / "weights.safetensors")
    assert facts["config_sha256"] == sha256(folder / "config.json")
    config = json.loads((folder / "config.json").read_text())
    assert config["builder"] == item.builder
    assert {k: config["config"][k] for k in item.config} == item.config


def flip(path: Path, place: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[place] ^= 1
    path.write_bytes(raw)


@pytest.mark.parametrize(
    ("name", "place"), [("weights.safetensors", -1), ("weights.safetensors", 9), ("config.json", 5)]
)
def test_one_changed_byte_is_told_and_harms_no_other_system(assets: Path, name: str, place: int) -> None:
    path = assets / "checkpoints" / "luong" / name
    flip(path, place)
    with pytest.raises(CheckpointError, match=f"Luong general is damaged .*{name}.*Restore it") as caught:
        models.load("luong")
    assert caught.value.slug == "luong"
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    assert models.load("rnn_search").translate("Thank you.", max_length=3).target_tokens
    assert models.load("luong_dot").translate("Thank you.", max_length=3).target_tokens
    flip(path, place)
    assert (
        models.load("luong").translate("Thank you.", max_length=3).target_tokens
    )  # an error is not remembered


@pytest.mark.parametrize("name", ["weights.safetensors", "config.json"])
def test_a_missing_file_is_told_and_harms_no_other_system(assets: Path, name: str) -> None:
    (assets / "checkpoints" / "transformer" / name).unlink()
    with pytest.raises(CheckpointError, match=f"Transformer is missing .*{name}") as caught:
        models.load("transformer")
    assert caught.value.slug == "transformer"
    assert models.load("luong").translate("Thank you.", max_length=3).target_tokens


def test_a_system_without_manifest_entry_is_told(assets: Path) -> None:
    manifest = json.loads((assets / "manifest.json").read_text())
    del manifest["systems"]["luong"]
    (assets / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match=r"no entry in assets/manifest\.json"):
        models.load("luong")
    (assets / "manifest.json").unlink()
    with pytest.raises(CheckpointError, match=r"no entry in assets/manifest\.json"):
        models.load("rnn_search")


@pytest.mark.parametrize(("field", "value"), [("d_hidden", 9), ("n_layers", 3)])
def test_weights_that_do_not_fit_their_config_are_told(assets: Path, field: str, value: int) -> None:
    path = assets / "checkpoints" / "luong" / "config.json"
    config = json.loads(path.read_text())
    config["config"][field] = value
    path.write_text(json.dumps(config))
    update_manifest("luong", lambda facts: facts.update(config_sha256=sha256(path)), assets / "manifest.json")
    with pytest.raises(CheckpointError, match="does not fit its code"):
        models.load("luong")


def test_a_vocabulary_that_is_not_the_committed_one_is_told(assets: Path) -> None:
    update_manifest("luong", lambda facts: facts.update(tokenizer_sha256="0" * 64), assets / "manifest.json")
    with pytest.raises(CheckpointError, match="another vocabulary"):
        models.load("luong")


def test_figures_stay_with_the_weights_that_gave_them(tmp_path: Path) -> None:
    item, folder = entry("rnn_search"), tmp_path / "checkpoints"
    save(item, small(item, seed=1), {"seed": 1}, folder)
    update_manifest(
        item.slug, lambda facts: facts.update(metrics={"bleu_greedy": 40.0}), tmp_path / "manifest.json"
    )
    save(item, small(item, seed=1), {"seed": 1, "steps": 5}, folder)
    facts = read_manifest(tmp_path / "manifest.json")[item.slug]
    assert (facts["metrics"], facts["steps"]) == ({"bleu_greedy": 40.0}, 5)
    save(item, small(item, seed=2), {"seed": 1}, folder)
    assert "metrics" not in read_manifest(tmp_path / "manifest.json")[item.slug]


def test_trainings_side_by_side_keep_each_others_entries(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"

    def count(slug: str) -> None:
        for _ in range(10):
            update_manifest(slug, lambda facts: facts.update(n=facts.get("n", 0) + 1), path)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, ["a", "b", "c", "a"]))
    assert {slug: facts["n"] for slug, facts in read_manifest(path).items()} == {"a": 20, "b": 10, "c": 10}
    assert list(read_manifest(path)) == ["a", "b", "c"]


def test_there_may_be_no_manifest_yet(tmp_path: Path) -> None:
    assert read_manifest(tmp_path / "manifest.json") == {}


def test_assets_lie_beside_the_code() -> None:
    assert checkpoints.CHECKPOINTS.parent == checkpoints.ASSETS
    assert checkpoints.MANIFEST.parent == checkpoints.ASSETS
