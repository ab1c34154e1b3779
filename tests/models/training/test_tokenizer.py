"""The committed vocabulary: any text survives, no text makes a control token, pieces join back into words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.training.tokenizer import (
    BOS,
    DIRECTORY,
    EOS,
    MASK,
    N_SPECIAL,
    PAD,
    SENTINELS,
    SEP,
    SPECIAL_NAMES,
    ByteTokenizer,
    Tokenizer,
    load_tokenizer,
    save_tokenizer,
    train_tokenizer,
)
from models.training.words import word_texts

TOKENIZER = load_tokenizer()
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)  # lone surrogates are no UTF-8 text
HARD = [
    "", " ", "  two  spaces ", "\n\tlines\r\n", "été œuvre Ÿ", "中文句子。", "שלום עולם",
    "👩‍👩‍👧‍👦 family", "a\u0301 combining",
    "<script>alert('x')</script>", "\x00\x07\x1b[31m", "\ufffd", "1234567 3.14", "«Non!»", "‮reversed‬", "Ħ" * 50,
]  # fmt: skip


@given(TEXT)
def test_any_text_survives_a_round_trip(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@pytest.mark.parametrize("text", HARD)
def test_hard_texts_survive_a_round_trip(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert TOKENIZER.decode(ids) == text
    assert all(N_SPECIAL <= i < TOKENIZER.vocab_size for i in ids)


@given(st.lists(TEXT, max_size=5))
def test_many_texts_are_encoded_as_each_alone(texts: list[str]) -> None:
    assert TOKENIZER.encode_many(texts) == [TOKENIZER.encode(t) for t in texts]


@given(
    TEXT
    | st.sampled_from(["</s>", "[MASK]", "<pad>", "<s>", "BOS", "EOS [SEP]", "<unk>", "<0x00>", "control 7"])
)
def test_no_text_makes_a_control_token(text: str) -> None:
    assert all(i >= N_SPECIAL for i in TOKENIZER.encode(text))


def test_a_lone_surrogate_does_not_crash() -> None:
    """A shell hands over bytes that are no UTF-8 as lone surrogates."""
    assert TOKENIZER.decode(TOKENIZER.encode("a \udcff b")) == "a \ufffd b"
    assert TOKENIZER.encode_many(["\ud800"]) == [TOKENIZER.encode("\ufffd")]


def covered(ids: list[int]) -> list[tuple[int, int]]:
    return [(word.start, word.stop) for word in TOKENIZER.words(ids)]


@given(TEXT)
def test_words_cover_every_piece_once_and_in_order(text: str) -> None:
    ids = TOKENIZER.encode(text)
    spans = covered(ids)
    assert [i for start, stop in spans for i in range(start, stop)] == list(range(len(ids)))


@given(st.lists(st.integers(0, TOKENIZER.vocab_size - 1), max_size=30))
def test_words_cover_any_pieces_a_model_may_emit(ids: list[int]) -> None:
    """A model may emit half a character, or a control token in the middle of a word."""
    assert [i for start, stop in covered(ids) for i in range(start, stop)] == list(range(len(ids)))
    assert len(TOKENIZER.pieces(ids)) == len(ids)
    TOKENIZER.decode(ids).encode("utf-8")
    assert all(word.text for word in TOKENIZER.words(ids))


@pytest.mark.parametrize(
    "text",
    ["The report was not convincing.", "It wasn't.", "L'argument n'est pas convaincant.", "Est-il là ?", "aujourd'hui",
     "The committee's proposal can't be accepted, because the evidence isn't convincing."],
)  # fmt: skip
def test_words_are_the_words_of_the_split(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert [w.text for w in TOKENIZER.words(ids)] == word_texts(text)
    assert [TOKENIZER.decode(ids[w.start : w.stop]).strip() for w in TOKENIZER.words(ids)] == word_texts(text)


def test_contractions_come_apart() -> None:
    def shown(text: str) -> list[str]:
        return [w.text for w in TOKENIZER.words(TOKENIZER.encode(text))]

    assert shown("They can't.") == ["They", "ca", "n't", "."]
    assert shown("It wasn't convincing.") == ["It", "was", "n't", "convincing", "."]
    assert shown("l'homme") == ["l'", "homme"]


def test_control_tokens_are_words_with_names_and_no_text() -> None:
    ids = [BOS, *TOKENIZER.encode("Thank you"), EOS, PAD, SEP, MASK, SENTINELS[0], SENTINELS[-1]]
    texts = [w.text for w in TOKENIZER.words(ids)]
    assert texts == ["BOS", "Thank", "you", "EOS", "PAD", "SEP", "[MASK]", "<1>", "<27>"]
    assert set(SPECIAL_NAMES) == set(range(N_SPECIAL))
    assert TOKENIZER.decode(ids) == "Thank you"


def test_parts_of_a_character_are_shown_as_their_bytes() -> None:
    ids = TOKENIZER.encode("🜁")
    assert len(ids) > 1
    shown = TOKENIZER.pieces(ids)
    assert "".join(shown).replace(" ", "").replace("␣", "").endswith("🜁".encode().hex().upper())
    assert TOKENIZER.decode(ids) == "🜁"
    assert TOKENIZER.decode(ids[:-1]).endswith("\ufffd")
    assert len(TOKENIZER.words(ids)[-1].text) == 1


def test_pieces_never_cross_a_word() -> None:
    text = "The report wasn't convincing, so the committee's members rejected it."
    ids = TOKENIZER.encode(text)
    pieces = TOKENIZER.pieces(ids)
    for word in TOKENIZER.words(ids):
        assert "".join(pieces[word.start : word.stop]) == word.text


def test_frequent_words_are_one_piece() -> None:
    assert len(TOKENIZER.encode("the report")) == 2


def test_vocabulary_is_committed_with_its_provenance() -> None:
    facts = json.loads((DIRECTORY / "provenance.json").read_text(encoding="utf-8"))
    assert {"command", "trained_on", "corpus_sha256", "credit"} <= facts.keys()
    assert TOKENIZER.vocab_size <= 8192
    assert len(TOKENIZER.sha256) == 64


def test_a_small_vocabulary_can_be_trained_and_read_back(tmp_path: Path) -> None:
    bpe = train_tokenizer(["the report was not convincing"] * 20, vocab_size=N_SPECIAL + 256 + 10)
    save_tokenizer(bpe, {"command": "here"}, tmp_path)
    made = Tokenizer(tmp_path / "tokenizer.json")
    assert made.vocab_size == N_SPECIAL + 256 + 10
    assert made.decode(made.encode("Ça n'est pas the report")) == "Ça n'est pas the report"
    assert len(made.encode("report")) < len("report")


@given(TEXT)
def test_bytes_survive_a_round_trip_and_show_themselves(text: str) -> None:
    ids = ByteTokenizer().encode(text)
    assert len(ids) == len(text.encode())
    assert all(N_SPECIAL <= i < ByteTokenizer().vocab_size for i in ids)
    assert ByteTokenizer().decode([BOS, *ids, EOS]) == text
    assert len(ByteTokenizer().pieces(ids)) == len(ids)


def test_bytes_are_shown_as_characters_or_in_hex() -> None:
    ids = ByteTokenizer().encode(" é!")
    assert ByteTokenizer().pieces([*ids, EOS]) == ["␣", "C3", "A9", "!", "EOS"]
    assert [word.text for word in ByteTokenizer().words(ByteTokenizer().encode("He left."))] == [
        "He",
        "left",
        ".",
    ]
    assert load_tokenizer("bytes") is load_tokenizer("bytes")
    assert load_tokenizer("bytes").sha256 != load_tokenizer().sha256
    assert load_tokenizer() is load_tokenizer("pieces")
