"""Every chosen system on one sentence: runs, the four answers in words, stored figures, and what is exported.

Importing this module imports neither torch nor the tokenizer; `compute`, `compare` and `count_pieces` do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from models.catalog import TRANSLATORS
from models.execution import checkpoints

if TYPE_CHECKING:
    from app.experiments.difference import Difference, Segment
    from app.experiments.run import SentenceRun, Show
    from models.interface import StateTensor

WIDTH = 4  # of the beam
LEAST = 0.1  # a weight that moved by less than this against the pinned run is not marked


@dataclass(frozen=True)
class Look:
    """How weights are shown: over words or pieces; a Transformer's layer (0 = last) and head (0 = mean), from 1."""

    show: Show = "words"
    layer: int = 0
    head: int = 0

    @property
    def place(self) -> dict[str, Any]:
        """The arguments `layer` and `head` of a run's weights."""
        return {"layer": self.layer - 1, "head": self.head - 1 if self.head else None}


@dataclass(frozen=True)
class Answer:
    """One of the four questions: a figure, and what it is a figure of."""

    question: str
    value: str
    detail: str


def compute(slug: str, sentence: str, beam: int = 1) -> SentenceRun:
    """One system on one sentence. Raises CheckpointError where its files are missing or damaged."""
    from app.experiments.run import run

    warm(slug)
    return run(slug, sentence, beam=beam)


@cache
def warm(slug: str) -> None:
    """Let torch allocate and choose its kernels once, so that a run's times are not those of its first call."""
    from app.experiments.run import run

    run(slug, "Thank you.", max_length=4)


def compare(before: SentenceRun, now: SentenceRun, look: Look) -> Difference:
    """The run `now` against the pinned run `before`."""
    from app.experiments import difference

    return difference.compare(before, now, look.show, **look.place)


def segments(before: str, now: str) -> tuple[Segment, ...]:
    """What became of the words of `before`."""
    from app.experiments import difference

    return difference.segments(before, now)


def count_pieces(text: str) -> int:
    """Subwords of `text`."""
    from models.training.tokenizer import load_tokenizer

    return len(load_tokenizer().encode(text))


