"""Which pieces of the vocabulary are whole English words: what may be suggested in place of another word.

A piece that opens a word need not be one ("disl" opens dislike). So the words are counted on the English side of the
training part, and those that are one piece are kept with the vocabulary:

    python -m models.training.whole_words --corpus ../shared/data
"""

from __future__ import annotations

import argparse
import functools
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from models.training.tokenizer import DIRECTORY, Tokenizer, load_tokenizer
from models.training.words import word_texts

LEAST = 3  # occurrences
FILE = "whole_words.json"


def collect(texts: Iterable[str], tokenizer: Tokenizer, least: int = LEAST) -> list[str]:
    """Words of letters that occur `least` times and are one piece, the most frequent first."""
    counts = Counter(word for text in texts for word in word_texts(text))
    found = [(word, count) for word, count in counts.items() if count >= least and word.isalpha()]
    one = [(word, count) for word, count in found if len(tokenizer.encode(word)) == 1]
    return [word for word, _ in sorted(one, key=lambda pair: (-pair[1], pair[0]))]


@functools.cache
def whole_words(directory: Path = DIRECTORY) -> frozenset[str]:
    """The committed list. Raises ValueError where it was made for another vocabulary."""
    told = json.loads((directory / FILE).read_text(encoding="utf-8"))
    if told["tokenizer_sha256"] != load_tokenizer().sha256:
        raise ValueError(
            f"{FILE} was made for another vocabulary; run python -m models.training.whole_words."
        )
    return frozenset(told["words"])


def main() -> None:
    from models.training.corpus import corpus_sha256, load_pairs

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    corpus, tokenizer = parser.parse_args().corpus, load_tokenizer()
    words = collect(sorted({english for english, _ in load_pairs(corpus, "train")}), tokenizer)
    told = {
        "command": "python -m models.training.whole_words --corpus DIR",
        "kind": f"English words of the training part that occur in {LEAST} or more places and are one piece",
        "credit": "Tatoeba Project (https://tatoeba.org), CC BY 2.0 FR, through www.manythings.org/anki",
        "corpus_sha256": corpus_sha256(corpus),
        "tokenizer_sha256": tokenizer.sha256,
        "words": words,
    }
    (DIRECTORY / FILE).write_text(json.dumps(told, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(words)} words")


if __name__ == "__main__":
    main()
