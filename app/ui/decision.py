"""HTML of one decision and of changed reads: bars beside words, channel strips, comparison tables. No Streamlit.

Plain values in, escaped markup out. Every bar stands in a table cell beside its number, so the picture is its own
table view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Literal

SHEET = Path(__file__).with_name("decision.css")
Role = Literal["source", "target", "state", "decision"]
STOPS = 9  # of the diverging scale


@dataclass(frozen=True)
class Column:
    """One column of bars. signed: they grow from the middle, else from the left.

    limit: the value of a full bar (default: the largest); base: the value of an empty one.
    """

    title: str
    values: Sequence[float]
    role: Role = "source"
    signed: bool = False
    limit: float | None = None
    digits: int = 3
    base: float = 0.0


@cache
def sheet() -> str:
    """The style sheet of what is made here."""
    return f"<style>{SHEET.read_text(encoding='utf-8')}</style>"


def badge(notes: Sequence[str]) -> str:
    """A clear mark on a system whose weights were trained for another setting; nothing for a trained one."""
    if not notes:
        return '<span class="se-badge trained">trained as shown</span>'
    told = escape(", ".join(notes))
    return f'<span class="se-badge">Weights trained for another setting: {told}</span>'


def card_head(title: str, order: str, notes: Sequence[str]) -> str:
    """Name of a system, the order of its step, and whether it was trained as it runs here."""
    named = f'<h3>{escape(title)}</h3><span class="order">{escape(order)}</span>'
    return f'<div class="se-system">{named}{badge(notes)}</div>'


def bars(
    caption: str,
    head: str,
    labels: Sequence[str],
    columns: Sequence[Column],
    marked: int | None = None,
    role: Role = "source",
) -> str:
    """A table with one row a label (of `role`) and one bar a column; row `marked` is set off."""
    tops = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in columns)
    limits = [_limit(column) for column in columns]
    body = "".join(
        f'<tr{" class=marked" if place == marked else ""}><th scope="row">{escape(label)}</th>'
        + "".join(_cell(c, c.values[place], limit) for c, limit in zip(columns, limits, strict=True))
        + "</tr>"
        for place, label in enumerate(labels)
    )
    return (
        f'<div class="se-scroll"><table class="se-bars {role}" style="--columns:{len(columns)}">'
        f"<caption>{escape(caption)}</caption>"
        f'<thead><tr><th scope="col">{escape(head)}</th>{tops}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def channels(title: str, values: Sequence[float], note: str = "") -> str:
    """A vector as a strip: one narrow box a channel, coloured by sign and size."""
    limit = max((abs(v) for v in values), default=0.0) or 1.0
    boxes = "".join(f'<i style="background:var(--se-div-{_stop(v / limit)})"></i>' for v in values)
    label = f"{title}: {len(values)} channels, from {min(values):.2f} to {max(values):.2f}"
    return (
        f'<figure class="se-strip"><figcaption>{escape(title)}<small>{escape(note)}</small></figcaption>'
        f'<div role="img" aria-label="{escape(label)}">{boxes}</div></figure>'
    )


def facts(items: Sequence[tuple[str, str, str]]) -> str:
    """A row of figures: (name, value, what it means)."""
    return (
        '<dl class="se-facts">'
        + "".join(
            f"<div><dt>{escape(name)}</dt><dd><b>{escape(value)}</b> {escape(note)}</dd></div>"
            for name, value, note in items
        )
        + "</dl>"
    )


def note(text: str, strong: str = "", kind: Literal["plain", "discover"] = "plain") -> str:
    """A sentence that belongs to the picture above it."""
    lead = f"<b>{escape(strong)}</b> " if strong else ""
    return f'<p class="se-note {kind}">{lead}{escape(text)}</p>'


def before(text: str) -> str:
    """The output that a changed one is compared with."""
    return f'<p class="se-note"><b>Before:</b> <span lang="fr">{escape(text) or "(no words)"}</span></p>'


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], strong: int | None = None) -> str:
    """A plain table; the first cell of a row is its heading, row `strong` is set off."""
    tops = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr{" class=marked" if place == strong else ""}><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for place, row in enumerate(rows)
    )
    return (
        f'<div class="se-scroll"><table class="se-figures"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{tops}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _limit(column: Column) -> float:
    return column.limit or max((abs(v - column.base) for v in column.values), default=0.0) or 1.0


def _cell(column: Column, value: float, limit: float) -> str:
    share = min(abs(value - column.base) / limit, 1.0)
    side = (" minus" if value < 0 else " plus") if column.signed else ""
    width = share / 2 if column.signed else share
    number = f"{value:.{column.digits}f}".replace("-", "−")
    return (
        f'<td><span class="bar {column.role}{side}" style="--f:{width:.3f}" aria-hidden="true"></span>'
        f"<span>{number}</span></td>"
    )


def _stop(share: float) -> int:
    return round((min(max(share, -1.0), 1.0) + 1) / 2 * (STOPS - 1))
