"""Numbers, tables and Python lines of what the page shows."""

from __future__ import annotations

from app.experiments.masks import options
from app.labs.masks_parts import leak_panel, moved_panel, weights_panel
from app.labs.masks_parts.scene import Scene
from app.labs.masks_parts.settings import Settings
from app.ui.errors import guarded
from app.ui.export import export_panel, matrix
from app.ui.page import Page


def export(page: Page[Settings], scene: Scene) -> None:
    """Fill the Export popover with this run."""
    with page.export, guarded("The export"):
        names = list(scene.request.own)
        tables = {
            f"{options.RELATIONS[name].short} relation, layer {scene.layer + 1}": matrix(
                scene.relations.used[name][scene.layer].astype(int), *scene.request.labels(name)
            )
            for name in names
        }
        tables["Weights"] = weights_panel.table(page, scene)
        tables["Decisions"] = moved_panel.table(scene)
        if scene.leak is not None:
            tables["Leak test"] = leak_panel.table(scene, scene.leak)
        numbers = {
            "settings": page.settings, "source": scene.request.pieces, "target": scene.request.decisions,
            "relations": dict(scene.relations.used), "weights": scene.run.weights[scene.read][scene.layer],
            "log_before": scene.run.log_before, "log_after": scene.run.log_after, "leak": scene.leak,
        }  # fmt: skip
        export_panel("masks", tables=tables, numbers=numbers, python=python_lines(scene))


def python_lines(scene: Scene) -> str:
    """The lines that run the same system under the same relations."""
    request = scene.request
    target = f", torch.tensor([[BOS, *{list(request.target[:-1])}]])" if request.target else ""
    masks = ", ".join(
        f'"{name}": torch.tensor({scene.relations.used[name].astype(int).tolist()}).bool()'
        for name in scene.relations.changed
    )
    return f"""
import torch
import models
from models.interface import Rows
from models.training.tokenizer import BOS

system = models.load("{scene.ask.slug}").system
ids = torch.tensor([{list(request.source)}])
source = Rows(ids, torch.ones_like(ids, dtype=torch.bool))
masks = {{{masks}}}  # True: the query row may read the key column; (layers, rows, columns)
scored = system.score(source{target}, masks=masks or None, empty="{scene.empty}")
print(system.reads(scored.trace)["{scene.read}"][{scene.layer}].weights[0])
print(scored.logits[0].log_softmax(-1))
"""
