"""Hidden spans: what the source keeps and what the target tells make up the text again."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.catalog import entry
from models.training import commands
from models.training.corpus import Pair, asked
from models.training.corruption import SHARE, draw_spans, hide_spans
from models.training.tokenizer import N_SPECIAL, SENTINELS, load_tokenizer


def test_the_papers_own_example() -> None:
    words = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]
    ids = [N_SPECIAL + k for k in range(len(words))]
    source, target = hide_spans(ids, [(2, 4), (8, 9)])

    def told(pieces: list[int]) -> str:
        return " ".join(
            words[i - N_SPECIAL] if i >= N_SPECIAL else load_tokenizer().pieces([i])[0] for i in pieces
        )

    assert told(source) == "Thank you <1> me to your party <2> week"
    assert told(target) == "<1> for inviting <2> last <3>"


def filled(source: list[int], target: list[int]) -> list[int]:
    """The source with each sentinel replaced by what the target tells after it."""
    spans: dict[int, list[int]] = {}
    for token in target:
        if token in SENTINELS:
            spans[token] = []
        else:
            spans[next(reversed(spans))].append(token)
    return [piece for token in source for piece in spans.get(token, [token])]


@given(st.integers(1, 300), st.integers(0, 10**6))
def test_any_text_can_be_put_together_again(length: int, seed: int) -> None:
    ids = list(range(N_SPECIAL, N_SPECIAL + length))
    spans = draw_spans(length, random.Random(seed))
    hidden = sum(stop - start for start, stop in spans)
    assert hidden == min(max(1, round(length * SHARE)), length)
    assert all(start < stop for start, stop in spans)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))  # a visible piece between two
    assert spans[0][0] >= 0
    assert spans[-1][1] <= length
    source, target = hide_spans(ids, spans)
    assert filled(source, target) == ids
    assert [t for t in source if t in SENTINELS] == list(SENTINELS[: len(spans)])
    assert target[-1] == SENTINELS[len(spans)]


def test_every_place_can_be_hidden_ends_included() -> None:
    seen = {k for seed in range(300) for a, b in draw_spans(40, random.Random(seed)) for k in range(a, b)}
    assert seen == set(range(40))


PAIRS = [Pair([40 + k, 41, 42, 43], [80 + k, 81, 82]) for k in range(40)]


def test_first_spans_alone_then_the_prompts_translations_with_some_spans() -> None:
    alone = commands.text_to_text(lambda epoch: PAIRS, [35, 36], seed=3, spans_only=True)
    both = commands.text_to_text(lambda epoch: PAIRS, [35, 36], seed=3, spans_only=False)
    sides = [pair.source for pair in PAIRS] + [pair.target for pair in PAIRS]
    found = alone(0)
    assert len(found) == len(PAIRS)
    assert all(filled(pair.source, pair.target) in sides for pair in found)
    assert {filled(pair.source, pair.target)[0] >= 80 for pair in found} == {True, False}  # both languages
    mixed = both(0)
    assert mixed[: len(PAIRS)] == asked(PAIRS, [35, 36])
    assert mixed[0] == Pair([35, 36, 40, 41, 42, 43], [80, 81, 82])
    spans = mixed[len(PAIRS) :]
    assert len(spans) == round(len(PAIRS) * commands.SPAN_SHARE)
    assert all(filled(pair.source, pair.target) in sides for pair in spans)
    assert alone(0) == found != alone(1)  # an epoch's pairs repeat, the next epoch's are others


def test_only_a_text_to_text_system_trains_on_spans_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not trained from text to text"):
        commands.train(entry("luong"), tmp_path, commands.recipe_from(), spans_only=True)
