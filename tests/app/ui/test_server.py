"""The sidebar names the device and counts the trained systems without loading either."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.ui import server

ROOT = Path(__file__).parents[3]


def test_only_systems_with_weights_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "luong").mkdir()
    (tmp_path / "rnn_search").mkdir()
    (tmp_path / "rnn_search/weights.safetensors").touch()
    monkeypatch.setattr(server, "CHECKPOINTS", tmp_path)
    assert server.trained_systems() == ["rnn_search"]


def test_the_count_follows_the_folder_of_assets_that_the_models_use(tmp_path: Path) -> None:
    (tmp_path / "checkpoints/luong").mkdir(parents=True)
    (tmp_path / "checkpoints/luong/weights.safetensors").touch()
    code = "from app.ui import server; print(server.trained_systems())"
    environment = {**os.environ, "SEQUENCE_EXPLORER_ASSETS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['luong']"


def test_a_cuda_build_names_the_card_that_the_driver_reports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "0000:01:00.0").mkdir()
    (tmp_path / "0000:01:00.0/information").write_text("Model: \t\t NVIDIA H200\nIRQ: 1\n", encoding="utf-8")
    monkeypatch.setattr(server, "DRIVER", tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(server, "version", lambda name: "2.13.0")
    server._driver_name.cache_clear()
    assert server.device() == "NVIDIA H200"
    monkeypatch.setattr(server, "version", lambda name: "2.13.0+cpu")
    server._driver_name.cache_clear()
    assert server.device().startswith("CPU, ")
    server._driver_name.cache_clear()


def test_naming_the_device_imports_no_torch() -> None:
    code = "import sys; from app.ui import server; server.device(); print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
