"""HTML of the page "Fixed context". Plain values in, escaped markup out; the colours are those of `style.css`."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cache
from html import escape
from pathlib import Path

SHEET = Path(__file__).with_name("contexts.css")


@cache
def sheet() -> str:
    """The style sheet of what is made here."""
    return f"<style>{SHEET.read_text(encoding='utf-8')}</style>"


def section(number: int, title: str, text: str) -> str:
    """The head of one panel."""
    return f'<div class="se-step"><h2><span>{number}</span> {escape(title)}</h2><p>{escape(text)}</p></div>'


def says(shows: str, shows_not: str) -> str:
    """What a panel's picture shows, and what it does not."""
    return (
        f'<div class="se-small"><p><b>Shows:</b> {escape(shows)}</p>'
        f"<p><b>Does not show:</b> {escape(shows_not)}</p></div>"
    )


def pair(a: Sequence[str], b: Sequence[str], only_a: Container[int], only_b: Container[int]) -> str:
    """The pieces of both sentences, the edited ones marked."""
    return f'<dl class="se-pair">{_sentence("A", a, only_a)}{_sentence("B", b, only_b)}</dl>'


def figures(found: Sequence[tuple[str, str, str]]) -> str:
    """(name, number, what to hold it against) side by side."""
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(beside)}</small></dd></div>"
        for name, value, beside in found
    )
    return f'<dl class="se-figures">{body}</dl>'


def note(strong: str, text: str) -> str:
    """One sentence beside a picture, its beginning in bold."""
    return f'<p class="se-note"><b>{escape(strong)}</b> {escape(text)}</p>'


def sums(lines: Sequence[tuple[str, str]]) -> str:
    """(what, the sum written out) one under the other."""
    body = "<br>".join(f"<b>{escape(name)}</b> = {escape(text)}" for name, text in lines)
    return f'<p class="se-sum">{body}</p>'


def _sentence(name: str, pieces: Sequence[str], marked: Container[int]) -> str:
    words = (f"<mark>{escape(p)}</mark>" if k in marked else escape(p) for k, p in enumerate(pieces))
    return f'<dt>{escape(name)}</dt><dd lang="en">{" ".join(words)}</dd>'
