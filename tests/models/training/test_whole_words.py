"""The committed list of one-piece English words fits the committed vocabulary and leaves beginnings of words out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from models.training.tokenizer import DIRECTORY, load_tokenizer
from models.training.whole_words import FILE, collect, whole_words


def test_every_committed_word_is_one_piece() -> None:
    tokenizer = load_tokenizer()
    words = whole_words()
    assert len(words) > 1000
    assert all(len(tokenizer.encode(word)) == 1 and word.isalpha() for word in words)
    assert {"report", "not", "book", "The"} <= words


def test_beginnings_of_words_and_rare_words_are_left_out() -> None:
    tokenizer = load_tokenizer()
    texts = ["The report was read."] * 3 + ["A book."] * 2 + ["Donaudampfschiff 12 was not read!"] * 3
    assert collect(texts, tokenizer) == ["read", "was", "The", "not", "report"]


def test_a_list_for_another_vocabulary_is_refused(tmp_path: Path) -> None:
    shutil.copy(DIRECTORY / FILE, tmp_path)
    told = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps(told | {"tokenizer_sha256": "0"}))
    with pytest.raises(ValueError, match="another vocabulary"):
        whole_words(tmp_path)
