"""The small pieces of HTML that pages share. Plain values in, escaped markup out; no Streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.catalog import Lab


@dataclass(frozen=True)
class Check:
    """One invariant tested on this very run: its name, whether it held, and the number that decided."""

    label: str
    passed: bool
    value: str = ""
    help: str = ""


@dataclass(frozen=True)
class Answer:
    """One of the four answers: `value` is the large figure, `detail` says of what."""

    question: str  # "State", "Graph", "Schedule" or "Runtime"
    value: str
    detail: str


QUESTIONS = {
    "State": "What does the next computation keep?",
    "Graph": "Which row can read which?",
    "Schedule": "Which supplied rows run together?",
    "Runtime": "What survives one new row, and what does it cost?",
}

CREDIT = (
    '<p class="se-credit">Every number on this page is computed by models in this repository on this server. They were '
    'trained on sentence pairs from the <a href="https://tatoeba.org" rel="noreferrer">Tatoeba Project</a> '
    "(CC BY 2.0 FR).</p>"
)


def heading(lab: Lab) -> str:
    """Title, section of the article, and the question."""
    return (
        f'<header class="se-heading"><h1>{escape(lab.title)}<small>{escape(lab.section)}</small></h1>'
        f"<p>{escape(lab.question)}</p></header>"
    )


def explanation(shows: str, shows_not: str) -> str:
    """The pair that stands under every picture."""
    return (
        f'<div class="se-says"><p><b>What it shows.</b> {escape(shows)}</p>'
        f"<p><b>What it does not.</b> {escape(shows_not)}</p></div>"
    )


def worst(value: float) -> str:
    """The number beside a check. Nothing for an exact zero: "sums to 1 0" would read as ten."""
    return f"{value:.1g}" if value else ""


def checks(found: Sequence[Check]) -> str:
    """A row of checks, each with a sign and a colour."""
    return f'<ul class="se-checks" aria-label="Checks of this run">{"".join(map(_check, found))}</ul>'


def four_answers(answers: Sequence[Answer]) -> str:
    """State, graph, schedule and runtime as four cards."""
    return f'<dl class="se-four">{"".join(map(_answer, answers))}</dl>'


def card_title(title: str, detail: str = "") -> str:
    """The head of a card: a name and what distinguishes it."""
    small = f"<small>{escape(detail)}</small>" if detail else ""
    return f'<h3 class="se-card-title">{escape(title)}{small}</h3>'


def output(text: str, empty: str = "(no words)") -> str:
    """A translation in large type, as plain text."""
    return f'<p class="se-output" lang="fr">{escape(text) or escape(empty)}</p>'


def _check(check: Check) -> str:
    sign, word, kind = ("✓", "holds", "ok") if check.passed else ("✗", "fails", "bad")
    value = f" <i>{escape(check.value)}</i>" if check.value else ""
    title = f' title="{escape(check.help)}"' if check.help else ""
    return (
        f'<li class="{kind}"{title}><span aria-hidden="true">{sign}</span> {escape(check.label)}{value}'
        f'<span class="se-only-read">: {word}</span></li>'
    )


def _answer(answer: Answer) -> str:
    title = escape(QUESTIONS[answer.question])
    return (
        f'<div title="{title}"><dt>{escape(answer.question)}</dt>'
        f"<dd><b>{escape(answer.value)}</b> {escape(answer.detail)}</dd></div>"
    )
