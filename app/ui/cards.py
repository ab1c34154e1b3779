"""HTML of the home page's cards: marked outputs, what crosses where nothing aligns, the way on. No Streamlit.

Plain values in, escaped markup out; the colours are those of `style.css`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from app.catalog import Lab
from app.ui.markup import card_title

SHEET = Path(__file__).with_name("cards.css")
TAGS = {"same": "span", "changed": "ins", "inserted": "ins", "removed": "del"}


@cache
def sheet() -> str:
    """The style sheet of what is made here."""
    return f"<style>{SHEET.read_text(encoding='utf-8')}</style>"


def head(title: str, family: str, paper: str, summary: str) -> str:
    """The head of a system's card: name, family, paper with its year, and one sentence on its mechanism."""
    return (
        f'<div class="se-card-head">{card_title(title, f"{family} · {paper}")}<p>{escape(summary)}</p></div>'
    )


def marked(segments: Iterable[tuple[str, str]], *, large: bool = True, language: str = "fr") -> str:
    """(text, kind) stretches with what changed, came and went marked by colour, line and tag."""
    body = "".join(_segment(text, kind) for text, kind in segments)
    name = "se-output se-marked" if large else "se-marked"
    return f'<p class="{name}" lang="{language}">{body or "(no words)"}</p>'


def presented(sentence: str) -> str:
    """The sentence in large type, where the box with it is folded away."""
    return f'<p class="se-output se-presented" lang="en">{escape(sentence)}</p>'


def pinned_output(text: str, summary: str) -> str:
    """What the pinned sentence gave, and how this output differs in words of a person."""
    was = f'<b>Pinned:</b> <span lang="fr">{escape(text) or "(no words)"}</span>'
    return f'<p class="se-was">{was}<br>{escape(summary)}</p>'


def pin_bar(pinned: str, segments: Sequence[tuple[str, str]]) -> str:
    """Which sentence is pinned, and how the one in the box differs from it."""
    same = all(kind == "same" for _, kind in segments)
    now = (
        "<p>Edit the sentence above: what changes against this one will be marked in every output and picture.</p>"
        if same
        else f"<p><b>Now</b></p>{marked(segments, large=False, language='en')}"
    )
    return f'<div class="se-pinned" role="status"><p><b>Pinned</b></p><p lang="en">{escape(pinned)}</p>{now}</div>'


_LEFT = (
    "No decision can read a source row, so there are no weights to draw. This is what crosses instead:",
    "the rows are left behind",
    "whatever the length of the sentence",
)
_KEPT = (
    "Source and output are one stream: every layer of every decision reads source rows and its own past in one "
    "softmax, so no row of weights belongs to the source alone. This is what stays readable:",
    "they stay as keys and values",
    "and more with every row",
)


def crossing(
    source: Sequence[str],
    steps: int,
    tensors: Sequence[tuple[str, str, str, str]],
    total: str,
    readable: bool = False,
) -> str:
    """The honest picture of a system without alignment: its rows end in what crosses.

    tensors: (symbol, name, shape, bytes) of each that the decisions receive. readable: source rows stay in a cache, one
    stream with the output, so that every decision can read them, but not apart from its own past.
    """
    told, flow, end = _KEPT if readable else _LEFT
    rows = "".join(f"<li>{escape(word)}</li>" for word in source)
    boxes = "".join(
        f"<li><b>{escape(symbol)}</b> {escape(name)}<span>{escape(shape)}<br>{escape(count)}</span></li>"
        for symbol, name, shape, count in tensors
    )
    count = len(tensors)
    return (
        '<div class="se-crossing" role="group" aria-label="What crosses from encoder to decoder">'
        f"<h4>No alignment exists here</h4><p>{told}</p>"
        f'<ol class="rows" aria-label="Source rows">{rows}</ol>'
        f'<p class="flow">{steps} dependent steps to read them, then {flow}</p>'
        f'<ol class="tensors" aria-label="Tensors that cross">{boxes}</ol>'
        f'<p class="flow">{"this one tensor" if count == 1 else f"these {count} tensors"}, {escape(total)}, '
        f"{end}</p></div>"
    )


def next_steps(labs: Iterable[Lab], params: Mapping[str, str]) -> str:
    """Links to other labs that carry `params` (the sentence) along."""
    return f'<nav class="se-next" aria-label="Where to go next">{"".join(_next(lab, params) for lab in labs)}</nav>'


def _next(lab: Lab, params: Mapping[str, str]) -> str:
    address = f"{lab.slug}?{urlencode(params)}" if params else lab.slug
    return (
        f'<a href="{escape(address)}"><b>{escape(lab.title)}</b><small>{escape(lab.section)}</small>'
        f"<span>{escape(lab.summary)}</span></a>"
    )


def _segment(text: str, kind: str) -> str:
    """The mark leaves the spaces at the ends unmarked."""
    inner = text.strip()
    if kind == "same" or not inner:
        return escape(text)
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    tag = TAGS[kind]
    after += " " if kind == "removed" else ""
    return f'{before}<{tag} class="{kind}" title="{kind}">{escape(inner)}</{tag}>{after}'
