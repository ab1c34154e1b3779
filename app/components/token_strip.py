"""Token strip: the output word by word with its probabilities, and the subword pieces on demand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from app.components import _payload
from app.components._build import register
from app.components._payload import matrix, words

_mount = register("token_strip", ("strip.js",), ("strip.css",))

Span = tuple[str, int, int]


def token_strip(
    tokens: Sequence[str],
    log_probs: Sequence[float] | np.ndarray,
    *,
    key: str,
    spans: Sequence[Span] | None = None,
    changed: Sequence[bool] | np.ndarray | None = None,
    special: Sequence[str] = ("EOS",),
    title: str = "",
    group: str | None = None,
    version: str | None = None,
) -> None:
    """Show pieces `tokens` (N) with their log-probabilities (N), in nats, grouped to display words.

    spans: one (text, start, stop) a word over piece indices, in order and without gaps; None: each piece is a word.
    A word's log-probability is the sum over its pieces. changed: one flag a word, True = differs from the pinned
    run. special: words that are marks rather than text. group: as for `heatmap`; the row is the word's position.
    Raises ValueError when lengths do not agree, spans leave a gap, or a log-probability is above 0 or not finite.
    """
    pieces = words("tokens", tokens)
    scores = matrix("log_probs", np.asarray(log_probs, dtype=float), (len(pieces),))
    if not np.isfinite(scores).all() or (scores > 1e-4).any():
        raise ValueError("log_probs must be finite and not above 0")
    groups = _check(spans or [(piece, i, i + 1) for i, piece in enumerate(pieces)], len(pieces))
    marks = (
        np.zeros(len(groups), dtype=bool)
        if changed is None
        else matrix("changed", np.asarray(changed), (len(groups),))
    )
    shown = [_word(text, pieces[i:j], scores[i:j], special) for text, i, j in groups]
    data = {
        "words": [w | {"changed": bool(mark)} for w, mark in zip(shown, marks, strict=True)],
        "title": title,
    }
    _mount(key=key, data=data | {"group": group, "version": version or _payload.digest(data)})


def _word(text: str, pieces: list[str], scores: np.ndarray, special: Sequence[str]) -> dict[str, Any]:
    parts = [{"text": piece, "log_prob": float(score)} for piece, score in zip(pieces, scores, strict=True)]
    label = words("spans", [text])[0]
    return {"text": label, "log_prob": float(scores.sum()), "pieces": parts, "special": label in special}


def _check(spans: Sequence[Span], count: int) -> list[Span]:
    edges = [0, *(stop for _, _, stop in spans)]
    starts = [start for _, start, _ in spans]
    if starts != edges[:-1] or edges[-1] != count or any(a >= b for a, b in pairwise(edges)):
        raise ValueError(f"spans must cover pieces 0 to {count} in order without gaps")
    return list(spans)
