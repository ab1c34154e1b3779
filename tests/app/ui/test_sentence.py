"""What may stand in the sentence box, and what is said about the rest."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from app.ui import sentence
from app.ui.sentence import MOST_CHARACTERS, MOST_PIECES, check_sentence, examples


@pytest.mark.parametrize("raw", ["", "   ", "\t\n ", None, "\u200b\u200b", "\x00\x07"])
def test_nothing_to_translate_asks_for_a_sentence(raw: str | None) -> None:
    assert check_sentence(raw).problem == "Type an English sentence and press Enter."


def test_ten_thousand_characters_are_kept_and_the_limit_is_said() -> None:
    cleaned = check_sentence("abcd " * 2000)
    assert len(cleaned.text) == 9999
    assert cleaned.problem == (
        "This is 9,999 characters; the limit is 200 characters. Shorten it and press Enter. Nothing was run."
    )


def test_the_limit_itself_is_allowed() -> None:
    assert check_sentence("x" * MOST_CHARACTERS).problem is None
    assert check_sentence("x" * (MOST_CHARACTERS + 1)).problem is not None


def test_pieces_are_counted_where_a_counter_is_given() -> None:
    assert check_sentence("many pieces", lambda text: MOST_PIECES).problem is None
    assert "61 subword pieces" in (check_sentence("many pieces", lambda text: MOST_PIECES + 1).problem or "")


def test_control_characters_are_removed_and_said() -> None:
    cleaned = check_sentence("The\x00 report\u202e was\x1b fine.")
    assert cleaned.text == "The report was fine."
    assert cleaned.note == "3 invisible control characters were removed."
    assert check_sentence("a\x07b").note == "1 invisible control character was removed."


@pytest.mark.parametrize(
    "raw",
    [
        "I like 🍎 and 👩‍👩‍👧.",
        "هذا تقرير جيد",
        "这份报告没有说服力。",
        "<script>alert(1)</script>",
        "<b>bold</b> & co",
        "n'était-ce pas ?",
        "$x^2$ `code` **bold**",
    ],
)
def test_other_scripts_and_markup_pass_as_they_are(raw: str) -> None:
    cleaned = check_sentence(raw)
    assert (cleaned.text, cleaned.problem, cleaned.note) == (raw, None, None)


def test_decomposed_accents_are_composed_and_spaces_made_plain() -> None:
    assert check_sentence("  cafe\u0301\u00a0\tnoir ").text == "café noir"


@given(some.text(max_size=400))
def test_the_cleaned_text_is_clean_and_stays_so(raw: str) -> None:
    text = check_sentence(raw).text
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in text)
    assert check_sentence(text).text == text
    assert check_sentence(text).note is None


def test_examples_are_read_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "sentences.json"
    groups = [
        {"title": "Short", "sentences": [{"english": "Thank you."}, {"english": "No."}]},
        {"title": "Other", "sentences": [{"english": "Why?"}]},
    ]
    path.write_text(json.dumps({"groups": groups}), encoding="utf-8")
    monkeypatch.setattr(sentence, "EXAMPLES", path)
    examples.cache_clear()
    assert [(one.text, one.group) for one in examples()] == [
        ("Thank you.", "Short"),
        ("No.", "Short"),
        ("Why?", "Other"),
    ]
    examples.cache_clear()


def test_every_built_in_example_may_be_run() -> None:
    assert len(examples()) > 10
    assert [one.text for one in examples() if check_sentence(one.text).text != one.text] == []
    assert [one.text for one in examples() if check_sentence(one.text).problem] == []
