"""Two sentences that differ by one edit: how the second is made, and where two token sequences differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

AUXILIARY = re.compile(
    r"\b(is|are|was|were|am|will|would|can|could|should|must|may|might|has|have|had|do|does|did)\b",
    re.IGNORECASE,
)
NEGATION = re.compile(r"(?<=\w)\s+not\b|(?<!ca)(?<!wo)(?<!sha)n['’]t\b", re.IGNORECASE)
# Where there is nothing to negate, one word is exchanged for its counterpart.
COUNTERPARTS = (
    ("accepted", "rejected"), ("good", "bad"), ("always", "never"), ("before", "after"), ("old", "young"),
    ("red", "blue"), ("yesterday", "today"), ("he", "she"), ("man", "woman"), ("cat", "dog"), ("you", "him"),
)  # fmt: skip


def counterpart(sentence: str) -> str:
    """`sentence` with its "not" taken out, or with one put in after the first auxiliary, or with one word exchanged.

    "He can't come." gives "He can come."; a sentence in which none of this is possible comes back unchanged.
    """
    whole = re.sub(r"\b(ca|wo|sha)n['’]t\b", _full_form, sentence, count=1, flags=re.IGNORECASE)
    if whole != sentence:
        return whole
    positive, count = NEGATION.subn("", sentence, count=1)
    if count:
        return positive
    found = AUXILIARY.search(sentence)
    if found and found.end() < len(sentence.rstrip(" .!?")):
        return f"{sentence[: found.end()]} not{sentence[found.end() :]}"
    return _exchanged(sentence)


def _full_form(match: re.Match[str]) -> str:
    return {"ca": "can", "wo": "will", "sha": "shall"}[match[1].lower()]


def _exchanged(sentence: str) -> str:
    for pair in COUNTERPARTS:
        for word, other in (pair, pair[::-1]):
            changed, count = re.subn(rf"\b{word}\b", other, sentence, count=1)
            if count:
                return changed
    return sentence


@dataclass(frozen=True)
class Edit:
    """Two sequences share their first `prefix` and last `suffix` tokens; what lies between was edited."""

    prefix: int
    suffix: int
    length_a: int
    length_b: int

    @property
    def only_a(self) -> range:
        """Positions of A that B does not share."""
        return range(self.prefix, self.length_a - self.suffix)

    @property
    def only_b(self) -> range:
        return range(self.prefix, self.length_b - self.suffix)

    def shared(self) -> list[tuple[int, int]]:
        """(position in A, position in B) of every token they share, in order."""
        tail = [(self.length_a - k, self.length_b - k) for k in range(self.suffix, 0, -1)]
        return [(k, k) for k in range(self.prefix)] + tail


def edit(a: Sequence[int], b: Sequence[int]) -> Edit:
    """The common prefix first, then the longest common suffix of what is left."""
    most = min(len(a), len(b))
    prefix = next((k for k in range(most) if a[k] != b[k]), most)
    room = most - prefix
    suffix = next((k for k in range(room) if a[-1 - k] != b[-1 - k]), room)
    return Edit(prefix, suffix, len(a), len(b))
