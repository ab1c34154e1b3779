"""Exported graphs compute what torch computes, at any length; and what is said where a GPU library is missing."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import onnxruntime
import pytest
import torch

from models.catalog import TRANSLATORS, Entry, entry
from models.execution import export, onnx_runtime
from models.execution.calls import Meter, measure
from models.execution.onnx_runtime import CPU, OnnxRuntime, largest_difference
from models.execution.phases import Requests, cached
from models.interface import Rows
from models.training.corpus import pad
from models.training.tokenizer import BOS, EOS
from tests.models.small import small, source, target, tokens

SMALL_TOLERANCE = 1e-5  # of the largest logit, in float32
COMPLEX = {"s4"}
FAMILIES = list(
    {e.builder: e for e in reversed(TRANSLATORS)}.values()
)  # one a class: variants share the path


def graphs(item: Entry, folder: Path) -> OnnxRuntime:
    legend = export.write(small(item).float(), item.slug, "none", folder)
    return OnnxRuntime(folder, legend.first, legend.names, CPU)


@pytest.mark.parametrize("item", [e for e in FAMILIES if e.slug not in COMPLEX], ids=lambda e: e.slug)
def test_exported_equals_torch_for_lengths_it_was_not_exported_with(item: Entry, tmp_path: Path) -> None:
    system, runtime = small(item).float(), graphs(item, tmp_path)
    for rows, given in (
        (source(1), target(2)),
        (source(9, 3, 6), target(7, 7, 7)),
        (source(5, 5), target(3, 3)),
    ):
        off = largest_difference(system, runtime, rows, given)
        assert len(off) == given.shape[1]
        size = max(1.0, float(system.score(rows, given).logits.abs().max()))
        assert max(off) < SMALL_TOLERANCE * size, (off, size)
    first = "prefill" if item.slug in ("gpt", "prefix_lm", "unilm", "mamba") else "encoder"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([f"{first}.onnx", "graphs.json", "step.onnx"])
    state = system.read(source(4, 2))
    assert runtime.read(source(4, 2)).nbytes == state.nbytes


def test_another_state_gives_another_answer_so_the_comparison_can_fail(tmp_path: Path) -> None:
    runtime = graphs(entry("gpt"), tmp_path)
    other = small(entry("gpt"), seed=1).float()
    assert max(largest_difference(other, runtime, source(5), target(4))) > 0.1


def test_a_timeline_runs_on_it_like_on_torch(tmp_path: Path) -> None:
    system, runtime = small(entry("gpt")).float(), graphs(entry("gpt"), tmp_path)
    asked = Requests(
        ((*tokens(4, 1), EOS), (*tokens(2, 2), EOS)), ((), tuple(tokens(2, 3))), (6, 4), ends=False
    )
    ours, theirs = (
        cached(system, asked)(Meter(False)),
        measure("onnx", cached(runtime, asked), repeats=1, warm_up=0),
    )
    assert theirs.tokens == ours.tokens
    assert all(call.flops is None for call in theirs.calls)
    kept = [c.facts.after for c in theirs.calls]
    assert kept == [
        c.facts.after for c in measure("torch", cached(system, asked), repeats=1, warm_up=0).calls
    ]


def test_complex_states_cannot_be_exported_and_it_says_why(tmp_path: Path) -> None:
    with pytest.raises(export.CannotExport, match="complex numbers"):
        export.write(small(entry("s4")).float(), "s4", "none", tmp_path)


def test_a_graph_that_computes_something_else_is_not_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_runtime, "largest_difference", lambda *args: [0.0, 2e-4])
    with pytest.raises(RuntimeError, match="differ from torch"):
        export.write(small(entry("rnn_encoder_decoder")).float(), "rnn_encoder_decoder", "none", tmp_path)
    assert not (tmp_path / export.LEGEND).exists()


@pytest.mark.parametrize(
    ("providers", "loader", "sentence"),
    [
        (["CPUExecutionProvider"], None, "onnxruntime-gpu is missing"),
        (
            ["CUDAExecutionProvider"],
            OSError("libcublasLt.so.12: cannot open shared object file: No such file"),
            "libcublasLt.so.12 is missing",
        ),
        (["CUDAExecutionProvider"], OSError("broken"), "A library of the CUDA provider is missing"),
    ],
)
def test_without_the_gpu_library_it_names_it_and_takes_the_cpu(
    providers: list[str], loader: OSError | None, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str) -> None:
        if loader is not None:
            raise loader

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: providers)
    monkeypatch.setattr(onnxruntime, "preload_dlls", lambda: None, raising=False)
    monkeypatch.setattr(ctypes, "CDLL", fail)
    found = onnx_runtime._cuda()
    assert found.name == "CPUExecutionProvider" and found.sentence.startswith(sentence)


def test_with_it_the_gpu_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    monkeypatch.setattr(onnxruntime, "preload_dlls", lambda: None, raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda path: None)
    assert onnx_runtime._cuda() == onnx_runtime.Provider("CUDAExecutionProvider", "cuda")


def test_the_command_line_writes_the_shipped_weights_and_the_app_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import models

    monkeypatch.setattr(onnx_runtime, "CACHE", tmp_path)
    monkeypatch.setattr(onnx_runtime, "_locks", {})
    onnx_runtime._opened.cache_clear()
    told: list[float] = []
    runtime = onnx_runtime.load("rnn_encoder_decoder", told.append)
    assert told  # it asked whether anybody still waits
    legend = json.loads((onnx_runtime.folder_of("rnn_encoder_decoder") / "graphs.json").read_text())
    translator = models.load("rnn_encoder_decoder")
    assert legend["weights_sha256"] == translator.provenance["weights_sha256"]
    rows = Rows(*pad([translator.encode_source("Thank you.")]))
    off = largest_difference(translator.system, runtime, rows, torch.tensor([[BOS, 9, 30]]))
    assert max(off) < export.TOLERANCE
    assert onnx_runtime.load("rnn_encoder_decoder") is runtime


def test_a_system_that_cannot_be_exported_says_so_through_the_other_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_runtime, "CACHE", tmp_path)
    with pytest.raises(export.CannotExport, match="complex numbers"):
        onnx_runtime.load("s4")


def test_giving_up_waiting_ends_the_other_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def remember(*args: object, **kwargs: object) -> subprocess.Popen[str]:
        started.append(popen(*args, **kwargs))  # type: ignore[call-overload]
        return started[-1]

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(onnx_runtime, "CACHE", tmp_path)
    monkeypatch.setattr(onnx_runtime.subprocess, "Popen", remember)
    with pytest.raises(KeyboardInterrupt):
        onnx_runtime.load("lstm_seq2seq", stop)
    assert started[0].wait(10) != 0
    assert not list(tmp_path.rglob("graphs.json"))


def test_importing_the_catalog_loads_no_other_runtime() -> None:
    code = "import sys, models, models.catalog; print('onnxruntime' in sys.modules, 'onnx' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False"]
