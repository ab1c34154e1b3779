"""Differences against a pinned run, the four answers, stored figures, and exports that give the numbers again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from app.experiments import difference, home, home_export
from app.experiments.difference import compare, counterparts, segments
from app.experiments.home import Look
from app.experiments.run import Axis, SentenceRun, run
from app.ui.export import to_json
from models.execution import checkpoints
from tests.app.toys import SLUGS, shared_assets, using

SENTENCE = "The report was not convincing."
PLAIN = "The report was convincing."
words = some.lists(some.sampled_from(["le", "rapport", "n'", "est", "pas", "bon", "!", "été"]), max_size=8)


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = shared_assets(tmp_path_factory)
    with using(folder):
        yield folder


def kinds(before: str, now: str) -> list[tuple[str, str]]:
    return [(one.text, one.kind) for one in segments(before, now)]


def test_segments_name_what_came_and_what_went() -> None:
    plain, negated = "Le rapport était convaincant.", "Le rapport n'était pas convaincant."
    assert kinds(plain, negated) == [
        ("Le rapport", "same"), (" n'", "inserted"), ("était", "same"), (" pas", "inserted"), (" convaincant.", "same"),
    ]  # fmt: skip
    assert kinds(negated, plain) == [
        ("Le rapport", "same"), (" n'", "removed"), (" était", "same"), (" pas", "removed"), (" convaincant.", "same"),
    ]  # fmt: skip
    assert kinds("Un bon rapport.", "Un mauvais rapport.")[1:3] == [
        (" bon", "removed"),
        (" mauvais", "changed"),
    ]
    assert [one.words for one in segments(plain, negated)] == [2, 1, 1, 1, 2]


@given(words, words)
def test_segments_hold_both_texts_whole(first: list[str], second: list[str]) -> None:
    before, now = " ".join(first), " ".join(second)
    found = segments(before, now)
    assert "".join(one.text for one in found if one.kind != "removed") == now
    assert "".join(one.text for one in found if one.kind in ("same", "removed")).split() or not before
    assert {one.kind for one in found} <= (
        {"same"} if before == now else {"same", "changed", "inserted", "removed"}
    )


@given(words, words)
def test_counterparts_point_forward_and_at_equal_or_replaced_words(
    first: list[str], second: list[str]
) -> None:
    found = counterparts(first, second)
    places = [place for place in found if place is not None]
    assert places == sorted(set(places))
    same = difference.matched(first, second)
    assert all(
        first[place] == word
        for place, word, kept in zip(found, second, same, strict=True)
        if kept and place is not None
    )
    assert counterparts(second, second) == list(range(len(second)))


def test_a_run_against_itself_has_no_difference(assets: Path) -> None:
    now = run("rnn_search", SENTENCE)
    found = compare(now, now)
    assert not found.rows.any()
    assert found.cells is not None and not found.cells.any()
    assert found.moves == ()
    assert home.told(found) == "Words: none." or home.told(found).startswith("Every word is the same.")


def made(
    text: str, weights: list[list[float]], target: list[str], source: list[str], now: SentenceRun
) -> SentenceRun:
    """`now` with other words (one piece each) and weights."""

    def axis(labels: list[str]) -> Axis:
        return Axis(
            tuple(range(len(labels))), tuple(labels), tuple((w, i, i + 1) for i, w in enumerate(labels))
        )

    return replace(
        now, text=text, weights=np.array(weights), target=axis(target), source=axis(source), heads=None
    )


def test_the_cells_that_moved_most_are_marked(assets: Path) -> None:
    base = run("rnn_search", SENTENCE)
    before = made("a b", [[0.9, 0.1], [0.2, 0.8]], ["a", "b"], ["x", "y"], base)
    now = made(
        "a b c",
        [[0.5, 0.45, 0.05], [0.2, 0.05, 0.75], [0.3, 0.4, 0.3]],
        ["a", "b", "c"],
        ["x", "new", "y"],
        base,
    )
    found = compare(before, now)
    assert found.rows.tolist() == [False, False, True]
    assert found.cells is not None
    assert found.cells.tolist() == [[True, True, False], [False, False, False], [False, False, False]]
    first = found.moves[0]
    assert (first.target, first.source, first.before, first.now) == ("a", "new", 0.0, 0.45)
    assert "3 changed" not in home.told(found) and "1 inserted" in home.told(found)
    assert "a ← new, 0.00 before, 0.45 now" in home.told(found)


def test_at_most_twelve_cells_are_marked(assets: Path) -> None:
    base = run("rnn_search", SENTENCE)
    labels = [f"w{i}" for i in range(10)]
    before = made("", np.eye(10).tolist(), labels, labels, base)
    now = made("", np.fliplr(np.eye(10)).tolist(), labels, labels, base)
    found = compare(before, now)
    assert found.cells is not None and found.cells.sum() == difference.MOST == len(found.moves)


def test_two_systems_are_not_compared(assets: Path) -> None:
    with pytest.raises(ValueError, match="two systems"):
        compare(run("rnn_search", SENTENCE), run("transformer", SENTENCE))


def test_the_pinned_sentence_marks_the_negation(assets: Path) -> None:
    now, before = run("rnn_search", SENTENCE), run("rnn_search", PLAIN)
    found = compare(before, now)
    marked = [word for word, new in zip(now.target.labels("words"), found.rows, strict=True) if new]
    assert "pas" in marked and "rapport" not in marked
    assert home.told(found).startswith("Words: 2 inserted.")
    assert found.cells is not None and found.cells.shape == now.matrix("words").shape  # pyright: ignore[reportOptionalMemberAccess]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_four_answers_are_those_of_the_run(slug: str, assets: Path) -> None:
    found = run(slug, SENTENCE)
    told = home.answers(found)
    assert [one.question for one in told] == ["State", "Graph", "Schedule", "Runtime"]
    assert told[0].value == home.size(found.answers.state_bytes)
    assert told[2].value == f"{found.answers.encode_steps} + {len(found.target.ids)}"
    assert told[3].value == home.milliseconds(found.answers.step_ms)
    assert told[1].value.startswith("0 of") == (found.weights is None)


def test_what_crosses_without_attention_is_the_summary_alone(assets: Path) -> None:
    found = home.crossing(run("rnn_encoder_decoder", SENTENCE))
    assert [(one.name, one.symbol, one.shape, one.nbytes) for one in found] == [
        ("summary", "c", (1, 32), 128)
    ]


def test_the_picture_says_which_weights_it_shows(assets: Path) -> None:
    found = run("transformer", SENTENCE)
    assert home.picture_title(found, Look()) == "Cross attention, layer 2 of 2, mean of 3 heads"
    assert home.picture_title(found, Look(layer=1, head=3)) == "Cross attention, layer 1 of 2, head 3 of 3"
    assert home.picture_title(run("rnn_search", SENTENCE), Look(layer=1)) == "Alignment weights"


def test_the_heads_on_offer_are_those_of_the_checkpoint(assets: Path) -> None:
    assert home.head_shape("transformer") == (2, 3)
    assert home.head_shape("rnn_search") is None
    assert home.head_shape("luong_concat") is None


def test_figures_have_a_row_for_every_system_and_only_measured_numbers(tmp_path: Path) -> None:
    metrics = {
        "bleu_greedy": 42.1, "bleu_beam4": 43.0, "chrf_greedy": 60.0, "chrf_beam4": 61.0, "test_sentences": 2000,
        "story": {"negation_kept": 0.975}, "alignment_error_rate": {"story": 0.12, "examples": 0.2},
    }  # fmt: skip
    entry = {"parameters": 4, "metrics": metrics}
    manifest = tmp_path / "manifest.json"
    manifest.write_text(
        json.dumps({"version": 1, "systems": {"rnn_search": entry, "luong": {"parameters": 5}}})
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "MANIFEST", manifest)
        rows = {row["slug"]: row for row in home.figures()}
        assert "2,000 sentences" in home.figures_caption()
    assert list(rows) == [item.slug for item in home.TRANSLATORS]
    assert rows["rnn_search"]["BLEU greedy"] == 42.1
    assert rows["rnn_search"]["Negation kept"] == 97.5
    assert rows["rnn_search"]["AER stories"] == 12.0
    assert rows["luong"]["BLEU greedy"] is None and rows["luong"]["Parameters"] == 5
    assert rows["transformer"]["Parameters"] is None


def weights_of(found: SentenceRun, look: Look) -> np.ndarray:
    weights = found.matrix(look.show, **look.place)
    assert weights is not None
    return weights


def executed(lines: str) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    exec(lines, scope)
    return scope


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("sentence", [SENTENCE, 'He said "no\\n" {x}', "It's <b>fine</b> 🍎"])
def test_the_exported_lines_run_and_give_the_same_numbers(
    beam: int, sentence: str, assets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run(slug, sentence, beam=beam) for slug in SLUGS]
    look = Look("pieces", layer=1, head=2)
    scope = executed(home_export.python_lines(sentence, beam, SLUGS, look))
    for one in runs:
        told = scope["found"][one.slug]
        assert told.text == one.text
        np.testing.assert_allclose(np.exp(told.log_probs), one.probabilities, atol=1e-3)
        if one.weights is not None:
            np.testing.assert_allclose(told.alignment, one.weights, atol=1e-5)
    np.testing.assert_allclose(scope["weights"], weights_of(runs[-1], look), atol=1e-5)
    assert runs[0].text in capsys.readouterr().out


def test_the_exported_lines_import_models_alone() -> None:
    lines = home_export.python_lines(SENTENCE, 1, ["rnn_search"], Look())
    assert "app" not in lines
    assert "transformer" not in lines
    assert sys.modules["models"]


def test_tables_and_numbers_hold_every_token_weight_tensor_and_check(assets: Path) -> None:
    runs = [run(slug, SENTENCE) for slug in SLUGS]
    tables = home_export.tables(runs, Look())
    assert list(tables) == ["Outputs", "Alignments", "States", "Checks"]
    assert len(tables["Outputs"]) == sum(len(one.target.ids) for one in runs)
    assert len(tables["Checks"]) == sum(len(one.checks) for one in runs)
    mine = tables["Alignments"].query("system == 'rnn_search'")
    shown = weights_of(runs[1], Look())
    np.testing.assert_allclose(mine["weight"].to_numpy().reshape(shown.shape), shown)
    numbers = json.loads(to_json(home_export.numbers(SENTENCE, 1, runs, Look())))
    assert numbers["systems"]["transformer"]["text"] == runs[-1].text
    assert numbers["systems"]["rnn_encoder_decoder"]["weights_over_pieces"] is None
    assert home_export.tables(runs[:1], Look()).keys() == {"Outputs", "States", "Checks"}


@pytest.mark.parametrize(("count", "told"), [(12, "12 B"), (1536, "1.5 kB"), (2_345_678, "2.35 MB")])
def test_bytes_are_told_in_decimal_units(count: int, told: str) -> None:
    assert home.size(count) == told
