"""One byte-level BPE vocabulary for both languages (Sennrich et al. 2016; bytes as in GPT-2).

Every text survives a round trip, because its bytes are the alphabet. Merges never cross a display word
(`words.split_words`), so pieces always join back into words. Ids below N_SPECIAL are control tokens; no text
can produce them, whatever a visitor types.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer as BPE
from tokenizers import models, pre_tokenizers, trainers

from models.training.words import WORD_PATTERN, split_words

PAD, BOS, EOS, SEP, MASK = 0, 1, 2, 3, 4
N_SPECIAL = 32
SENTINELS = range(5, N_SPECIAL)  # each stands for a hidden span
SPECIAL_NAMES = {PAD: "PAD", BOS: "BOS", EOS: "EOS", SEP: "SEP", MASK: "[MASK]"} | {
    token: f"<{k + 1}>" for k, token in enumerate(SENTINELS)
}
_SURROGATE = re.compile("[\ud800-\udfff]")
DIRECTORY = Path(__file__).resolve().parents[2] / "assets" / "tokenizer"


@dataclass(frozen=True)
class Word:
    """A display word: its text, and the range of piece indices [start, stop) that spell it."""

    text: str
    start: int
    stop: int


def _byte_of_char() -> dict[str, int]:
    """GPT-2's printable stand-in for each byte, inverted."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(rest)}


class Tokenizer:
    """Text <-> piece ids. `vocab_size` counts the control tokens too."""

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self._bpe = BPE.from_str(text)
        table = _byte_of_char()
        size = self._bpe.get_vocab_size()
        spelled = (self._bpe.id_to_token(i) or "" for i in range(size))
        self._bytes = [bytes(table[c] for c in token) for token in spelled]
        self.vocab_size = size + N_SPECIAL

    def encode(self, text: str) -> list[int]:
        """Piece ids, without BOS or EOS. A space is put in front so that a first word looks like any other.

        Lone surrogates, which have no UTF-8 bytes, are read as U+FFFD.
        """
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        clean = [" " + _SURROGATE.sub("\ufffd", t) for t in texts]
        found = self._bpe.encode_batch(clean, add_special_tokens=False)
        return [[i + N_SPECIAL for i in e.ids] for e in found]

    def decode(self, ids: Iterable[int]) -> str:
        """The text that ids spell; control tokens are silent, bytes that spell no character become U+FFFD."""
        return self._spell(ids).removeprefix(" ")

    def _spell(self, ids: Iterable[int]) -> str:
        raw = b"".join(self._bytes[i - N_SPECIAL] for i in ids if i >= N_SPECIAL)
        return raw.decode("utf-8", errors="replace")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each piece as shown: its characters, a part of a character as its bytes in hex, control tokens by name."""
        return [self._show(i) for i in ids]

    def _show(self, token: int) -> str:
        if token < N_SPECIAL:
            return SPECIAL_NAMES[token]
        raw = self._bytes[token - N_SPECIAL]
        try:
            return raw.decode("utf-8").removeprefix(" ") or "␣"
        except UnicodeDecodeError:
            return raw.hex(" ").upper()

    def words(self, ids: Sequence[int]) -> list[Word]:
        """Display words in order; together they cover every piece exactly once. A control token is a word."""
        found: list[Word] = []
        start = 0
        for place in range(len(ids) + 1):
            if place == len(ids) or ids[place] < N_SPECIAL:
                found += self._text_words(ids[start:place], start)
                if place < len(ids):
                    found.append(Word(self._show(ids[place]), place, place + 1))
                start = place + 1
        return found

    def _text_words(self, ids: Sequence[int], offset: int) -> list[Word]:
        raw = [self._bytes[i - N_SPECIAL] for i in ids]
        text = b"".join(raw).decode("utf-8", errors="surrogateescape")
        sizes = [len(c.encode("utf-8", errors="surrogateescape")) for c in text]
        shown = "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text)
        owner = [n for n, (_, a, b) in enumerate(split_words(shown)) for _ in range(sum(sizes[a:b]))]
        starts = [sum(map(len, raw[:k])) for k in range(len(raw))]
        return _group([owner[s] for s in starts], ids, offset, self)


class ByteTokenizer(Tokenizer):
    """Every byte a token: what a language model over characters reads. No vocabulary was trained for it, and no space
    is put in front."""

    def __init__(self) -> None:
        self._bytes = [bytes([value]) for value in range(256)]
        self.vocab_size = 256 + N_SPECIAL
        self.sha256 = hashlib.sha256(f"bytes after {N_SPECIAL} control tokens".encode()).hexdigest()

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        clean = (_SURROGATE.sub("\ufffd", text) for text in texts)
        return [[value + N_SPECIAL for value in text.encode()] for text in clean]

    def decode(self, ids: Iterable[int]) -> str:
        return self._spell(ids)


def _group(owners: list[int], ids: Sequence[int], offset: int, tokenizer: Tokenizer) -> list[Word]:
    """Runs of pieces with one owner, as words."""
    found: list[Word] = []
    for k, owner in enumerate(owners):
        if k and owner == owners[k - 1]:
            found[-1] = Word("", found[-1].start, offset + k + 1)
        else:
            found.append(Word("", offset + k, offset + k + 1))
    text = [tokenizer.decode(ids[w.start - offset : w.stop - offset]).strip() or "␣" for w in found]
    return [Word(t, w.start, w.stop) for t, w in zip(text, found, strict=True)]


def train_tokenizer(texts: Iterable[str], vocab_size: int = 8192) -> BPE:
    """A BPE model with vocab_size entries, N_SPECIAL of them left to the control tokens."""
    bpe = BPE(models.BPE())
    split = pre_tokenizers.Split(pattern=_regex(), behavior="isolated")
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )  # type: ignore[assignment]
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - N_SPECIAL,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[],
    )
    bpe.train_from_iterator((" " + t for t in texts), trainer)
    return bpe


def _regex():
    from tokenizers import Regex

    return Regex(WORD_PATTERN)


def save_tokenizer(bpe: BPE, provenance: dict, directory: Path = DIRECTORY) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "tokenizer.json").write_text(bpe.to_str(), encoding="utf-8")
    text = json.dumps(provenance, indent=1, ensure_ascii=False)
    (directory / "provenance.json").write_text(text + "\n", encoding="utf-8")


def load_tokenizer(alphabet: str = "pieces") -> Tokenizer:
    """The committed vocabulary, or with "bytes" the one that needs no file; loaded once a process."""
    return _loaded(alphabet)


@functools.cache
def _loaded(alphabet: str) -> Tokenizer:
    if alphabet == "bytes":
        return ByteTokenizer()
    return Tokenizer(DIRECTORY / "tokenizer.json")
