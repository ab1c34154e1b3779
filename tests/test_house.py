"""Imports point down only, and the rooms that must stay light stay light. Reads the source; imports nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("app", "models", "tests")
FILES = sorted(path for room in ("app", "models") for path in (ROOT / room).rglob("*.py"))

# A module in the room on the left may import, of ours, only what starts with one of the names on the right.
MAY_IMPORT = {
    "app.labs": (
        "app.labs",
        "app.catalog",
        "app.experiments",
        "app.charts",
        "app.components",
        "app.ui",
        "models.catalog",
    ),
    "app.experiments": ("app.experiments", "models"),
    "app.charts": ("app.charts",),
    "app.components": ("app.components",),
    "app.ui": ("app.catalog", "app.ui"),
    "app.main": ("app.catalog", "app.ui"),
    "app.catalog": (),
    "models": ("models",),
}
# And of others, none of these.
MUST_NOT_IMPORT = {
    "app.labs": ("torch", "onnxruntime"),
    "app.experiments": ("streamlit",),
    "app.charts": ("torch", "streamlit"),
    "app.components": ("torch",),
    "app.ui": ("torch",),
    "app.catalog": ("torch", "streamlit"),
    "app.main": ("torch",),
    "models": ("streamlit",),
}


def name_of(path: Path) -> str:
    """Dotted module name of a file under the root."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room_of(module: str, rooms: dict[str, tuple[str, ...]]) -> str | None:
    """The room whose rules hold for `module`."""
    return next((room for room in rooms if within(module, room)), None)


def within(module: str, room: str) -> bool:
    """Whether `module` is `room` or lies in it."""
    return module == room or module.startswith(room + ".")


def imports(path: Path) -> set[str]:
    """Every module that a file imports, at any depth, with relative names made absolute."""
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(package, node)
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def broken(path: Path) -> list[str]:
    """Imports of `path` that the house forbids."""
    module = name_of(path)
    allowed = MAY_IMPORT.get(room_of(module, MAY_IMPORT) or "")
    denied = MUST_NOT_IMPORT.get(room_of(module, MUST_NOT_IMPORT) or "", ())
    return sorted(one for one in imports(path) if _breaks(one, allowed, denied))


@pytest.mark.parametrize("path", FILES, ids=[name_of(path) for path in FILES])
def test_imports_point_down(path: Path) -> None:
    assert broken(path) == []


def test_every_module_of_the_app_has_rules() -> None:
    free = [name_of(path) for path in FILES if room_of(name_of(path), MAY_IMPORT) is None]
    assert free == ["app"]


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("app/charts", "import torch"),
        ("app/charts", "from app.ui import colours"),
        ("app/components", "from app.experiments import alignment"),
        ("app/experiments", "import streamlit as st"),
        ("app/labs", "import torch.nn"),
        ("app/ui", "from models.systems.luong import Luong"),
        ("models/layers", "from app.catalog import LABS"),
        ("models", "from ..app import catalog"),
    ],
)
def test_a_forbidden_import_is_seen(
    room: str, line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    path = tmp_path / room / "sample.py"
    path.parent.mkdir(parents=True)
    path.write_text(f"def f():\n    {line}\n", encoding="utf-8")
    assert broken(path)


def _absolute(package: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _breaks(imported: str, allowed: tuple[str, ...] | None, denied: tuple[str, ...]) -> bool:
    if any(within(imported, one) for one in denied):
        return True
    if imported.split(".")[0] not in OURS or allowed is None:
        return False
    return not any(within(imported, one) or imported in _parents(one) for one in allowed)


def _parents(name: str) -> set[str]:
    parts = name.split(".")
    return {".".join(parts[:stop]) for stop in range(1, len(parts))}
