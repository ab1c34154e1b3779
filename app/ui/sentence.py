"""The sentence box: what may be typed, what is said when it cannot be used, and the examples beside it.

`check_sentence` is pure. A visitor's text is never logged and never shown as markup.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MOST_CHARACTERS = 200
MOST_PIECES = 60
EXAMPLES = Path(__file__).parents[2] / "assets/examples/sentences.json"
# Invisible signs that only steer a display: zero-width spaces, direction overrides, the byte-order mark. Kept are the
# joiners of emoji and of Indic and Arabic script (U+200C, U+200D).
INVISIBLE = frozenset("\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff")


@dataclass(frozen=True)
class Cleaned:
    """`text` to translate (NFC, plain spaces), why it cannot be used (`problem`), and what was changed (`note`)."""

    text: str
    problem: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Example:
    """A sentence to try, and the title of the group it stands in."""

    text: str
    group: str


def check_sentence(raw: str | None, count_pieces: Callable[[str], int] | None = None) -> Cleaned:
    """Clean `raw` and say in one sentence what is wrong with it, if anything.

    `count_pieces` counts the subwords of a text (the tokenizer's); without it only characters are counted.
    """
    text, removed = _clean(raw or "")
    note = _removed(removed)
    if not text:
        return Cleaned("", "Type an English sentence and press Enter.", note)
    if len(text) > MOST_CHARACTERS:
        return Cleaned(text, _too_long(f"{len(text):,} characters", f"{MOST_CHARACTERS} characters"), note)
    pieces = count_pieces(text) if count_pieces else 0
    if pieces > MOST_PIECES:
        return Cleaned(text, _too_long(f"{pieces} subword pieces", f"{MOST_PIECES} pieces"), note)
    return Cleaned(text, None, note)


def limits() -> str:
    """The limit as it stands beside the box."""
    return f"English, up to {MOST_CHARACTERS} characters or {MOST_PIECES} pieces. Enter runs it."


@cache
def examples() -> tuple[Example, ...]:
    """The built-in examples, in the file's order."""
    groups = json.loads(EXAMPLES.read_text(encoding="utf-8"))["groups"]
    return tuple(Example(one["english"], group["title"]) for group in groups for one in group["sentences"])


def _clean(raw: str) -> tuple[str, int]:
    text = " ".join(unicodedata.normalize("NFC", raw).split())
    kept = "".join(
        c for c in text if c not in INVISIBLE and unicodedata.category(c) not in ("Cc", "Cs", "Cn")
    )
    return " ".join(kept.split()), len(text) - len(kept)


def _removed(count: int) -> str | None:
    if not count:
        return None
    return f"{count} invisible control character{'s were' if count > 1 else ' was'} removed."


def _too_long(found: str, limit: str) -> str:
    return f"This is {found}; the limit is {limit}. Shorten it and press Enter. Nothing was run."
