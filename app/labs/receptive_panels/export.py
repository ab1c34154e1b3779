"""Numbers, tables and Python lines of what the page shows."""

from __future__ import annotations

from typing import Any

from app.experiments.receptive.field import Lattice
from app.labs.receptive_panels import lattice
from app.labs.receptive_panels.settings import Settings
from app.ui.errors import guarded
from app.ui.export import export_panel
from app.ui.page import Page


def export_all(page: Page[Settings], found: dict[str, Any]) -> None:
    """found: what each panel returned, by its name; a panel that failed is left out."""
    tables = {}
    if "lattice" in found:
        tables["The field after each layer"] = lattice.frame(found["lattice"])
    with page.export, guarded("The export"):
        lines = python_lines(page.settings, found.get("lattice"))
        export_panel("receptive-fields", tables=tables, numbers=found, python=lines)


def python_lines(settings: Settings, shown: Lattice | None) -> str:
    """The lines that give the same fields and distances."""
    layers = ", ".join(
        f"Layer({o.width}, {o.dilation}, causal={o.causal}, stride={o.stride})"
        for o in (shown.schedule if shown else ())
    )
    output = shown.output if shown else 0
    return f"""
from models.analysis import receptive
from models.analysis.receptive import Layer

schedule = receptive.check([{layers}])
print(receptive.spans(schedule), receptive.field(schedule).holes)
print(receptive.cone(schedule, rows={settings.positions}, output={output})[0])
print({{rule: receptive.fewest(rule, {settings.distance}, {settings.width}) for rule in receptive.RULES}})
"""
