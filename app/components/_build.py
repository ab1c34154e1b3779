"""Register a component from the files beside this module: no build step, plain ES modules.

The shared scripts and the component's own are joined into one module, since Streamlit takes one string.
Streamlit sends that string with every rerun, so indentation and whole-line comments are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from streamlit.components.v2 import component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

FOLDER = Path(__file__).parent / "js"
SHARED = ("theme.js", "surface.js", "data.js", "frame.js")


def script(*names: str) -> str:
    """The shared scripts followed by the named ones, as the text of one ES module."""
    lines = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in (*SHARED, *names)).splitlines()
    bare = (line.strip() for line in lines)
    return "\n".join(line for line in bare if line and not line.startswith("//"))


def register(name: str, scripts: tuple[str, ...], styles: tuple[str, ...] = ()) -> ComponentRenderer:
    """Register the component `name` with Streamlit and return the function that mounts it."""
    css = "\n".join((FOLDER / sheet).read_text(encoding="utf-8") for sheet in ("style.css", *styles))
    return component(f"sequence_explorer.{name}", css=css, js=script(*scripts))
