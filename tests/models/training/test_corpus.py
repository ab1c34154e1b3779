"""Batches: what goes in comes out once, within the budget, in an order that the seed fixes."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.training.corpus import (
    Pair,
    batches,
    collate,
    corpus_sha256,
    encode_pairs,
    load_pairs,
    pad,
    references,
    source_rows,
    story_pairs,
)
from models.training.tokenizer import BOS, EOS, PAD, load_tokenizer


def made(count: int, seed: int = 0, longest: int = 12) -> list[Pair]:
    rng = random.Random(seed)
    return [Pair(*([k] * rng.randint(1, longest) for _ in "st")) for k in range(count)]


@given(st.integers(1, 200), st.integers(13, 200), st.integers(0, 5))
def test_batches_hold_every_pair_once_within_the_budget(count: int, budget: int, seed: int) -> None:
    pairs = made(count)
    cuts = list(batches(pairs, budget, seed))
    assert sorted(id(p) for cut in cuts for p in cut) == sorted(map(id, pairs))
    for cut in cuts:
        assert collate(cut).labels.numel() <= budget
        assert cut


def test_a_pair_longer_than_the_budget_still_gets_its_batch() -> None:
    assert [len(cut) for cut in batches(made(3, longest=9), 2, 0)] == [1, 1, 1]


def test_the_seed_fixes_the_order() -> None:
    pairs = made(300)
    assert list(batches(pairs, 60, 3)) == list(batches(pairs, 60, 3))
    assert list(batches(pairs, 60, 3)) != list(batches(pairs, 60, 4))


def test_lengths_are_alike_inside_a_batch_and_not_in_order_between_them() -> None:
    cuts = list(batches(made(2000), 200, 0))
    assert max(max(len(p.target) for p in c) - min(len(p.target) for p in c) for c in cuts) <= 2
    firsts = [len(c[0].target) for c in cuts]
    assert firsts != sorted(firsts)


def test_collate_shifts_targets_and_marks_real_labels() -> None:
    """0x0B.2: the input starts with BOS, the labels end with EOS, padding is never supervised."""
    batch = collate([Pair([50, 51], [60, 61, 62]), Pair([52], [63])])
    assert batch.target_in.tolist() == [[BOS, 60, 61, 62], [BOS, 63, PAD, PAD]]
    assert batch.labels.tolist() == [[60, 61, 62, EOS], [63, EOS, PAD, PAD]]
    assert batch.known.tolist() == [[True] * 4, [True, True, False, False]]
    assert batch.source.ids.tolist() == [[50, 51, EOS], [52, EOS, PAD]]
    assert batch.source.valid.tolist() == [[True] * 3, [True, True, False]]
    assert batch.source.lengths.tolist() == [3, 2]
    assert batch.tokens == 6


def test_a_padded_id_is_told_from_a_real_one_by_validity_not_by_its_number() -> None:
    ids, valid = pad([[PAD, 7], [8]])
    assert ids.tolist() == [[PAD, 7], [8, PAD]]
    assert valid.tolist() == [[True, True], [True, False]]
    assert source_rows([[]]).ids.tolist() == [[EOS]]


def write(folder: Path, split: str, lines: list[str]) -> None:
    with gzip.open(folder / f"{split}.tsv.gz", "wt", encoding="utf-8") as out:
        out.write("".join(line + "\n" for line in lines))


def test_pairs_are_read_in_file_order_and_a_third_column_is_left(tmp_path: Path) -> None:
    write(tmp_path, "test", ["Go.\tVa !\tcredit", "Go.\tAllez !", "Hi.\tSalut."])
    pairs = load_pairs(tmp_path, "test")
    assert pairs == [("Go.", "Va !"), ("Go.", "Allez !"), ("Hi.", "Salut.")]
    assert references(pairs) == {"Go.": ["Va !", "Allez !"], "Hi.": ["Salut."]}


def test_a_missing_split_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"No corpus file .*valid\.tsv\.gz"):
        load_pairs(tmp_path, "valid")


def test_the_corpus_hash_changes_with_any_of_its_files(tmp_path: Path) -> None:
    for split in ("train", "valid", "test"):
        write(tmp_path, split, ["Go.\tVa !"])
    first = corpus_sha256(tmp_path)
    write(tmp_path, "valid", ["Go.\tVas !"])
    assert corpus_sha256(tmp_path) != first


def test_story_pairs_come_from_their_seed() -> None:
    assert story_pairs(5, 1) == story_pairs(5, 1)
    assert story_pairs(5, 1) != story_pairs(5, 2)


def test_encoded_pairs_carry_no_control_token() -> None:
    tokenizer = load_tokenizer()
    (pair,) = encode_pairs([("It wasn't.", "Ce n'était pas ça.")], tokenizer)
    assert tokenizer.decode(pair.source) == "It wasn't."
    assert tokenizer.decode(pair.target) == "Ce n'était pas ça."
    assert min(pair.source + pair.target) > EOS
