"""models.load(...).translate and .score, on small untrained systems: the promises do not depend on training."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import models
from models.catalog import TRANSLATORS, Entry, entry
from models.interactive import MAX_SOURCE, MAX_TARGET, Translation, Translator
from models.interface import Rows
from models.training.tokenizer import BOS, EOS

EACH = pytest.mark.parametrize("item", TRANSLATORS, ids=lambda e: e.slug)
TEXT = "The report was not convincing."


def check(found: Translation, translator: Translator) -> None:
    T, S = len(found.target_tokens), len(found.source_tokens)
    assert len(found.log_probs) == len(found.target_ids) == T
    assert len(found.source_ids) == S
    assert all(math.isfinite(p) and p <= 0 for p in found.log_probs)
    assert (found.target_ids[-1] == EOS) is (found.ended == "eos")
    assert found.source_ids[-1] == EOS
    assert found.source_ids[: len(translator.prompt)] == translator.prompt
    assert found.text == translator.tokenizer.decode(found.target_ids)
    for words, ids in ((found.source_words, found.source_ids), (found.target_words, found.target_ids)):
        assert [k for w in words for k in range(w.start, w.stop)] == list(range(len(ids)))
    if not translator.system.has_alignment:
        assert found.alignment is None
        return
    assert found.alignment is not None
    assert [len(row) for row in found.alignment] == [S] * T
    assert all(0 <= weight <= 1 + 1e-6 for row in found.alignment for weight in row)


@EACH
@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_tells_its_tokens_probabilities_and_weights(
    item: Entry, beam: int, assets: Path
) -> None:
    translator = models.load(item.slug)
    found = translator.translate(TEXT, beam=beam, max_length=6)
    check(found, translator)
    assert found.source_tokens[-1] == "EOS"
    assert len(found.target_ids) <= 6
    scored = translator.system.score(
        translator.rows(found.source_ids), torch.tensor([[BOS, *found.target_ids[:-1]]])
    )
    by_hand = torch.log_softmax(scored.logits[0], -1).gather(1, torch.tensor(found.target_ids).unsqueeze(1))[
        :, 0
    ]
    assert found.log_probs == pytest.approx(by_hand.tolist(), abs=1e-5)
    if beam == 1:
        assert found.target_ids == scored.logits[0].argmax(-1).tolist()


@EACH
def test_a_score_is_the_sum_of_its_tokens_and_the_end(item: Entry, assets: Path) -> None:
    translator = models.load(item.slug)
    text = "Le rapport n'était pas convaincant."
    scored = translator.score(TEXT, text)
    assert scored.target_tokens == translator.tokenizer.pieces([*translator.tokenizer.encode(text), EOS])
    assert len(scored.log_probs) == len(scored.target_tokens)
    assert scored.total == pytest.approx(sum(scored.log_probs))
    assert (scored.alignment is None) is not translator.system.has_alignment
    whole, end = translator.score(TEXT, text), translator.score(TEXT, "")
    assert end.target_tokens == ["EOS"]
    assert len(end.log_probs) == 1
    assert whole.log_probs[0] != end.log_probs[0]


def test_score_and_translate_agree(assets: Path) -> None:
    translator = models.load("rnn_search")
    translator.system.output_table()[1][EOS] += 3.0
    found = translator.translate(TEXT, max_length=20)
    again = translator.describe(found.source_ids, found.target_ids, found.ended)
    assert again.log_probs == found.log_probs
    assert again.alignment == found.alignment


def test_log_probabilities_of_all_single_tokens_sum_to_one(assets: Path) -> None:
    translator = models.load("luong")
    scored, _ = translator.forced(translator.encode_source(TEXT), [EOS])
    assert float(torch.log_softmax(scored.logits[0, 0], -1).exp().sum()) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    "text",
    ["👩‍👩‍👧 🙂", "שלום עולם", "‮reversed‬", "報告は説得力がなかった。",
     "<script>alert('x')</script>", "a\x00b\x07\x1b[31m",
     "  spaces   around  ", "ﬀ ﷺ", "\ufffd", "a\u0301\u0301\u0301", "?!...", "1,234.56 €", "[MASK] </s> EOS"],
)  # fmt: skip
def test_odd_text_gets_a_translation(text: str, assets: Path) -> None:
    for slug in ("rnn_search", "transformer", "lstm_seq2seq"):
        translator = models.load(slug)
        check(translator.translate(text, max_length=3), translator)


@pytest.mark.parametrize("text", ["", " ", " \t\n "])
def test_no_text_is_told(text: str, assets: Path) -> None:
    translator = models.load("luong")
    for ask in (translator.translate, lambda t: translator.score(t, "Oui.")):
        with pytest.raises(ValueError, match=r"There is no sentence to translate\."):
            ask(text)


def test_ten_thousand_characters_are_told_with_the_limit(assets: Path) -> None:
    translator = models.load("luong")
    with pytest.raises(ValueError, match=f"at most {MAX_SOURCE} fit"):
        translator.translate("report " * 1429)
    with pytest.raises(ValueError, match=f"at most {MAX_TARGET - 1} fit"):
        translator.score(TEXT, "rapport " * 1250)


@EACH
def test_the_longest_allowed_source_is_read_by_every_system(item: Entry, assets: Path) -> None:
    translator = models.load(item.slug)
    text = "the " * MAX_SOURCE
    assert len(translator.encode_source(text.strip())) == len(translator.prompt) + MAX_SOURCE + 1
    check(translator.translate(text.strip(), max_length=2), translator)


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [({"beam": 0}, "beam must be between 1 and"), ({"beam": 17}, "beam must be between 1 and"),
     ({"max_length": 0}, "maximum length must be between 1 and"), ({"max_length": 129}, "between 1 and 128")],
)  # fmt: skip
def test_choices_out_of_bounds_are_told(choice: dict[str, int], sentence: str, assets: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        models.load("luong").translate(TEXT, **choice)


def test_an_unknown_system_is_told_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"No system is called 'elman'.*rnn_search"):
        models.load("elman")


def test_a_system_is_loaded_once_and_shared(assets: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(models.load, ["luong", "transformer"] * 4))
    assert all(one is found[k % 2] for k, one in enumerate(found))
    assert found[0].entry is entry("luong")
    assert found[0].provenance["seed"] == [e.slug for e in TRANSLATORS].index("luong")


def test_visitors_at_once_get_what_each_gets_alone(assets: Path) -> None:
    translator = models.load("luong_local_p")
    texts = ["Thank you.", TEXT, "I don't know why the committee rejected it.", "Yes."] * 3
    alone = [translator.translate(t, max_length=5).as_dict() for t in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda t: translator.translate(t, max_length=5).as_dict(), texts)) == alone


def test_a_prompt_stands_before_the_sentence_and_is_read_with_it(assets: Path) -> None:
    plain = models.load("transformer")
    prompted = replace(plain, entry=replace(plain.entry, prompt="translate English to French:"))
    assert plain.prompt == []
    assert plain.tokenizer.decode(prompted.prompt) == "translate English to French:"
    assert prompted.encode_source(TEXT) == [*prompted.prompt, *plain.encode_source(TEXT)]
    one, other = (t.score(TEXT, "Oui.") for t in (plain, prompted))
    assert len(other.source_tokens) == len(one.source_tokens) + len(prompted.prompt)
    assert other.total != one.total


@pytest.mark.parametrize("slug", ["gpt", "mamba", "wavenet"])
def test_plain_english_is_continued_one_likeliest_piece_at_a_time(slug: str, assets: Path) -> None:
    translator = models.load(slug)
    found = translator.continue_text("The report", max_length=4)
    given = translator.tokenizer.encode("The report")
    assert found.given == len(given)
    assert found.tokens[: found.given] == translator.tokenizer.pieces(given)
    assert found.text.startswith("The report")
    assert found.given < len(found.tokens) <= found.given + 4
    ids = given
    while len(ids) < len(found.tokens):  # by hand: the whole stream scored anew for each piece
        logits = translator.system.score(translator.rows([EOS]), torch.tensor([[BOS, *ids]])).logits[0]
        ids = [*ids, int(logits[-1].argmax())]
    assert translator.tokenizer.pieces(ids) == found.tokens
    log_probs, told = translator.forced([EOS], ids)[1], found.log_probs
    assert told == pytest.approx(log_probs.tolist(), rel=1e-4, abs=1e-4)
    assert translator.continue_text(" ", max_length=1).given == 0


def test_what_cannot_be_continued_is_told(assets: Path) -> None:
    with pytest.raises(ValueError, match=r"Luong general was not trained to continue.*gpt"):
        models.load("luong").continue_text("The")
    gpt = models.load("gpt")
    for length in (0, MAX_TARGET + 1):
        with pytest.raises(ValueError, match="maximum length must be between"):
            gpt.continue_text("The", max_length=length)
    with pytest.raises(ValueError, match="Shorten it"):
        gpt.continue_text("report " * 120)


@pytest.mark.parametrize("slug", ["bert", "unilm"])
@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("The report was not [MASK].", ["The", "report", "was", "not", "[MASK]", ".", "EOS"]),
        ("[MASK] is it", ["[MASK]", "is", "it", "EOS"]),
        ("  I [MASK] [MASK] you. ", ["I", "[MASK]", "[MASK]", "you", ".", "EOS"]),
    ],
)
def test_a_hidden_word_leaves_its_neighbours_as_they_were(
    slug: str, text: str, pieces: list[str], assets: Path
) -> None:
    translator = models.load(slug)
    read: list[Rows] = []
    system: Any = translator.system
    whole = system.fill

    def watched(rows: Rows) -> torch.Tensor:
        read.append(rows)
        return whole(rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(system, "fill", watched)
        found = translator.fill(text)
    assert translator.tokenizer.pieces(read[0].ids[0].tolist()) == pieces
    assert [place.position for place in found] == [k for k, p in enumerate(pieces) if p == "[MASK]"]
    assert all(place.log_probs == sorted(place.log_probs, reverse=True) for place in found)


def test_a_text_with_nothing_hidden_or_nothing_to_fill_it_is_told(assets: Path) -> None:
    with pytest.raises(ValueError, match=r"Nothing is hidden\. Write \[MASK\]"):
        models.load("bert").fill("The report.")
    with pytest.raises(ValueError, match="was not trained to fill hidden words"):
        models.load("gpt").fill("The [MASK].")


def test_a_language_model_translates_nothing(assets: Path) -> None:
    with pytest.raises(ValueError, match=r"WaveNet does not translate.*Try: python -m models continue"):
        models.load("wavenet").translate("He left.")
