"""The page's sentences and the small numbers that stand in them, all from results. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from app.experiments.fixed_context import FIXED
from app.experiments.fixed_context.quality import Quality, Series

if TYPE_CHECKING:
    from app.experiments.fixed_context.arithmetic import Mixed
    from app.experiments.fixed_context.contexts import Summary
    from app.experiments.fixed_context.crossing import Crossing, Group
    from app.experiments.fixed_context.transplant import Transplanted
    from app.experiments.fixed_context.travel import Travel
    from app.experiments.fixed_context.widening import Widened
    from app.experiments.run import Check

CROSSING = (
    "The state that each system's read() returned for your sentence: all that the decoder has of the source before its "
    "first decision. A violet bar is one vector. Blue rows are kept one by one, and the decoder can address them."
)
CROSSING_SAYS = (
    "Tensors of this run at one scale, and bytes measured while your own pieces are repeated up to the box's limit.",
    "Room is not content: bytes do not say how much of a sentence a decoder can use, and more rows cost more to read.",
)
PAIR = (
    "B starts as A with or without its “not”; edit it as you like. Both are read, and what crosses is compared. "
    "If two sentences gave the same c, a fixed-context decoder would have to say the same for both."
)
PAIR_SAYS = (
    "How far the summaries of A and B lie apart, channel by channel, and in which encoder rows the edit is still felt.",
    "A small distance does not prove a loss: the decoder may have learned to use just that small difference.",
)
QUALITY = (
    "Stored figures of these checkpoints: BLEU on the test split in groups of source length (the figure of Bahdanau et "
    "al. 2015, on our data); and on held-out story pairs how often the French keeps the negation, or its absence, as "
    "more words stand between what is said of the report and what the committee decides."
)
QUALITY_SAYS = (
    "Greedy translations of all test sentences in each group; n is the number of sentences behind a point.",
    "Systems differ in more than their context, groups in more than length, and few sentences make a noisy point. "
    "A fall with length is a measurement here, not a theorem about fixed vectors.",
)
TRANSPLANT = (
    "The decoder of one system runs on A, but a part of what it received comes from B. A summary is moved whole; of a "
    "memory one row is replaced. Marks show what A alone says and loses, and what is new below."
)
TRANSPLANT_SAYS = (
    "What this decoder says with the exchanged part, decoded greedily, with the probability of each word.",
    "No sentence produced this state, so the decoder was never trained on it. A changed word does not locate a fact.",
)
READ = (
    "The article's four source rows and three weight rows, by the same function the trained systems call. Edit any "
    "number: one memory gives as many contexts as there are weight rows, a fixed context is the last row every time."
)
READ_SAYS = (
    "c_t as the weighted sum of the rows of H, and the last row as a final-state context would export it.",
    "Supplied weights test the arithmetic only: nothing here was learned, and no weight explains a prediction.",
)


def lane(one: Crossing) -> tuple[str, ...]:
    """Beside a system's tensors: rows that can be addressed, and bytes with their growth."""
    rows = f"{one.addressable} source rows to address"
    if not one.bytes_a_row:
        return rows, f"{one.nbytes:,} bytes at any length"
    return rows, f"{one.nbytes:,} bytes, {one.bytes_a_row:,.0f} more a row"


def merged(systems: Sequence[Crossing] | Sequence[Summary]) -> list[Check]:
    """One check a label over all systems: the largest violation, and by name the systems that failed."""
    found: dict[str, list[tuple[str, Check]]] = {}
    for one in systems:
        for check in one.checks:
            found.setdefault(check.label, []).append((one.title, check))
    return [_worst(label, checks) for label, checks in found.items()]


def _worst(label: str, checks: list[tuple[str, Check]]) -> Check:
    failed = [title for title, check in checks if not check.passed]
    named = ", ".join(failed) or (checks[0][0] if len(checks) == 1 else f"{len(checks)} systems")
    worst = max((check for _, check in checks), key=lambda check: check.value)
    return replace(worst, label=f"{label}: {named}", passed=not failed)


def wide_block(wide: Widened, systems: Sequence[Crossing]) -> dict[str, Any]:
    """c as a block; an outline unless a loaded checkpoint has that width."""
    trained = {t.shape[-1] for one in systems for t in one.tensors if t.symbol == "c"}
    shape = " × ".join(map(str, wide.summary.shape))
    return {
        "symbol": "c", "name": wide.summary.name, "rows": wide.summary.shape[0], "channels": wide.width,
        "nbytes": wide.summary.nbytes, "shape": shape, "trained": wide.width in trained,
    }  # fmt: skip


def wide_notes(wide: Widened) -> tuple[str, ...]:
    return (f"{wide.numbers:,} numbers, 1 row",)


def memory(systems: Sequence[Crossing]) -> tuple[Crossing, Group] | None:
    """The first kept source rows among the systems shown."""
    found = ((one, group) for one in systems for group in one.groups if group.role == "source")
    return next(found, None)


def memory_notes(group: Group) -> tuple[str, ...]:
    return (f"{group.rows * group.channels:,} numbers, {group.rows} rows",)


def widening(wide: Widened, kept: tuple[Crossing, Group] | None) -> tuple[str, str]:
    strong = f"At {wide.width:,} channels c is {wide.summary.nbytes:,} bytes and 1 row."
    if kept is None:
        return strong, "No width gives the decoder a row to ask for."
    one, group = kept
    numbers = group.rows * group.channels
    more = "more" if wide.numbers > numbers else "no more"
    return strong, (
        f"It holds {more} numbers than H of {one.title} ({numbers:,}), but only H has rows: {group.rows} now, and one "
        "more for each piece you add. An outlined width was not trained here; its state is only measured."
    )


