"""The word split: lossless on any text, and cut where two languages align differently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from models.training.words import WORD_PATTERN, split_words, word_texts

CASES = {
    "The report wasn't convincing.": "The|report|was|n't|convincing|.",
    "I can't, won't, DON'T.": "I|ca|n't|,|wo|n't|,|DO|N'T|.",
    "It's Tom's, we're, I've, she'll, he'd, I'm": "It|'s|Tom|'s|,|we|'re|,|I|'ve|,|she|'ll|,|he|'d|,|I|'m",
    "I'd've gone": "I|'d|'ve|gone",
    "Thomas' book at five o'clock": "Thomas|'|book|at|five|o'clock",
    "O'Brien's mother-in-law": "O'Brien|'s|mother-in-law",
    "L'argument n'était pas clair.": "L'|argument|n'|était|pas|clair|.",
    "J'ai dit qu'il m'aime, t'es d'ici": "J'|ai|dit|qu'|il|m'|aime|,|t'|es|d'|ici",
    "Jusqu'ici, lorsqu'elle, puisqu'on, quoiqu'un": "Jusqu'|ici|,|lorsqu'|elle|,|puisqu'|on|,|quoiqu'|un",
    "S'il vient c'est aujourd'hui": "S'|il|vient|c'|est|aujourd'hui",
    "Quelqu'un a-t-il lu le rapport ?": "Quelqu'un|a|-t-il|lu|le|rapport|?",
    "Qu'est-ce que c'est ?": "Qu'|est|-ce|que|c'|est|?",
    "Donne-le-moi ! Vas-y !": "Donne|-le|-moi|!|Vas|-y|!",
    "peut-être sur-le-champ, c'est-à-dire": "peut-être|sur-le-champ|,|c'|est-à-dire",
    "un rendez-vous moi-même celui-là": "un|rendez-vous|moi-même|celui-là",
    "It’s l’homme qu’on wasn’t": "It|’s|l’|homme|qu’|on|was|n’t",
    "In 2019, 12 or 5": "In|201|9|,|12|or|5",
    "Wait... what?! (yes) a_b": "Wait|...|what|?|!|(|yes|)|a|_|b",
    "日本語 and привет": "日|本|語|and|привет",
    "C's grades": "C|'s|grades",
}


@pytest.mark.parametrize(("text", "units"), CASES.items())
def test_units(text: str, units: str) -> None:
    assert word_texts(text) == units.split("|")


ANY_TEXT = st.text(st.characters(), max_size=80)  # lone surrogates too
APOSTROPHES = st.text(st.sampled_from("nt'’l-dQué s 1.日\u0301\u200d\n"), max_size=40)


@given(st.one_of(ANY_TEXT, APOSTROPHES))
def test_units_tile_the_text(text: str) -> None:
    units = split_words(text)
    assert "".join(text[start:stop] for _, start, stop in units) == text
    assert all(start < stop for _, start, stop in units)
    assert [a[2] for a in units[:-1]] == [b[1] for b in units[1:]]


@given(st.one_of(ANY_TEXT, APOSTROPHES))
def test_a_unit_carries_at_most_one_leading_space(text: str) -> None:
    for surface, start, stop in split_words(text):
        unit = text[start:stop]
        assert surface == (unit[1:] if unit.startswith(" ") and len(unit) > 1 else unit)
        assert surface.isspace() or not surface[0].isspace()


@given(st.lists(st.sampled_from(["report", "wasn't", "l'argument", "été", "donne-le-moi", "?", "n'a-t-il"])))
def test_a_space_before_the_text_changes_no_surface(words: list[str]) -> None:
    text = " ".join(words)
    assert word_texts(" " + text)[: len(word_texts(text))] == word_texts(text) or not text


def test_the_tokenizer_cuts_the_same_units() -> None:
    text = " ".join(CASES)
    cut = pre_tokenizers.Split(Regex(WORD_PATTERN), behavior="isolated").pre_tokenize_str(text)
    assert [span for _, span in cut] == [(start, stop) for _, start, stop in split_words(text)]


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t ", "\x00\x07", "👨‍👩‍👧❤️", "مرحبا بالعالم", "\ud83d", "<b>&amp;</b>", "\u202eabc"]
)
def test_odd_text_is_only_text(text: str) -> None:
    assert "".join(text[start:stop] for _, start, stop in split_words(text)) == text


@pytest.mark.parametrize("piece", ["a", "'", "-", " ", "n't", "-le", "l'", "a-", "\u0301", "."])
def test_ten_thousand_characters_take_no_time_to_speak_of(piece: str) -> None:
    text = piece * (10_000 // len(piece))
    assert sum(stop - start for _, start, stop in split_words(text)) == len(text)
