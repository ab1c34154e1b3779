"""Readings, forced reads, changed words, moved weights and gold links, on small trained systems."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import models
from app.experiments.alignment import change, gold, move
from app.experiments.alignment.code import Recipe, python_lines
from app.experiments.alignment.options import CODES, choose
from app.experiments.alignment.reading import Ask, Reading, checks, read
from models.training.tokenizer import EOS, load_tokenizer
from tests.app.alignment_toys import ALIGNING, SENTENCE, alignment_assets
from tests.app.toys import using

FRENCH = "Le rapport n'était pas convaincant."
RECURRENT = ["additive-global", "general-global", "concat-global", "general-local_p", "dot-local_m"]
each_system = pytest.mark.parametrize("code", [*RECURRENT, "heads-global"])
each_recurrent = pytest.mark.parametrize("code", RECURRENT)


@pytest.fixture(scope="module", autouse=True)
def assets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = alignment_assets(tmp_path_factory)
    with using(folder):
        yield folder


def ask(code: str, half_width: int = 4, shift: int = 0, **given) -> Ask:
    return Ask(choose(CODES[code], ALIGNING, half_width, shift), given.pop("sentence", SENTENCE), **given)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("slug", ["rnn_search", "luong_local_p", "transformer"])
def test_a_reading_is_the_translation_with_its_alignment(slug: str, beam: int) -> None:
    code = {
        "rnn_search": "additive-global",
        "luong_local_p": "general-local_p",
        "transformer": "heads-global",
    }[slug]
    one = read(ask(code, decoding="beam" if beam > 1 else "greedy", beam=beam))
    told = models.load(slug).translate(SENTENCE, beam=beam)
    assert one.text == told.text
    assert list(one.target.ids) == told.target_ids
    assert one.weights == pytest.approx(np.array(told.alignment), abs=1e-5)
    assert one.log_probs == pytest.approx(np.array(told.log_probs), abs=1e-4)


@each_system
def test_rows_follow_the_forced_french(code: str) -> None:
    one = read(ask(code, decoding="forced", forced=FRENCH))
    assert one.text == FRENCH
    assert one.target.ids[-1] == EOS
    assert one.matrix("words").shape == (len(one.rows("words")), len(one.columns("words")))
    assert [text for text, _, _ in one.rows("words")] == [
        "Le",
        "rapport",
        "n'",
        "était",
        "pas",
        "convaincant",
        ".",
        "EOS",
    ]
    masked = one.masked("pieces")
    assert masked is None or not one.weights[masked].any()
    assert all(check.passed for check in checks(one.ask, one.target.ids).checks)


@each_system
def test_alternatives_hold_the_most_probable_pieces(code: str) -> None:
    one = read(ask(code))
    for step, found in enumerate(one.alternatives):
        assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)
        assert found[0] == (
            one.target.pieces[step],
            pytest.approx(float(np.exp(one.log_probs[step])), abs=1e-4),
        )


@each_recurrent
def test_the_context_is_the_mixture_that_the_weights_say(code: str) -> None:
    one = read(ask(code))
    using_ = models.load(one.ask.choice.slug)
    state = using_.system.read(using_.rows(list(one.source.ids)))
    memory = getattr(state, "annotations", None)
    memory = (state.memory if memory is None else memory)[0].numpy()
    assert one.context == pytest.approx(one.weights @ memory, abs=1e-5)


def test_weights_of_a_linear_concat_do_not_depend_on_the_decision() -> None:
    assert read(ask("concat-global")).row_difference < 1e-6
    assert read(ask("general-global")).row_difference > 1e-3


def test_local_p_shows_its_centre_window_gaussian_and_sum() -> None:
    one = read(ask("general-local_p", half_width=2))
    assert one.centre is not None and one.envelope is not None and one.window is not None
    place = np.arange(one.weights.shape[1])
    assert one.envelope == pytest.approx(np.exp(-((place - one.centre[:, None]) ** 2) / 2), abs=1e-5)
    assert (one.sums < 1 - 1e-3).all()
    for t, (first, last) in enumerate(one.window):
        assert np.flatnonzero(one.visible[t]).tolist() == list(range(first, last + 1))
        middle = min(int(one.centre[t]), len(place) - 1)
        assert (first, last) == (max(0, middle - 2), min(len(place) - 1, middle + 2))


def test_the_centre_moves_by_what_was_asked() -> None:
    plain, moved = read(ask("dot-local_m")), read(ask("dot-local_m", shift=2))
    assert plain.centre is not None and moved.centre is not None
    assert plain.centre.tolist() == list(range(len(plain.centre)))
    assert (moved.centre - np.arange(len(moved.centre)) == 2).all()
    assert moved.ask.choice.notes[-1] == "centre moved by +2"
    assert all(check.passed for check in checks(moved.ask, moved.target.ids).checks)


def test_a_head_has_scores_and_the_mean_of_heads_has_none() -> None:
    mean, head = read(ask("heads-global")), read(ask("heads-global", layer=1, head=2))
    assert mean.scores is None and head.scores is not None
    shares = np.exp(head.scores - head.scores.max(1, keepdims=True))
    assert head.weights == pytest.approx(shares / shares.sum(1, keepdims=True), abs=1e-5)
    every = [read(ask("heads-global", layer=2, head=n)).weights for n in (1, 2, 3)]
    assert mean.weights == pytest.approx(np.mean(every, axis=0), abs=1e-5)
    with pytest.raises(ValueError, match="3 heads"):
        read(ask("heads-global", head=9))


@pytest.mark.parametrize("code", ["additive-global", "general-global"])
def test_a_forced_read_raises_the_weight_as_the_softmax_says(code: str) -> None:
    before, t, j, bias = read(ask(code)), 3, 1, 4.0
    found = change.force(before, t, [j], bias)
    old = float(before.weights[t, j])
    assert found.weight[0] == pytest.approx(old)
    assert found.weight[1] == pytest.approx(old * np.exp(bias) / (1 - old + old * np.exp(bias)), abs=1e-5)
    assert found.after.target.ids[:t] == before.target.ids[:t]
    assert found.after.weights[:t] == pytest.approx(before.weights[:t], abs=1e-6)


@each_system
def test_no_bias_changes_nothing(code: str) -> None:
    before = read(ask(code))
    found = change.force(before, 2, [0], 0.0)
    assert found.after.target.ids == before.target.ids
    assert found.chosen[0] == pytest.approx(found.chosen[1], abs=1e-5)
    assert not found.changed.any()
    assert not change.moved_cells(before, found.after, "words").any()


def test_a_row_outside_the_window_cannot_be_forced() -> None:
    before = read(ask("dot-local_m", half_width=1))
    assert not before.visible[0, 4]
    found = change.force(before, 0, [4], 10.0)
    assert found.weight == (0.0, 0.0)
    assert found.after.target.ids == before.target.ids


def test_a_word_is_replaced_where_it_stands() -> None:
    assert change.swap(SENTENCE, 1, "proposal") == "The proposal was not convincing."
    assert change.swap(SENTENCE, 0, " A ") == "A report was not convincing."
    assert change.swap("He doesn't know.", 2, "n’t") == "He doesn’t know."
    assert change.swap("Thank you.", 2, "!") == "Thank you!"
    with pytest.raises(IndexError):
        change.swap(SENTENCE, 40, "x")


def test_neighbours_are_whole_words_of_the_same_casing_nearest_first() -> None:
    tokenizer = load_tokenizer()
    found = change.neighbours(ask("general-global").choice, SENTENCE, 1)
    assert len(found) == change.NEIGHBOURS
    assert [one.cosine for one in found] == sorted((one.cosine for one in found), reverse=True)
    for one in found:
        assert one.text.islower() and one.text.isalpha() and one.text != "report"
        assert len(tokenizer.encode(one.text)) == 1
    table = models.load("luong").system.source_table().weight
    own, other = table[tokenizer.encode("report")[0]], table[tokenizer.encode(found[0].text)[0]]
    assert found[0].cosine == pytest.approx(float(own @ other / own.norm() / other.norm()), abs=1e-5)
    capital = change.neighbours(ask("general-global").choice, SENTENCE, 0)
    assert all(one.text.istitle() for one in capital)


@pytest.mark.parametrize("sentence, word", [("Donaudampfschiff sank.", 0), (SENTENCE, 5), (SENTENCE, 6)])
def test_a_word_of_several_pieces_or_a_sign_has_no_neighbours(sentence: str, word: int) -> None:
    assert change.neighbours(ask("general-global").choice, sentence, word) == ()


def test_a_changed_sentence_gives_up_the_forced_french() -> None:
    forced = ask("general-global", decoding="forced", forced=FRENCH)
    assert change.asked(forced, "Thank you.") == ask("general-global", sentence="Thank you.")
    beam = ask("general-global", decoding="beam")
    assert change.asked(beam, "Thank you.") == replace(beam, sentence="Thank you.")


@each_system
def test_importances_stand_beside_the_weights(code: str) -> None:
    one = read(ask(code))
    (found,) = move.importances(one, [2], "words")
    assert found.units == tuple(one.source.labels("words"))
    assert found.weights == pytest.approx(
        one.matrix("words")[2] if _single(one, 2) else found.weights, abs=1e-6
    )
    assert found.weights.sum() == pytest.approx(one.sums[2], abs=1e-5)
    assert (found.gradient >= 0).all() and (found.left_out >= 0).all() and (found.left_out <= 1 + 1e-6).all()
    assert set(found.tau) == set(move.MEASURES)


def _single(one: Reading, t: int) -> bool:
    """Whether decision t spells a word alone."""
    return any((start, stop) == (t, t + 1) for _, start, stop in one.rows("words"))


def test_every_decision_has_a_row_and_the_work_says_how_far_it_is() -> None:
    one, seen = read(ask("additive-global", sentence="Thank you.")), []
    rows = move.everything(one, 0.1, 0, "words", seen.append)
    assert len(rows) == len(one.target.ids) and seen == sorted(seen)
    for t, row in enumerate(rows):
        assert row.movement is not None and row.movement.adversarial.tv[0] <= 0.1
        assert len(move.every_row(row, t)) == len(move.EVERY_HEAD)
    names, weights, indices = move.kinds(rows[0].movement)  # pyright: ignore[reportArgumentType]
    table = move.table(one, rows[0].movement, names, indices)  # pyright: ignore[reportArgumentType]
    assert [row[0] for row in table] == ["own", "uniform", "permuted", "searched"]
    assert weights[0] == pytest.approx(one.weights[0], abs=1e-5)


def test_a_transformers_table_has_importances_only() -> None:
    rows = move.everything(read(ask("heads-global", sentence="Thank you.")), 0.1, 0, "words")
    assert all(row.movement is None for row in rows)
    assert move.every_row(rows[0], 0)[1:5] == ["", "", "", ""]


def test_gold_links_lie_over_the_map_of_the_forced_french() -> None:
    pair = gold.pair_of(SENTENCE)
    assert pair is not None and pair.french == FRENCH
    found = gold.compare(ask("additive-global"), pair)
    assert found.reading.text == FRENCH
    assert found.gold.shape == found.reading.matrix("words").shape
    assert found.gold[2, 3] == 2 and found.gold[4, 3] == 2 and not found.gold[-1].any()
    assert (found.gold == 2).sum() == len(pair.sure)
    weights = found.reading.matrix("words")
    before = {(int(row[1:].argmax()), place) for place, row in enumerate(weights[:-1])}
    assert found.late_counts.proposed_and_sure == len(before & pair.sure)
    assert 0 <= found.counts.error_rate <= 1
    assert gold.pair_of("No such pair.") is None
    assert len(gold.pairs()) >= 40


def test_stored_error_rates_come_from_the_manifest(assets: Path) -> None:
    import json

    path = assets / "manifest.json"
    before = path.read_text()
    told = json.loads(before)
    told["systems"]["luong"]["metrics"] = {"alignment_error_rate": {"examples": 0.25}}
    path.write_text(json.dumps(told))
    try:
        assert gold.stored("luong") == {"examples": 0.25}
        assert gold.stored("rnn_search") == {}
    finally:
        path.write_text(before)


@pytest.mark.parametrize("panel", ["decision", "order", "swap", "force", "move", "gold"])
@each_system
def test_the_python_lines_run_and_give_the_numbers_of_the_page(code: str, panel: str) -> None:
    one = read(ask(code))
    recipe = Recipe(
        one.ask.choice, SENTENCE, panel=panel, t=2, rows=(1,), bias=3.0, swapped="Thank you.", gold=(SENTENCE, FRENCH)
    )  # fmt: skip
    names, printed = run_lines(python_lines(recipe))
    assert printed[0] == one.text
    assert names["weights"].numpy() == pytest.approx(one.weights, abs=1e-4)
    if panel == "force":
        assert printed[-1] == change.force(one, 2, [1], 3.0).after.text
    if panel == "move" and move.movable(one):
        moved = move.movement(one, 2, 0.05, 0)
        assert names["moved"].adversarial.js == pytest.approx(moved.adversarial.js, abs=1e-3)
    if panel == "gold":
        pair = gold.pair_of(SENTENCE)
        assert pair is not None
        assert float(printed[-1]) == pytest.approx(gold.compare(one.ask, pair).counts.error_rate)


def test_the_python_lines_repeat_a_forced_target_a_beam_and_a_head() -> None:
    forced = Recipe(ask("heads-global").choice, SENTENCE, "forced", forced=FRENCH, layer=1, head=2)
    names, printed = run_lines(python_lines(forced))
    assert printed[0] == FRENCH
    expected = read(ask("heads-global", decoding="forced", forced=FRENCH, layer=1, head=2))
    assert names["weights"].numpy() == pytest.approx(expected.weights, abs=1e-4)
    beam = Recipe(ask("additive-global").choice, SENTENCE, "beam", beam=3)
    assert run_lines(python_lines(beam))[1][0] == read(ask("additive-global", decoding="beam", beam=3)).text


def run_lines(text: str) -> tuple[dict, list[str]]:
    """Names and printed lines that executing `text` leaves."""
    names: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "lines", "exec"), names)
    return names, printed.getvalue().splitlines()
