"""The runs of the home page as tables, as one JSON object, and as the Python lines that give them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from app.experiments.home import Look, picture_title

if TYPE_CHECKING:
    from app.experiments.run import SentenceRun


def tables(runs: Sequence[SentenceRun], look: Look) -> dict[str, pd.DataFrame]:
    """Long tables, one row a token, a weight, a tensor and a check. Weights as shown; empty tables are left out."""
    made = {
        "Outputs": [row for run in runs for row in _outputs(run)],
        "Alignments": [row for run in runs for row in _weights(run, look)],
        "States": [row for run in runs for row in _states(run)],
        "Checks": [row for run in runs for row in _checks(run)],
    }
    return {title: pd.DataFrame(rows) for title, rows in made.items() if rows}


def numbers(sentence: str, beam: int, runs: Sequence[SentenceRun], look: Look) -> dict[str, Any]:
    """Everything measured, pieces and words included."""
    return {"sentence": sentence, "beam": beam, "systems": {run.slug: _numbers(run, look) for run in runs}}


def python_lines(sentence: str, beam: int, slugs: Sequence[str], look: Look) -> str:
    """Lines that give the outputs, probabilities and weights again, from `models` alone."""
    named = ", ".join(f'"{slug}"' for slug in slugs)
    lines = f"""
import math, models

sentence = {sentence!r}
found = {{slug: models.load(slug).translate(sentence, beam={beam}) for slug in [{named}]}}
for slug, one in found.items():
    print(slug, one.text, [round(math.exp(p), 3) for p in one.log_probs])
# one.alignment: weights over pieces, target x source; one.target_words: the pieces of each word
"""
    if "transformer" in slugs and (look.layer or look.head):
        head = look.head - 1 if look.head else None
        lines += f"""
transformer, one = models.load("transformer"), found["transformer"]
scored, _ = transformer.forced(one.source_ids, one.target_ids)
weights = transformer.system.alignment(scored.trace, layer={look.layer - 1}, head={head})[0]
"""
    return lines.strip() + "\n"


def _outputs(run: SentenceRun) -> list[dict[str, Any]]:
    owner = {place: text for text, start, stop in run.target.words for place in range(start, stop)}
    return [
        {"system": run.slug, "position": place, "piece": piece, "word": owner[place], "probability": float(p)}
        for place, (piece, p) in enumerate(zip(run.target.pieces, run.probabilities, strict=True))
    ]


def _weights(run: SentenceRun, look: Look) -> list[dict[str, Any]]:
    weights = run.matrix(look.show, **look.place)
    if weights is None:
        return []
    rows, columns = run.target.labels(look.show), run.source.labels(look.show)
    title = picture_title(run, look)
    return [
        {
            "system": run.slug, "weights": title, "row": i, "target": rows[i], "column": j, "source": columns[j],
            "weight": float(weights[i, j]),
        }
        for i, j in np.ndindex(weights.shape)
    ]  # fmt: skip


def _states(run: SentenceRun) -> list[dict[str, Any]]:
    return [
        {"system": run.slug, "tensor": one.name, "symbol": one.symbol, "shape": "x".join(map(str, one.shape)),
         "bytes": one.nbytes}
        for one in run.answers.state
    ]  # fmt: skip


def _checks(run: SentenceRun) -> list[dict[str, Any]]:
    return [
        {"system": run.slug, "check": one.label, "holds": one.passed, "value": one.value}
        for one in run.checks
    ]


def _numbers(run: SentenceRun, look: Look) -> dict[str, Any]:
    shown = {
        "what": picture_title(run, look),
        "over": look.show,
        "values": run.matrix(look.show, **look.place),
    }
    return {
        "text": run.text,
        "ended": run.ended,
        "source": run.source,
        "target": run.target,
        "probabilities": run.probabilities,
        "weights_shown": shown,
        "weights_over_pieces": run.weights,
        "answers": run.answers,
        "checks": run.checks,
    }
