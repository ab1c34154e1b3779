"""What can be taken from the Alignment page: tables, one JSON, and the Python lines of the open panel."""

from __future__ import annotations

from typing import Any

import pandas as pd

from app.components import Selection
from app.experiments.alignment import change, gold
from app.experiments.alignment.code import Recipe, python_lines
from app.experiments.alignment.reading import Reading
from app.labs.alignment_parts import pick, swap_panel
from app.labs.alignment_parts.settings import Settings
from app.ui.errors import guarded
from app.ui.export import export_panel, matrix
from app.ui.page import Page


def export(page: Page[Settings], readings: list[Reading], at: Selection) -> None:
    """Fill the Export popover."""
    with page.export, guarded("The export"):
        export_panel(
            "alignment",
            tables=tables(readings, page.settings),
            numbers={"settings": page.settings, "systems": [numbers(one) for one in readings]},
            python=python_lines(recipe(page.settings, readings[0], at)),
        )


def tables(readings: list[Reading], settings: Settings) -> dict[str, pd.DataFrame]:
    """Weights as shown and scores over pieces, target x source, for each system."""
    found: dict[str, pd.DataFrame] = {}
    for one in readings:
        show = settings.show
        rows, columns = one.target.labels(show), one.source.labels(show)
        found[f"{one.ask.choice.title} weights"] = matrix(one.matrix(show), rows, columns)
        if one.scores is not None:
            labels = list(one.target.pieces), list(one.source.pieces)
            found[f"{one.ask.choice.title} scores"] = matrix(one.scores, *labels)
    return found


def numbers(reading: Reading) -> dict[str, Any]:
    """Everything computed for one system."""
    return {
        "system": reading.ask.choice.slug,
        "changes": dict(reading.ask.choice.changes),
        "trained_for_another_setting": reading.ask.choice.notes,
        "sentence": reading.ask.sentence,
        "text": reading.text,
        "source": reading.source,
        "target": reading.target,
        "log_probs": reading.log_probs,
        "scores": reading.scores,
        "weights": reading.weights,
        "weight_sums": reading.sums,
        "context": reading.context,
        "centre": reading.centre,
        "window": reading.window,
    }


def recipe(settings: Settings, reading: Reading, at: Selection) -> Recipe:
    """What the Python lines must repeat of the open panel."""
    ask = reading.ask
    columns = reading.columns(settings.show)
    rows = () if at.column is None else tuple(range(*columns[at.column][1:]))
    word = swap_panel.word_of(reading, at, settings) if settings.swap.strip() else None
    pair = gold.pair_of(ask.sentence) if settings.panel == "gold" else None
    return Recipe(
        ask.choice, ask.sentence, ask.decoding, ask.beam, ask.forced, ask.layer, ask.head, settings.panel,
        pick.step_of(reading, at, settings), rows, settings.bias, settings.tolerance, settings.seed,
        "" if word is None else change.swap(ask.sentence, word, settings.swap),
        None if pair is None else (pair.english, pair.french),
    )  # fmt: skip
