"""The page's results as tables, as one JSON object, and as the Python lines that give them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from app.experiments.fixed_context import reproduce
from app.experiments.fixed_context.quality import Quality

if TYPE_CHECKING:
    from app.experiments.fixed_context.arithmetic import Mixed
    from app.experiments.fixed_context.contexts import Summaries
    from app.experiments.fixed_context.crossing import Crossings
    from app.experiments.fixed_context.transplant import Transplanted
    from app.experiments.fixed_context.travel import Travel
    from app.experiments.run import Check


@dataclass(frozen=True)
class Found:
    """Everything the page computed; None where a panel could not."""

    crossings: Crossings | None
    summaries: Summaries | None
    travel: Travel | None
    quality: Quality | None
    transplanted: Transplanted | None
    mixed: Mixed | None


def tables(found: Found) -> dict[str, pd.DataFrame]:
    """Long tables; empty ones are left out."""
    made = {
        "Crossing tensors": crossing_table(found.crossings),
        "Bytes by source rows": bytes_table(found.crossings),
        "Channels of c": channel_table(found.summaries),
        "Travel of the edit": travel_table(found.travel),
        "Quality by length": quality_table(found.quality, "bleu"),
        "Negation by distance": quality_table(found.quality, "kept"),
        "Transplant outputs": output_table(found.transplanted),
        "Synthetic reads": read_table(found.mixed),
    }
    return {title: frame for title, frame in made.items() if len(frame)}


def crossing_table(found: Crossings | None) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"system": one.title, "tensor": t.symbol, "name": t.name, "shape": "×".join(map(str, t.shape)),
             "source rows": t.rows if t.axis is not None else 0, "bytes": t.nbytes}
            for one in (found.systems if found else ())
            for t in one.tensors
        ]
    )  # fmt: skip


def bytes_table(found: Crossings | None) -> pd.DataFrame:
    """One row a source length, one column a system."""
    columns = {one.title: dict(one.points) for one in (found.systems if found else ())}
    return pd.DataFrame(columns).rename_axis("source rows").reset_index() if columns else pd.DataFrame()


def channel_table(found: Summaries | None) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"system": one.title, "part": symbol, "channel": k - start + 1, "A": float(one.a[k]), "B": float(one.b[k]),
             "B - A": float(one.difference[k])}
            for one in (found.systems if found else ())
            for symbol, start, stop in one.parts
            for k in range(start, stop)
        ]
    )  # fmt: skip


def travel_table(found: Travel | None) -> pd.DataFrame:
    """One row a piece, one column an encoder; empty where the piece has no counterpart."""
    if found is None or not found.lines:
        return pd.DataFrame()
    return pd.DataFrame({"piece": list(found.columns), **{line.label: line.values for line in found.lines}})


def quality_table(found: Quality | None, measure: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"system": series.title, "bucket": p.label, "sentences": p.sentences, measure: p.value}
            for series in (getattr(found, measure) if found else ())
            for p in series.points
        ]
    )


def output_table(found: Transplanted | None) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"output": out.label, "position": k, "piece": piece, "log probability": float(out.log_probs[k])}
            for out in (found.outputs if found else ())
            for k, piece in enumerate(out.axis.pieces)
        ]
    )


def read_table(found: Mixed | None) -> pd.DataFrame:
    if found is None:
        return pd.DataFrame()
    rows = [*found.contexts, found.fixed]
    names = [*(f"c_{t + 1}" for t in range(len(found.contexts))), f"fixed context h_{len(found.H)}"]
    return pd.DataFrame(
        rows, index=pd.Index(names), columns=pd.Index([f"channel {k + 1}" for k in range(found.H.shape[1])])
    )


def numbers(sentence: str, other: str, found: Found) -> dict[str, Any]:
    """Everything measured, NaN as null."""
    plain = {name: _plain(asdict(part)) for name, part in vars(found).items() if part is not None}
    return {"A": sentence, "B": other, **plain}


def checks(found: Found) -> list[Check]:
    """Every check of this run."""
    groups: list[Any] = [*(found.crossings.systems if found.crossings else ())]
    groups += [*(found.summaries.systems if found.summaries else ()), found.travel, found.transplanted]
    return [check for group in groups if group is not None for check in group.checks]


def python_lines(
    slugs: Sequence[str],
    sentence: str,
    other: str,
    found: Found,
    part: str,
    h: Sequence[int],
    alpha: Sequence[int],
) -> str:
    """Lines for every panel, of the systems that are there."""
    there = [one.slug for one in found.crossings.systems] if found.crossings else []
    lines = [reproduce.crossing_lines(there, sentence), reproduce.context_lines(there, sentence, other)]
    if found.transplanted:
        moved = found.transplanted
        lines.append(reproduce.transplant_lines(moved.slug, sentence, other, part, moved.rows))
    lines += [reproduce.figure_lines(slugs), reproduce.read_lines(h, alpha)]
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
