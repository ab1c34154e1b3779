"""Numbers that independent implementations computed, read from tests/golden, one folder a case."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


class Case:
    """One case: `case["name"]` is a tensor (floats as float64), `case.atol` the tolerance that its source suggests."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.meta: dict[str, Any] = json.loads((GOLDEN / name / "meta.json").read_text(encoding="utf-8"))
        self.atol = float(self.meta["suggested_atol"])
        self._tensors = load_file(GOLDEN / name / "data.safetensors")

    def __getitem__(self, key: str) -> Tensor:
        value = self._tensors[key]
        return value.double() if value.is_floating_point() else value

    def __contains__(self, key: str) -> bool:
        return key in self._tensors

    def check(self, key: str, ours: Tensor, where: Tensor | None = None) -> None:
        """`ours` equals the golden tensor `key`, everywhere or where a mask says."""
        self.same(ours, self[key], where)

    def same(self, ours: Tensor, theirs: Tensor, where: Tensor | None = None) -> None:
        if where is not None:
            ours, theirs = ours[where], theirs[where]
        assert ours.numel() > 0
        torch.testing.assert_close(ours, theirs, rtol=0, atol=self.atol)


@functools.cache
def case(name: str) -> Case:
    return Case(name)


def names(prefix: str) -> list[str]:
    """Every case folder whose name starts so."""
    return sorted(p.name for p in GOLDEN.iterdir() if p.is_dir() and p.name.startswith(prefix))


@functools.cache
def article() -> dict[str, dict[str, Any]]:
    """The article's worked numbers: name -> inputs, expected, tolerance, section."""
    text = (GOLDEN / "seed_numbers.json").read_text(encoding="utf-8")
    return {entry["name"]: entry for entry in json.loads(text)["entries"]}


def check_article(name: str, ours: Tensor) -> None:
    """`ours` equals the number that the article prints, to the digits that it prints."""
    entry = article()[name]
    expected = torch.tensor(entry["expected"], dtype=torch.float64)
    torch.testing.assert_close(ours.double(), expected, rtol=0, atol=max(entry["tolerance"], 1e-12))


def inputs(name: str) -> dict[str, Tensor]:
    """The inputs of one of the article's numbers as float64 tensors."""
    given = article()[name]["inputs"].items()
    return {k: torch.tensor(v, dtype=torch.float64) for k, v in given if not isinstance(v, str)}


@functools.cache
def wrong_conventions() -> dict[str, Any]:
    """Size of the error that each common wrong convention makes, as the makers of the cases measured it."""
    return json.loads((GOLDEN / "mutation_check.json").read_text(encoding="utf-8"))


def fill(module: torch.nn.Module, **values: Tensor) -> None:
    """Copy values into parameters by dotted name (dots written as two underscores); shapes must agree."""
    known = dict(module.named_parameters())
    with torch.no_grad():
        for name, value in values.items():
            parameter = known[name.replace("__", ".")]
            assert parameter.shape == value.shape, (name, tuple(parameter.shape), tuple(value.shape))
            parameter.copy_(value)


def blocks(matrix: Tensor, order: str, wanted: str) -> Tensor:
    """Rows of `matrix` are len(order) equal blocks named by letters; the blocks `wanted`, in that order."""
    parts = dict(zip(order, matrix.chunk(len(order)), strict=True))
    return torch.cat([parts[letter] for letter in wanted])
