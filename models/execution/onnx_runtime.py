"""The same weights under ONNX Runtime: graphs that models/execution/export.py wrote, loaded when first asked for.

CUDA where torch runs on CUDA and the provider can be loaded, otherwise the CPU with a sentence that names what is
missing. States stay where the provider keeps them: nothing but logits comes back between two calls.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from models.catalog import entry
from models.execution.checkpoints import read_manifest
from models.execution.device import device
from models.execution.export import LEGEND, CannotExport, Legend
from models.interface import Rows, System

if TYPE_CHECKING:
    import onnxruntime as ort

CACHE = (
    Path(os.environ.get("SEQUENCE_EXPLORER_CACHE") or Path(__file__).resolve().parents[2] / "runs") / "onnx"
)


@dataclass(frozen=True)
class Provider:
    """Where ONNX Runtime executes. sentence: why it is not the GPU that torch uses; empty where nothing is missing."""

    name: str
    place: str
    sentence: str = ""


CPU = Provider("CPUExecutionProvider", "cpu")


@functools.cache
def provider() -> Provider:
    """The provider of this process."""
    if device().type != "cuda":
        return CPU
    return _cuda()


def _cuda() -> Provider:
    import onnxruntime as ort

    if "CUDAExecutionProvider" not in ort.get_available_providers():
        told = (
            "onnxruntime-gpu is missing: the CPU build of ONNX Runtime is installed, so it runs on the CPU."
        )
        return Provider(CPU.name, CPU.place, told)
    try:
        ort.preload_dlls()
        ctypes.CDLL(str(Path(ort.__file__).parent / "capi" / "libonnxruntime_providers_cuda.so"))
    except OSError as error:
        told = f"{missing_library(str(error))} is missing, so ONNX Runtime runs on the CPU."
        return Provider(CPU.name, CPU.place, told)
    return Provider("CUDAExecutionProvider", "cuda")


def missing_library(message: str) -> str:
    """The library that a loader's message names: "libcudnn.so.9: cannot open shared object file" -> libcudnn.so.9."""
    found = re.search(r"([\w.+-]+\.(?:so[\w.]*|dll|dylib))", message)
    return Path(found.group(1)).name if found else "A library of the CUDA provider"


@dataclass(frozen=True)
class Held:
    """A state that lives in ONNX Runtime."""

    parts: tuple[Any, ...]

    @property
    def nbytes(self) -> int:
        return sum(int(np.prod(p.shape())) * _item_size(p.data_type()) for p in self.parts)


def _item_size(kind: str) -> int:
    return {"tensor(float)": 4, "tensor(int64)": 8, "tensor(bool)": 1}[kind]


class OnnxRuntime:
    """Both graphs of one system. Calls may come from several threads: a session keeps nothing between two runs."""

    counted = False  # nothing here counts operations
    where = torch.device("cpu")

    def __init__(self, folder: Path, first: str, names: tuple[str, ...], at: Provider) -> None:
        self.provider, self.names = at, names
        self._read = _session(folder / f"{first}.onnx", at)
        self._step = _session(folder / "step.onnx", at)

    def read(self, source: Rows) -> Held:
        given = {"ids": source.ids.cpu().numpy(), "valid_in": source.valid.cpu().numpy()}
        return Held(tuple(self._run(self._read, {k: self._value(v) for k, v in given.items()}, ())))

    def step(self, state: Held, token: np.ndarray) -> tuple[np.ndarray, Held]:
        """token (B,) int64 -> logits (B, V) and the next state."""
        given = dict(zip(self.names, state.parts, strict=True)) | {"token": self._value(token)}
        logits, *after = self._run(self._step, given, ("logits",))
        return logits.numpy(), Held(tuple(after))

    def decide(self, state: Held, token: list[int]) -> tuple[Held, list[int]]:
        """One step and its greedy decisions."""
        logits, after = self.step(state, np.asarray(token, dtype=np.int64))
        return after, logits.argmax(-1).tolist()

    def _value(self, array: np.ndarray) -> ort.OrtValue:
        import onnxruntime as ort

        return ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array), self.provider.place, 0)

    def _run(self, session: Any, given: dict[str, Any], home: tuple[str, ...]) -> list[Any]:
        """Outputs where the provider keeps them; those named in `home` on the CPU. An input the graph dropped is left
        out."""
        binding = session.io_binding()
        known = {item.name for item in session.get_inputs()}
        for name, value in given.items():
            if name in known:
                binding.bind_ortvalue_input(name, value)
        for item in session.get_outputs():
            binding.bind_output(item.name, "cpu" if item.name in home else self.provider.place)
        session.run_with_iobinding(binding)
        return binding.get_outputs()


def _session(path: Path, at: Provider) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    wanted = [at.name] if at.place == "cpu" else [at.name, CPU.name]
    return ort.InferenceSession(path, options, providers=wanted)


@torch.inference_mode()
def largest_difference(system: System, runtime: OnnxRuntime, source: Rows, target_in: Tensor) -> list[float]:
    """Largest |logit difference| of each step, the same rows and tokens (B, T) in both, over real requests."""
    where = next(system.parameters()).device
    state, held = system.read(source.to(where)), runtime.read(source)
    found = []
    for token in target_in.unbind(1):
        stepped = system.step(state, token.to(where))
        logits, held = runtime.step(held, token.cpu().numpy())
        state = stepped.state
        found.append(float(np.abs(stepped.logits.cpu().numpy() - logits).max()))
    return found


_locks: dict[str, threading.Lock] = {}
_guard = threading.Lock()


def folder_of(slug: str) -> Path:
    """Where the graphs of the shipped weights belong; other weights get another folder."""
    sha = read_manifest().get(slug, {}).get("weights_sha256", "")
    return CACHE / f"{slug}-{sha[:12]}"


def ensure(slug: str, report: Callable[[float], None] = lambda share: None) -> Path:
    """The folder with the graphs of `slug`, written by another process where they are not there yet.

    Raises CannotExport with the sentence of that process. `report` may raise to give up waiting.
    """
    with _guard:
        lock = _locks.setdefault(slug, threading.Lock())
    with lock:
        folder = folder_of(slug)
        if not (folder / LEGEND).exists():
            _written_elsewhere(slug, folder, report)
        return folder


def _written_elsewhere(slug: str, folder: Path, report: Callable[[float], None]) -> None:
    command = [sys.executable, "-m", "models", "export", slug, "--to", str(folder)]
    writer = subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        while writer.poll() is None:
            report(0.0)
            try:
                writer.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
    finally:
        writer.kill()
    if writer.returncode:
        lines = writer.stderr.read().strip().splitlines() if writer.stderr else []
        raise CannotExport(lines[-1] if lines else f"The graphs of {slug} could not be written.")


@functools.lru_cache(maxsize=8)
def _opened(folder: Path) -> OnnxRuntime:
    legend = Legend.load(folder)
    return OnnxRuntime(folder, legend.first, legend.names, provider())


def load(slug: str, report: Callable[[float], None] = lambda share: None) -> OnnxRuntime:
    """The system `slug` under ONNX Runtime. Raises CannotExport."""
    entry(slug)
    return _opened(ensure(slug, report))
