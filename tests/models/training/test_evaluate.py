"""Test figures: multi-reference BLEU, buckets by length, and translations in the order asked."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import models
from models.training import evaluate
from models.training.evaluate import alignment_counts, bleu, by_length, chrf, load_examples, translate_all
from models.training.tokenizer import EOS
from tests.models.small import ALIGNED

GOOD = ["Le rapport était bon et le comité l'a accepté hier.", "Il est parti ce matin avec deux amis."]


def test_any_reference_counts_and_a_sentence_may_have_fewer() -> None:
    refs = [["Une tout autre phrase sans rapport avec elle.", GOOD[0]], [GOOD[1]]]
    assert bleu(GOOD, refs) == 100
    assert chrf(GOOD, refs) == 100
    assert bleu(GOOD, [refs[0][:1], refs[1]]) < 60
    assert bleu(["Rien à voir.", "Non."], refs) < 5


def test_buckets_hold_each_sentence_once_and_empty_ones_are_left_out() -> None:
    sentences = ["one two three", " ".join(["word"] * 9), " ".join(["word"] * 10)]
    found = by_length(sentences, [*GOOD, GOOD[0]], [[GOOD[0]], [GOOD[1]], [GOOD[0]]])
    assert [(row["words"], row["sentences"], row["bleu"]) for row in found] == [
        ([1, 4], 1, 100),
        ([9, 10], 2, 100),
    ]


@pytest.mark.parametrize("beam", [1, 2])
@pytest.mark.parametrize("slug", ["rnn_search", "luong_local_m"])
def test_batched_translations_are_those_of_each_sentence(
    slug: str, beam: int, assets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("greedy_batch", "beam_search"):  # untrained systems do not stop by themselves
        original = getattr(evaluate, name)
        monkeypatch.setattr(evaluate, name, lambda s, r, *a, f=original: f(s, r, *a, max_length=8))
    translator = models.load(slug)
    sentences = ["The report was not convincing.", "Yes.", "I know that he left.", "Thank you."]
    together = translate_all(translator, sentences, beam)
    assert together == [translator.translate(s, beam=beam, max_length=8).text for s in sentences]


@pytest.mark.parametrize("slug", ALIGNED)
def test_each_target_word_proposes_one_link(slug: str, assets: Path) -> None:
    translator = models.load(slug)
    examples = load_examples()[:6]
    counts = alignment_counts(translator, examples)
    words = sum(
        len(translator.tokenizer.words(translator.tokenizer.encode(french))) for _, french, *_ in examples
    )
    assert 0 < counts.proposed <= words
    assert counts.sure == sum(len(sure) for *_, sure, _ in examples)
    assert 0 <= counts.error_rate <= 1


def test_a_system_without_alignment_has_no_error_rate(assets: Path) -> None:
    with pytest.raises(ValueError, match="LSTM seq2seq has no alignment"):
        alignment_counts(models.load("lstm_seq2seq"), load_examples()[:1])


def test_bits_a_character_count_every_byte_and_each_end(assets: Path) -> None:
    """By hand, one sentence at a time; é is two bytes and one character."""
    translator = models.load("wavenet")
    sentences = ["He left.", "A café, please.", "No."]
    found = evaluate.language_figures(translator, sentences)
    bits = 0.0
    for sentence in sentences:
        _, log_probs = translator.forced([EOS], [*translator.tokenizer.encode(sentence), EOS])
        bits -= float(log_probs.sum()) / math.log(2)
    assert found["characters"] == sum(map(len, sentences)) + 3
    assert found["bits_per_character"] == pytest.approx(bits / found["characters"], rel=1e-5)
    assert found["test_sentences"] == 3
