"""Write a system's two calls as ONNX graphs, so that another runtime can execute the same weights.

    encoder.onnx or prefill.onnx   ids, valid -> every tensor of the first state        `System.read`
    step.onnx                      token and the state -> logits and the next state     `System.step`

The first is called after what it does: an encoder keeps a memory beside the target, a single stream's prompt is its own
prefix. Batch, source length and cached length stay variable. What torch computes must come out of the graphs: `tokens`
of graphs.json are decoded by both when they are written, and a difference beyond TOLERANCE is an error.

While a graph is written, torch is in a mode that the whole process can see. A server writes graphs in another process.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim

from models.interface import Rows, State, System
from models.systems.single_stream import SingleStream

TOLERANCE = 1e-4  # largest difference of a logit; float32 rounding in another order gives about 1e-5
LEGEND = "graphs.json"


class CannotExport(ValueError):
    """This system has no ONNX graph; the message says why."""


def flatten(state: State) -> tuple[list[str], list[Tensor]]:
    """Names and tensors of a state, in the order of its fields."""
    leaves = [(t.name, part) for t, part in zip(state.tensors(), tensors(state), strict=True)]
    return [name for name, _ in leaves], [part for _, part in leaves]


def tensors(state: State) -> list[Tensor]:
    found: list[Tensor] = []
    for item in fields(state):
        value = getattr(state, item.name)
        found += list(value) if isinstance(value, tuple) else [value]
    return found


def rebuild(like: State, parts: tuple[Tensor, ...]) -> Any:
    """A state of the class of `like` from its flat tensors."""
    left, values = list(parts), {}
    for item in fields(like):
        value = getattr(like, item.name)
        size = len(value) if isinstance(value, tuple) else None
        values[item.name] = tuple(left[:size]) if size is not None else left[0]
        left = left[size if size is not None else 1 :]
    return type(like)(**values)


class ReadGraph(nn.Module):
    """ids (B, S), valid (B, S) -> the first state's tensors."""

    def __init__(self, system: System) -> None:
        super().__init__()
        self.system = system

    def forward(self, ids: Tensor, valid: Tensor) -> tuple[Tensor, ...]:
        return tuple(part.clone() for part in tensors(self.system.read(Rows(ids, valid))))


class StepGraph(nn.Module):
    """token (B,) and the state's tensors -> logits (B, V) and the next state's tensors."""

    def __init__(self, system: System, like: State) -> None:
        super().__init__()
        self.system, self.like = system, like

    def forward(self, token: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        stepped = self.system.step(rebuild(self.like, state), token)
        return (stepped.logits, *(part.clone() for part in tensors(stepped.state)))


@dataclass(frozen=True)
class Legend:
    """What a folder of graphs holds. first: the name of the graph that reads; names: the state's tensors in order."""

    slug: str
    weights_sha256: str
    first: str
    names: tuple[str, ...]
    difference: float

    @classmethod
    def load(cls, folder: Path) -> Legend:
        found = json.loads((folder / LEGEND).read_text(encoding="utf-8"))
        return cls(**found | {"names": tuple(found["names"])})


def first_name(system: System) -> str:
    return "prefill" if isinstance(system, SingleStream) else "encoder"


def _example(lengths: tuple[int, int]) -> tuple[Tensor, Tensor]:
    ids = torch.arange(5, 5 + 2 * max(lengths)).view(2, -1)
    valid = torch.arange(ids.shape[1]) < torch.tensor(lengths).unsqueeze(1)
    return ids, valid


def _varying(system: System) -> list[dict[int, Any]]:
    """Which axes of each state tensor depend on the request: found by comparing two states."""
    one, other = _later(system, (5, 4), 2), _later(system, (8, 6), 3)
    lengths = zip(tensors(one), tensors(other), strict=True)
    return [
        {0: Dim.DYNAMIC} | {k: Dim.DYNAMIC for k in range(1, a.ndim) if a.shape[k] != b.shape[k]}
        for a, b in lengths
    ]


def _later(system: System, lengths: tuple[int, int], steps: int) -> State:
    state = system.read(Rows(*_example(lengths)))
    for _ in range(steps):
        state = system.step(state, torch.tensor([7, 8])).state
    return state


@torch.no_grad()
def write(system: System, slug: str, weights: str, folder: Path) -> Legend:
    """Write both graphs and graphs.json. Raises CannotExport where ONNX has no operators for the system, and
    RuntimeError where the graphs compute something else than torch."""
    system = system.to("cpu")
    state = _later(system, (5, 4), 2)
    names, parts = flatten(state)
    if any(part.is_complex() for part in parts):
        raise CannotExport("Its states are complex numbers, and ONNX has no operators for those.")
    folder.mkdir(parents=True, exist_ok=True)
    first = first_name(system)
    both = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    outputs = [f"{name}_out" for name in names]
    _save(
        ReadGraph(system),
        _example((5, 4)),
        (both, both),
        ["ids", "valid_in"],
        outputs,
        folder / f"{first}.onnx",
    )
    shapes = ({0: Dim.DYNAMIC}, tuple(_varying(system)))
    given = (torch.tensor([7, 8]), tuple(parts))
    _save(
        StepGraph(system, state), given, shapes, ["token", *names], ["logits", *outputs], folder / "step.onnx"
    )
    legend = Legend(slug, weights, first, tuple(names), _difference(system, folder, first, tuple(names)))
    if legend.difference > TOLERANCE:
        raise RuntimeError(f"The graphs of {slug} differ from torch by {legend.difference:.1e} in a logit.")
    (folder / LEGEND).write_text(json.dumps(vars(legend), indent=1) + "\n", encoding="utf-8")
    return legend


def _save(
    module: nn.Module, example: Any, shapes: Any, inputs: list[str], outputs: list[str], path: Path
) -> None:
    with _quiet():
        program = torch.export.export(module.eval(), example, dynamic_shapes=shapes, strict=False)
        graph = torch.onnx.export(
            program, (), input_names=inputs, output_names=outputs, dynamo=True, optimize=True, verbose=False
        )
    assert graph is not None
    graph.save(str(path))


def _difference(system: System, folder: Path, first: str, names: tuple[str, ...]) -> float:
    from models.execution.onnx_runtime import CPU, OnnxRuntime, largest_difference

    runtime = OnnxRuntime(folder, first, names, CPU)
    ids, valid = _example((9, 3))
    tokens = torch.arange(20, 32).view(2, 6)
    return max(largest_difference(system, runtime, Rows(ids, valid), tokens))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The exporter tells of optional packages and of its own steps; none of it is about this graph."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
