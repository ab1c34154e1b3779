"""The hand-aligned pairs and the example sentences: their words, links and groups are consistent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.training.words import word_texts

EXAMPLES = Path(__file__).resolve().parents[3] / "assets" / "examples"
ALIGNED = json.loads((EXAMPLES / "aligned.json").read_text(encoding="utf-8"))
GROUPS = json.loads((EXAMPLES / "sentences.json").read_text(encoding="utf-8"))["groups"]


@pytest.mark.parametrize("pair", ALIGNED, ids=[p["english"] for p in ALIGNED])
def test_words_and_links_fit(pair: dict) -> None:
    english, french = word_texts(pair["english"]), word_texts(pair["french"])
    assert (pair["english_words"], pair["french_words"]) == (english, french)
    sure, possible = ({tuple(link) for link in pair[kind]} for kind in ("sure", "possible"))
    assert (len(sure), len(possible)) == (len(pair["sure"]), len(pair["possible"]))
    assert not sure & possible
    assert all(0 <= e < len(english) and 0 <= f < len(french) for e, f in sure | possible)
    for place, words in ((0, english), (1, french)):
        linked = {link[place] for link in sure | possible}
        alone = pair["unaligned_english" if place == 0 else "unaligned_french"]
        assert linked | set(alone) == set(range(len(words)))
        assert not linked & set(alone)


def test_there_are_enough_pairs_of_each_kind() -> None:
    assert len(ALIGNED) == len({p["english"] for p in ALIGNED}) >= 40
    shows = " ".join(p["shows"] for p in ALIGNED)
    for kind in (
        "negation",
        "n't",
        "reordering",
        "relative",
        "question",
        "clitic",
        "many to one",
        "one to many",
        "long",
    ):
        assert kind in shows, kind
    assert sum("possible" in p and bool(p["possible"]) for p in ALIGNED) >= 10


def test_negation_is_linked_to_ne_and_pas() -> None:
    checked = 0
    for pair in ALIGNED:
        for place, word in enumerate(pair["english_words"]):
            if word in ("not", "n't"):
                faced = {pair["french_words"][f].lower() for e, f in pair["sure"] if e == place}
                assert faced in ({"ne", "pas"}, {"n'", "pas"})
                checked += 1
    assert checked >= 8


def test_sentence_box_groups() -> None:
    assert {"negation", "reordering", "long", "questions", "many"} == {group["slug"] for group in GROUPS}
    sentences = [s["english"] for group in GROUPS for s in group["sentences"]]
    assert len(sentences) == len(set(sentences))
    for needed in ("The report was convincing.", "The report was not convincing.", "Thank you."):
        assert needed in sentences
    assert all(group["title"] and s["french"] for group in GROUPS for s in group["sentences"])


def test_the_same_sentence_has_one_translation_in_both_files() -> None:
    known = {p["english"]: p["french"] for p in ALIGNED}
    for group in GROUPS:
        for sentence in group["sentences"]:
            assert known.get(sentence["english"], sentence["french"]) == sentence["french"]
