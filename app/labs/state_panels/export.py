"""Numbers, tables and Python lines of what the page shows."""

from __future__ import annotations

from typing import Any

from app.labs.state_panels import length, schedules, selective
from app.labs.state_panels.settings import Settings
from app.ui.errors import guarded
from app.ui.export import export_panel
from app.ui.page import Page


def export_all(page: Page[Settings], found: dict[str, Any]) -> None:
    """found: what each panel returned, by its name; a panel that failed is left out."""
    tables, numbers = {}, {}
    if "schedules" in found:
        tables["Both schedules"] = schedules.table(found["schedules"])
        numbers["schedules"] = found["schedules"]
    if "selection" in found:
        view = found["selection"].layers[int(page.settings.layer) - 1]
        tables["Selective layer"] = selective.table(found["selection"], view)
        numbers["selection"] = found["selection"]
    if found.get("kept"):
        tables["State against length"] = length.table(found["kept"])
        numbers["kept"] = found["kept"]
    with page.export, guarded("The export"):
        export_panel("state-space", tables=tables, numbers=numbers, python=python_lines(page.settings))


def python_lines(settings: Settings) -> str:
    """The lines that give the same kernel, outputs and steps."""
    a, b, c, u = (tuple(v / 100 for v in getattr(settings, name)) for name in ("a", "b", "c", "u"))
    return f"""
import torch
import models
from models.layers import state_space as s

A, B, C = torch.tensor({a}).double().view(2, 2), torch.tensor({b}).double(), torch.tensor({c}).double()
u = torch.tensor({u}).double()
a_bar, b_bar = s.discretize(A, B, {settings.delta}, {settings.method!r})
states, recurrent = s.recur(a_bar, b_bar, C, {settings.d}, u)
convolved = s.convolve(u, s.kernel(a_bar, b_bar, C, len(u))) + {settings.d} * u

mamba = models.load("mamba")
source = mamba.encode_source({settings.sentence!r})
target = mamba.translate({settings.sentence!r}).target_ids
trace = mamba.forced(source, target)[0].trace
print(trace.layers[{int(settings.layer) - 1}].delta.mean(-1))
"""
