"""The experiments of the page "Fixed context", on small untrained systems: what they measure must not need training."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import models
from app.experiments import fixed_context as lab
from app.experiments.fixed_context import (
    arithmetic,
    contexts,
    crossing,
    export,
    pair,
    quality,
    reproduce,
    transplant,
    widening,
    words,
)
from app.experiments.fixed_context import travel as journey
from app.experiments.fixed_context.common import cut, loaded, together
from models.catalog import entry
from models.interactive import Translator
from models.interface import Rows
from models.systems.rnn_encoder_decoder import Config, RNNEncoderDecoder
from models.training.tokenizer import EOS, load_tokenizer
from tests.app.toys import LUONG, SMALL

A, B = "The report was not convincing.", "The report was convincing."
SEED = Path(__file__).parents[2] / "golden/seed_numbers.json"
each_system = pytest.mark.parametrize("slug", lab.SYSTEMS)


def untrained(slug: str) -> Translator:
    """A small system with random weights."""
    item, tokenizer = entry(slug), load_tokenizer()
    torch.manual_seed(len(slug))
    config = {**SMALL.get(slug, LUONG), **item.config, "dropout": 0.0, "vocab_size": tokenizer.vocab_size}
    system = item.system_class()(item.config_class()(**config)).eval().requires_grad_(False)
    return Translator(item, system, tokenizer, {})


@pytest.fixture(scope="module")
def systems() -> dict[str, Translator]:
    return {slug: untrained(slug) for slug in lab.SYSTEMS}


@pytest.fixture(autouse=True)
def only_these(systems: dict[str, Translator], monkeypatch: pytest.MonkeyPatch) -> None:
    """models.load gives the small systems; every other slug has no checkpoint."""

    def load(slug: str) -> Translator:
        if slug not in systems:
            raise models.CheckpointError(slug, f"The checkpoint of {slug} is missing.")
        return systems[slug]

    monkeypatch.setattr(models, "load", load)


# The pair of sentences


@pytest.mark.parametrize(
    ("sentence", "other"),
    [
        (A, B),
        (B, A),
        ("She isn't here.", "She is here."),
        ("He can't come.", "He can come."),
        ("I won’t go.", "I will go."),
        ("They accepted it.", "They rejected it."),
        ("She rejected it.", "He rejected it."),
        ("Hello.", "Hello."),
        ("Another hat.", "Another hat."),
    ],
)
def test_the_second_sentence_is_one_edit_away(sentence: str, other: str) -> None:
    made = pair.counterpart(sentence)
    assert made == other or (sentence == "She rejected it." and made == "She accepted it.")


tokens = st.lists(st.integers(0, 3), min_size=1, max_size=9)


@given(tokens, tokens)
def test_an_edit_pairs_equal_tokens_in_order_and_accounts_for_all(a: list[int], b: list[int]) -> None:
    where = pair.edit(a, b)
    shared = where.shared()
    assert all(a[i] == b[j] for i, j in shared)
    assert shared == sorted(shared)
    assert sorted([*(i for i, _ in shared), *where.only_a]) == list(range(len(a)))
    assert sorted([*(j for _, j in shared), *where.only_b]) == list(range(len(b)))
    if where.only_a and where.only_b:
        assert a[where.prefix] != b[where.prefix]


@given(tokens)
def test_equal_sequences_have_no_edit(a: list[int]) -> None:
    where = pair.edit(a, list(a))
    assert where.prefix == len(a)
    assert not where.only_a and not where.only_b


# What crosses


@each_system
def test_bytes_are_those_of_the_live_state(slug: str, systems: dict[str, Translator]) -> None:
    one = crossing.crossing(systems[slug], A)
    source = systems[slug].encode_source(A)
    state = systems[slug].system.read(systems[slug].rows(source))
    assert one.nbytes == state.nbytes == dict(one.points)[len(source)]
    assert sum(group.nbytes for group in one.groups) == state.nbytes
    assert all(check.passed for check in one.checks), one.checks
    assert [rows for rows, _ in one.points] == sorted({*(n + 1 for n in crossing.LENGTHS), len(source)})


@each_system
def test_only_a_memory_has_a_row_axis(slug: str, systems: dict[str, Translator]) -> None:
    one, rows = crossing.crossing(systems[slug], A), len(systems[slug].encode_source(A))
    if slug in lab.FIXED:
        assert one.addressable == 0
        assert one.bytes_a_row == 0
        assert len({nbytes for _, nbytes in one.points}) == 1
        return
    assert one.addressable == rows
    assert all(tensor.rows == rows for tensor in one.tensors if tensor.axis is not None)
    assert one.bytes_a_row > 0
    assert {group.role for group in one.groups} >= {"source", "masked"}


def test_the_row_axis_is_found_where_the_shape_follows_the_length() -> None:
    found = {t.name: t.axis for t in crossing.crossing(untrained("rnn_search"), A).tensors}
    assert found == {"annotations": 1, "keys": 1, "valid": 1, "hidden": None}


def test_a_size_check_fails_where_a_summary_grows() -> None:
    tensor = crossing.Crossed("summary", "c", (1, 4), 16, None)
    assert not crossing._size_check((tensor,), {2: 16, 5: 20}).passed
    rows = crossing.Crossed("memory", "h", (1, 2, 4), 32, 1)
    assert crossing._size_check((rows,), {2: 32, 3: 48, 5: 80}).passed
    assert not crossing._size_check((rows,), {2: 32, 3: 40, 5: 80}).passed


def test_a_missing_checkpoint_is_named_and_the_others_stand(systems: dict[str, Translator]) -> None:
    found, missing = loaded(("luong_dot", "luong"))
    assert [one.entry.slug for one in found] == ["luong"]
    assert [(one.slug, one.sentence) for one in missing] == [
        ("luong_dot", "The checkpoint of luong_dot is missing.")
    ]
    both = crossing.crossings(("luong_dot",), A)
    assert both.systems == () and both.rows == 0 and len(both.missing) == 1


def test_cutting_repeats_the_pieces_and_ends_with_eos() -> None:
    assert cut([7, 8, 9, EOS], 5) == [7, 8, 9, 7, 8, EOS]
    assert cut([7, 8, 9, EOS], 2) == [7, 8, EOS]


@pytest.mark.parametrize("width", [8, 20])
@pytest.mark.parametrize("rows", [2, 7])
def test_a_widened_state_is_that_of_the_system_built_so_wide(width: int, rows: int) -> None:
    system = RNNEncoderDecoder(Config(vocab_size=40, d_embedding=6, d_hidden=width)).eval()
    source = Rows(torch.full((1, rows), 33), torch.ones(1, rows, dtype=torch.bool))
    wide = widening.widened(width)
    assert list(wide.tensors) == system.read(source).tensors()
    assert wide.numbers == width


# Two sentences


def test_equal_sentences_have_equal_summaries(systems: dict[str, Translator]) -> None:
    for one in contexts.summaries(lab.SYSTEMS, A, A).systems:
        assert one.cosine == pytest.approx(1)
        assert one.relative == 0
        assert not one.difference.any()


def test_a_summary_is_what_crosses_and_its_parts_cover_it(systems: dict[str, Translator]) -> None:
    cho, sutskever = contexts.summaries(lab.SYSTEMS, A, B).systems
    state = systems["rnn_encoder_decoder"].system.read(
        systems["rnn_encoder_decoder"].rows(systems["luong"].encode_source(A))
    )
    np.testing.assert_array_equal(cho.a, state.summary[0].numpy())
    assert cho.parts == (("c", 0, 32),)
    assert [name for name, _, _ in sutskever.parts] == [
        "h, layer 1",
        "h, layer 2",
        "c, layer 1",
        "c, layer 2",
    ]
    assert sutskever.parts[-1][2] == len(sutskever.a) == 4 * 32
    assert all(check.passed for one in (cho, sutskever) for check in one.checks)
    by_hand = cho.a @ cho.b / np.linalg.norm(cho.a) / np.linalg.norm(cho.b)
    assert cho.cosine == pytest.approx(by_hand, abs=1e-5)


@pytest.mark.parametrize("slug", lab.FIXED)
def test_other_sentences_in_a_batch_give_the_cosine_they_have_alone(
    slug: str, systems: dict[str, Translator]
) -> None:
    others = ("Thank you.", "The committee that reviewed the report yesterday rejected the proposal.")
    batched = contexts.compare(systems[slug], A, B, others).others
    for text, value in batched:
        assert contexts.compare(systems[slug], A, text, ()).cosine == pytest.approx(value, abs=1e-5)


def test_a_batch_is_padded_behind(systems: dict[str, Translator]) -> None:
    rows = together([[40, 41, EOS], [50, EOS]])
    assert rows.valid.tolist() == [[True] * 3, [True, True, False]]
    assert rows.ids.tolist() == [[40, 41, EOS], [50, EOS, 0]]


def test_relative_difference() -> None:
    a, b = torch.tensor([3.0, 0.0]), torch.tensor([0.0, 4.0])
    assert contexts.relative_difference(a, b) == pytest.approx(5 / 3.5)
    assert contexts.relative_difference(torch.zeros(2), torch.zeros(2)) == 0


def test_an_edit_is_felt_only_after_it_was_read() -> None:
    found = journey.travel(lab.SYSTEMS, A, B)
    assert found.columns[3] == "A: not" and found.paired.tolist() == [True] * 3 + [False] + [True] * 3
    lines = {line.label: line.values for line in found.lines}
    for label, values in lines.items():
        before, after = values[:3], values[4:]
        if label.startswith("→"):
            assert before == pytest.approx(0, abs=1e-6) and (after > 0.01).all(), label
        elif label == "← RNNsearch":
            assert after == pytest.approx(0, abs=1e-6) and (before > 0.01).all()
        elif label == "← LSTM seq2seq":  # end of sentence is read last in either order
            assert after[:2] == pytest.approx(0, abs=1e-6) and after[2] > 0.01 and (before > 0.01).all()
        else:
            assert (values[found.paired] > 0).all()
    assert found.checks[0].passed
    assert [line.kept for line in found.lines] == [False, False, True, True, True, True]


def test_an_exchanged_word_stands_twice_and_equal_sentences_do_not_differ() -> None:
    found = journey.travel(("luong",), "The report was convincing.", "The report is convincing.")
    assert found.columns[2:4] == ("A: was", "B: is")
    assert words.marked(found)[0] == ["The", "report", "was", "convincing", ".", "EOS"]
    assert words.marked(found)[2:] == (range(2, 3), range(2, 3))
    same = journey.travel(("luong",), A, A)
    assert same.paired.all() and same.lines[0].values == pytest.approx(0)
    assert words.travel(same)[0] == "A and B are the same."


# Quality


MANIFEST: dict[str, Any] = {
    "luong": {
        "metrics": {
            "bleu_by_length": [
                {"words": [1, 4], "sentences": 30, "bleu": 40.5},
                {"words": [5, 6], "sentences": 20, "bleu": 38.0},
            ],
            "story": {"negation_by_distance": [{"distance": [0, 0], "sentences": 9, "kept": 0.5}]},
        }
    },
    "rnn_encoder_decoder": {
        "metrics": {"bleu_by_length": [{"words": [5, 6], "sentences": 20, "bleu": 11.0}]},
    },
    "transformer": {},
}


def test_stored_figures_become_series_and_a_system_without_them_is_named() -> None:
    found = quality.quality(("rnn_encoder_decoder", "luong", "transformer", "rnn_search"), MANIFEST)
    assert [(s.slug, s.fixed) for s in found.bleu] == [("rnn_encoder_decoder", True), ("luong", False)]
    assert [p.label for p in found.bleu[1].points] == ["1-4", "5-6"]
    assert found.missing == ("Transformer", "RNNsearch")
    assert [s.slug for s in found.kept] == ["luong"] and found.kept[0].points[0].label == "0"
    labels, counts, lines = words.buckets(found.bleu, 1.0)
    assert labels == ["1-4", "5-6"] and counts == [30, 20]
    assert lines[0][0] == "RNN encoder-decoder, fixed"
    assert np.isnan(lines[0][1][0]) and lines[0][1][1] == 11.0
    assert words.buckets(found.kept, 100.0)[2] == [("Luong general", [50.0])]
    assert "Transformer, RNNsearch" in words.unmeasured(found.missing)


def test_the_shipped_manifest_can_be_read() -> None:
    found = quality.quality(lab.SYSTEMS)
    titles = {entry(slug).title for slug in lab.SYSTEMS}
    assert {series.title for series in found.bleu} | set(found.missing) == titles


# Transplant


@each_system
def test_the_checks_of_a_transplant_hold(slug: str) -> None:
    found = transplant.transplant(slug, A, B)
    assert all(check.passed for check in found.checks), found.checks
    own = next(check for check in found.checks if check.label == "A's own part changes nothing")
    assert own.value == 0.0
    assert (found.rows is None) == (slug in lab.FIXED)
    assert len(found.outputs) == 3
    for out in found.outputs:
        assert len(out.log_probs) == len(out.axis.ids) and len(out.changed) == len(out.axis.words)


@pytest.mark.parametrize("slug", lab.FIXED)
def test_all_of_bs_context_gives_bs_output(slug: str) -> None:
    _, got, theirs = transplant.transplant(slug, A, B, "both").outputs
    assert got.axis.ids == theirs.axis.ids
    np.testing.assert_array_equal(got.log_probs, theirs.log_probs)


@pytest.mark.parametrize("slug", lab.FIXED)
@pytest.mark.parametrize("index", [1, 2])
def test_one_part_of_a_summary_moves_and_the_other_stays(
    slug: str, index: int, systems: dict[str, Translator]
) -> None:
    one = transplant.Experiment(systems[slug], A, B)
    part = list(lab.PARTS[slug])[index]
    mixed, _ = transplant.exchange(one.a, one.b, part)
    names = {"every_step": "summary", "start": "hidden", "hidden": "hidden", "cell": "cell"}
    for name in vars(one.a):
        expected = getattr(one.b if name == names[part] else one.a, name)
        for got, want in zip(_tensors(getattr(mixed, name)), _tensors(expected), strict=True):
            assert torch.equal(got, want)


@pytest.mark.parametrize("slug", ["rnn_search", "luong", "transformer"])
def test_one_row_of_a_memory_moves_and_the_original_is_untouched(
    slug: str, systems: dict[str, Translator]
) -> None:
    one = transplant.Experiment(systems[slug], A, B)
    kept = {name: [t.clone() for t in _tensors(value)] for name, value in vars(one.a).items()}
    mixed, _ = transplant.exchange_row(one.a, one.b, 3, 4)
    moved = 0
    for name in vars(one.a):
        rows = zip(
            _tensors(getattr(mixed, name)),
            _tensors(getattr(one.a, name)),
            _tensors(getattr(one.b, name)),
            kept[name],
            strict=True,
        )
        for got, mine, theirs, before in rows:
            assert torch.equal(mine, before)
            if name in ("annotations", "keys", "memory", "memory_keys", "memory_values"):
                dim = 2 if slug == "transformer" else 1
                assert torch.equal(got.select(dim, 3), theirs.select(dim, 4))
                rest = [k for k in range(got.shape[dim]) if k != 3]
                assert torch.equal(
                    got.index_select(dim, torch.tensor(rest)), mine.index_select(dim, torch.tensor(rest))
                )
                moved += 1
            else:
                assert torch.equal(got, mine)
    assert moved == {"rnn_search": 2, "luong": 1, "transformer": 4}[slug]


def test_the_row_is_the_edited_one_unless_another_is_named() -> None:
    assert transplant.transplant("luong", A, B).rows == (3, 3)
    assert transplant.transplant("luong", A, B, row=0, donor=5).rows == (0, 5)
    with pytest.raises(ValueError, match="Sentence B has 6 source rows; there is no row 7"):
        transplant.transplant("luong", A, B, donor=6)
    with pytest.raises(ValueError, match="no part called every"):
        transplant.transplant("lstm_seq2seq", A, B, "every_step")


def test_what_is_lost_and_what_is_new_is_marked_against_each_other() -> None:
    lost, new = transplant.marks(["Il", "n'", "est", "pas", "là"], ["Elle", "est", "là"])
    assert lost == (True, True, False, True, False)
    assert new == (True, False, False)
    assert transplant.marks(["a"], ["a"]) == ((False,), (False,))


@each_system
def test_marks_count_what_is_lost_and_what_is_new(slug: str) -> None:
    own, got, _ = transplant.transplant(slug, A, "Thank you.").outputs
    kept = [sum(not mark for mark in out.changed) for out in (own, got)]
    assert kept[0] == kept[1]
    assert (kept[0] == len(own.changed) == len(got.changed)) == (own.axis.ids == got.axis.ids)


def _tensors(value: Any) -> list[torch.Tensor]:
    return list(value) if isinstance(value, tuple) else [value]


# The article's numbers (0x02E)


def test_the_synthetic_reads_of_the_article() -> None:
    found = arithmetic.mixed(lab.DEFAULT_H, lab.DEFAULT_ALPHA)
    entries = {item["name"]: item for item in json.loads(SEED.read_text())["entries"]}
    for step in range(3):
        item = entries[f"synthetic_read_c{step + 1}"]
        np.testing.assert_allclose(found.H, item["inputs"]["H"], atol=1e-12)
        np.testing.assert_allclose(found.alpha[step], item["inputs"]["alpha"], atol=1e-12)
        np.testing.assert_allclose(found.contexts[step], item["expected"], atol=1e-12)
    np.testing.assert_allclose(found.fixed, entries["fixed_context_is_last_row"]["expected"], atol=1e-12)
    np.testing.assert_allclose(found.sums, 1.0, atol=1e-12)
    assert found.terms(0, 0) == "0.8·0.8 + 0.1·0.1 + 0.05·0 + 0.05·0.4 = 0.67"
    assert all(check.passed for check in words.read_checks(found))
    assert words.reads(found)[0] == ("c_1", "(0.67, 0.205, 0.08)")


def test_other_weights_give_another_context_and_are_judged() -> None:
    found = arithmetic.mixed(lab.DEFAULT_H, (100, 100, 0, 0, *lab.DEFAULT_ALPHA[4:]))
    np.testing.assert_allclose(found.contexts[0], [0.9, 1.0, 0.1])
    assert [check.passed for check in words.read_checks(found)] == [False, True, True]
    with pytest.raises(ValueError, match="H needs 12 numbers"):
        arithmetic.mixed((1, 2, 3), lab.DEFAULT_ALPHA)


# Export


@pytest.fixture
def found() -> export.Found:
    slugs = lab.SYSTEMS
    return export.Found(
        crossing.crossings(slugs, A),
        contexts.summaries(slugs, A, B, ("Thank you.",)),
        journey.travel(slugs, A, B),
        quality.quality(slugs, MANIFEST),
        transplant.transplant("luong", A, B),
        arithmetic.mixed(lab.DEFAULT_H, lab.DEFAULT_ALPHA),
    )


def test_every_panel_is_exported(found: export.Found) -> None:
    made = export.tables(found)
    assert len(made) == 8
    assert len(made["Crossing tensors"]) == sum(len(one.tensors) for one in found.crossings.systems)  # pyright: ignore[reportOptionalMemberAccess]
    assert len(set(made["Bytes by source rows"]["RNN encoder-decoder"])) == 1
    text = json.dumps(export.numbers(A, B, found), default=str, allow_nan=False)
    assert json.loads(text)["travel"]["lines"][0]["values"][3] is None
    assert len(export.checks(found)) == 2 * 5 + 2 + 1 + 2
    assert export.tables(export.Found(None, None, None, None, None, None)) == {}


def test_the_exported_lines_run_and_give_the_same_numbers(
    found: export.Found, capsys: pytest.CaptureFixture[str]
) -> None:
    space: dict[str, Any] = {}
    lines = export.python_lines(lab.SYSTEMS, A, B, found, "both", lab.DEFAULT_H, lab.DEFAULT_ALPHA)
    exec(compile(lines, "export", "exec"), space)
    assert capsys.readouterr().out
    assert found.crossings and found.summaries and found.transplanted and found.mixed
    for one in found.crossings.systems:
        assert sum(nbytes for _, _, nbytes in space["crossed"][one.slug]) == one.nbytes
    for one in found.summaries.systems:
        assert space["cosines"][one.slug] == pytest.approx(one.cosine, abs=1e-6)
    assert space["mixed_text"] == found.transplanted.outputs[1].text
    np.testing.assert_allclose(space["contexts"].numpy(), found.mixed.contexts)


@pytest.mark.parametrize(
    ("slug", "part"),
    [
        *((slug, part) for slug in lab.FIXED for part in lab.PARTS[slug]),
        ("rnn_search", "both"),
        ("transformer", "both"),
    ],
)
def test_the_lines_of_each_transplant_run(slug: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    one = transplant.transplant(slug, A, B, part, *((None, None) if slug in lab.FIXED else (2, 1)))
    space: dict[str, Any] = {}
    exec(compile(reproduce.transplant_lines(slug, A, B, part, one.rows), "export", "exec"), space)
    assert space["mixed_text"] == one.outputs[1].text
    assert capsys.readouterr().out.strip() == one.outputs[1].text.strip()


# Sentences beside the pictures


def test_the_notes_say_what_was_measured(found: export.Found) -> None:
    assert found.crossings and found.summaries and found.transplanted
    cho, _, search, _, _ = found.crossings.systems
    assert words.lane(cho) == ("0 source rows to address", f"{cho.nbytes:,} bytes at any length")
    assert words.lane(search)[0] == "7 source rows to address"
    wide = widening.widened(6144)
    kept = words.memory(found.crossings.systems)
    assert kept and kept[0].slug == "rnn_search" and kept[1].rows == 7
    strong, rest = words.widening(wide, kept)
    assert strong == "At 6,144 channels c is 24,576 bytes and 1 row." and "holds more numbers" in rest
    assert not words.wide_block(wide, found.crossings.systems)["trained"]
    assert words.wide_block(widening.widened(32), found.crossings.systems)["trained"]
    assert (
        words.summary_figures(found.summaries.systems[0])[3][1]
        == f"{found.summaries.systems[0].others[0][1]:.3f}"
    )
    assert (
        words.output_title(found.transplanted, 1)
        == "A with its row 4 (not) replaced by row 4 of B (convincing)"
    )


def test_checks_of_several_systems_are_merged_and_a_failing_one_is_named(found: export.Found) -> None:
    assert found.crossings
    labels = [check.label for check in words.merged(found.crossings.systems)]
    assert labels == [
        "bytes constant: 2 systems",
        "padding changes nothing: 5 systems",
        "bytes linear in rows: 3 systems",
    ]
    cho, *others = found.crossings.systems
    broken = replace(cho, checks=(replace(cho.checks[0], passed=False, value=8.0),))
    worst = words.merged((broken, *others))[0]
    assert (worst.label, worst.passed, worst.value) == ("bytes constant: RNN encoder-decoder", False, 8.0)


@pytest.mark.parametrize("slug", lab.FIXED)
def test_the_outcome_names_whose_output_it_is(slug: str) -> None:
    moved = transplant.transplant(slug, A, B, "both")
    expected = (
        "The words did not change."
        if moved.outputs[0].axis.ids == moved.outputs[2].axis.ids
        else "says for B"
    )
    assert expected in words.outcome(moved)[0]
    same = transplant.transplant(slug, A, A, "both")
    assert words.outcome(same)[0] == "The words did not change."