def head_shape(slug: str) -> tuple[int, int] | None:
    """Decoder layers and heads of a shipped system, from its config; None without heads or a readable config."""
    try:
        text = (checkpoints.CHECKPOINTS / slug / "config.json").read_text(encoding="utf-8")
        config = json.loads(text)["config"]
        return int(config["n_layers"]), int(config["n_heads"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # the card of this system says what is wrong with its files


def picture_title(run: SentenceRun, look: Look) -> str:
    """Which weights the picture shows."""
    if run.heads is None:
        return "Alignment weights"
    layers, heads = run.heads.shape[:2]
    layer = look.layer if 0 < look.layer <= layers else layers
    if heads == 1:
        return (
            f"Attention of layer {layer} of {layers}" if look.layer else f"Attention, mean of {layers} layers"
        )
    read = f"head {look.head} of {heads}" if 0 < look.head <= heads else f"mean of {heads} heads"
    return f"Cross attention, layer {layer} of {layers}, {read}"


def crossing(run: SentenceRun) -> tuple[StateTensor, ...]:
    """What reaches the decisions of a system that aligns nothing: tensors of one kind together, layer by layer.

    It is the first state; where a summary is among it, only the summary, since the state s_0 is computed from it.
    """
    summary = tuple(one for one in run.answers.state if one.name == "summary")
    kinds: dict[str, list[StateTensor]] = {}
    for one in summary or run.answers.state:
        kinds.setdefault(one.name.split("[")[0], []).append(one)
    return tuple(_together(name, parts) for name, parts in kinds.items())


def _together(name: str, parts: list[StateTensor]) -> StateTensor:
    if len(parts) == 1:
        return parts[0]
    symbol = parts[0].symbol.split(", layer")[0]
    total = sum(one.nbytes for one in parts)
    return replace(parts[0], name=f"{name}, {len(parts)} layers", symbol=symbol, nbytes=total)


def answers(run: SentenceRun) -> list[Answer]:
    """State, graph, schedule and runtime of this run."""
    got, rows, steps = run.answers, len(run.source.ids), run.answers.decode_steps
    tensors = f"{len(got.state)} tensor{'s' if len(got.state) > 1 else ''}"
    after = "the same" if got.state_bytes == got.state_bytes_after else size(got.state_bytes_after)
    return [
        Answer(
            "State",
            size(got.state_bytes),
            f"in {tensors} before the first decision, {after} after the last",
        ),
        Answer("Graph", *_graph(got.readable_rows, rows)),
        Answer(
            "Schedule",
            f"{got.encode_steps} + {steps}",
            f"dependent steps to read and to decide; a known target: one call, {milliseconds(got.score_ms)}",
        ),
        Answer(
            "Runtime",
            milliseconds(got.step_ms),
            f"a decision (median of {steps}), {milliseconds(got.read_ms)} to read the source",
        ),
    ]


def _graph(readable: Sequence[int], rows: int) -> tuple[str, str]:
    if not readable:
        return f"0 of {rows}", "source rows readable by a decision: it sees only what crossed"
    low, high = min(readable), max(readable)
    span = f"{low}" if low == high else f"{low} to {high}"
    return f"{span} of {rows}", "source rows readable by each decision"


def size(count: int) -> str:
    """Bytes as a person reads them (1 kB = 1,000 B)."""
    return (
        f"{count} B" if count < 1000 else f"{count / 1000:.1f} kB" if count < 1e6 else f"{count / 1e6:.2f} MB"
    )


def milliseconds(value: float) -> str:
    return f"{value:.2f} ms" if value < 1 else f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"


def told(difference: Difference) -> str:
    """The difference in a sentence or two."""
    counts = [(difference.count(kind), kind) for kind in ("changed", "inserted", "removed")]
    parts = [f"{count} {kind}" for count, kind in counts if count]
    words = f"Words: {', '.join(parts)}." if parts else "Every word is the same."
    if difference.cells is None:
        return words
    if not difference.moves:
        return f"{words} No weight moved by {LEAST} or more."
    top = difference.moves[0]
    return (
        f"{words} Weights that moved by {LEAST} or more: {len(difference.moves)} marked; "
        f"the largest is {top.target} ← {top.source}, {top.before:.2f} before, {top.now:.2f} now."
    )


def figures() -> list[dict[str, Any]]:
    """One row a system from the manifest: test figures, None where there are none."""
    manifest = checkpoints.read_manifest()
    return [
        _figures(item.slug, item.title, item.family, item.year, manifest.get(item.slug, {}))
        for item in TRANSLATORS
    ]


def _figures(slug: str, title: str, family: str, year: int, facts: Mapping[str, Any]) -> dict[str, Any]:
    metrics = facts.get("metrics") or {}
    errors = metrics.get("alignment_error_rate") or {}
    return {
        "System": title,
        "Family": family,
        "Year": year,
        "Parameters": facts.get("parameters"),
        "BLEU greedy": metrics.get("bleu_greedy"),
        "BLEU beam 4": metrics.get("bleu_beam4"),
        "chrF greedy": metrics.get("chrf_greedy"),
        "chrF beam 4": metrics.get("chrf_beam4"),
        "Negation kept": _percent((metrics.get("story") or {}).get("negation_kept")),
        "AER stories": _percent(errors.get("story")),
        "AER by hand": _percent(errors.get("examples")),
        "slug": slug,
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def figures_caption() -> str:
    """What the stored figures are measured on, and what each means."""
    count = measured_on()
    where = f"on the fixed test split ({count:,} sentences)" if count else "on the fixed test split"
    return (
        f"Stored figures, measured once {where}, not on your sentence. BLEU and chrF: sacreBLEU against every "
        "reference. Negation kept: held-out story pairs whose French keeps the source's negation or its absence. AER: "
        "alignment error rate, lower is better, on held-out stories and on hand-aligned examples; it judges the raw "
        "weights, so a system that reads the row before or after the word counts as wrong. A dash: not measured yet, "
        "or the system has no alignment."
    )


def measured_on() -> int | None:
    """How many sentences the stored figures were measured on; None where nothing was measured yet."""
    counts = [
        (one.get("metrics") or {}).get("test_sentences") for one in checkpoints.read_manifest().values()
    ]
    return max((count for count in counts if count), default=None)