def marked(moved: Travel) -> tuple[list[str], list[str], range, range]:
    """Pieces of A and of B, and which of them were edited."""
    head = int(np.argmin(moved.paired)) if not moved.paired.all() else len(moved.columns)
    tail = moved.columns[head + len(moved.only_a) + len(moved.only_b) :]
    a, b = ([*moved.columns[:head], *own, *tail] for own in (moved.only_a, moved.only_b))
    return a, b, range(head, head + len(moved.only_a)), range(head, head + len(moved.only_b))


def summary_figures(one: Summary) -> list[tuple[str, str, str]]:
    """Cosine and relative difference of the two summaries, and what other sentences give."""
    most = int(np.argmax(np.abs(one.difference)))
    symbol, start, _ = next(part for part in one.parts if most < part[2])
    found = [
        ("cosine of A and B", f"{one.cosine:.3f}", "1: same direction"),
        ("relative difference", f"{one.relative:.3f}", "0: equal"),
        (
            "largest change of a channel",
            f"{one.difference[most]:+.3f}".replace("-", "−"),
            f"{symbol}, channel {most - start + 1}",
        ),
    ]
    if one.others:
        values = [value for _, value in one.others]
        nearest, value = max(one.others, key=lambda other: other[1])
        beside = f"mean of {len(values)} examples; {value:.3f} with “{nearest}”"
        found.append(("cosine of A with other sentences", f"{np.mean(values):.3f}", beside))
    return found


def top(values: np.ndarray) -> float:
    """The upper end of the colour scale: 1, or what was measured if it is more."""
    return max(1.0, float(np.nanmax(values, initial=0.0)))


def travel(moved: Travel) -> tuple[str, str]:
    """What the map says of rows that were read before the edit, and of what is left at the end."""
    if moved.paired.all():
        return "A and B are the same.", "Edit one word of B to see how it travels."
    ends = [f"{line.label} {line.values[-1]:.2f}" for line in moved.lines if not line.kept]
    text = "→ reads left to right, ← right to left, ↔ all rows at once. Rows read before the edit are equal."
    if ends:
        text += f" Only the last row read reaches a fixed-context decoder; there the difference is: {', '.join(ends)}."
    return "Arrows give the order of reading.", text


def unmeasured(titles: Sequence[str]) -> str:
    names = ", ".join(titles)
    return (
        f"No test figures are stored yet for: {names}. python -m models evaluate SLUG measures a checkpoint."
    )


def quality_charts(found: Quality) -> list[tuple[str, tuple[Series, ...], str, str]]:
    """Title, series, measure and axis of both charts."""
    return [
        ("BLEU by source length", found.bleu, "bleu", "English words of the source"),
        (
            "Negation kept by distance",
            found.kept,
            "kept",
            "English words between assessment and decision",
        ),
    ]


def buckets(
    series: Sequence[Series], scale: float
) -> tuple[list[str], list[int], list[tuple[str, list[float]]]]:
    """Every bucket that occurs, in order, with its sentences; and each system's values there, NaN where it has none."""
    known = {(p.low, p.high): p for one in reversed(series) for p in one.points}
    order = sorted(known)
    lines = []
    for one in series:
        values = {(p.low, p.high): p.value * scale for p in one.points}
        name = f"{one.title}, fixed" if one.fixed else one.title
        lines.append((name, [values.get(key, float("nan")) for key in order]))
    return [known[key].label for key in order], [known[key].sentences for key in order], lines


def output_title(found: Transplanted, number: int) -> str:
    """What stands over one output."""
    if number != 1:
        return ("A, untouched", "", "B, untouched")[number]
    if found.rows is None:
        return f"A with {' and '.join(found.moved)} of B"
    row, donor = found.rows
    mine, theirs = found.a.pieces[row], found.b.pieces[donor]
    return f"A with its row {row + 1} ({mine}) replaced by row {donor + 1} of B ({theirs})"


def outcome(found: Transplanted) -> tuple[str, str]:
    """Whether the output moved, and whether it became B's."""
    own, got, theirs = found.outputs
    moved = " and ".join(found.moved)
    if got.axis.ids == own.axis.ids:
        return "The words did not change.", f"Exchanging {moved} moved only their probabilities."
    if got.axis.ids == theirs.axis.ids:
        why = " Nothing else of the source reaches this decoder." if found.slug in FIXED else ""
        return "The decoder now says what it says for B.", f"{moved} decided it.{why}"
    lost, new = sum(own.changed), sum(got.changed)
    return f"Words lost: {lost}, new: {new}.", "The result is neither A's own output nor B's."


def most(found: Mixed) -> float:
    """Half-width of the colour scale: 1, or the largest number shown."""
    return max(1.0, float(np.abs(found.contexts).max()), float(np.abs(found.fixed).max()))


def reads(found: Mixed) -> list[tuple[str, str]]:
    """Each c_t in full, and one of its numbers with the products behind it."""
    vectors = [", ".join(f"{value:.4g}" for value in row) for row in found.contexts]
    return [
        *((f"c_{t + 1}", f"({row})") for t, row in enumerate(vectors)),
        ("c_1, channel 1", found.terms(0, 0)),
    ]


def read_checks(found: Mixed) -> tuple[Check, ...]:
    """Whether each row of weights is a weighted mean."""
    from app.experiments.run import Check

    text = "Distance of the row's sum from 1; otherwise c_t is a weighted sum, not a weighted mean."
    off = np.abs(found.sums - 1)
    return tuple(Check(f"α_{t + 1} sums to 1", bool(x <= 1e-9), float(x), text) for t, x in enumerate(off))
