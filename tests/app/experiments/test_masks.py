"""Painted relations on the real models: the text in a link, the rows they give, weights, leaks and reach."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from app.experiments.masks import grids, leak, options, reach, relations, run
from app.experiments.masks.request import Ask, Refused, Request, request
from app.ui.url import LONGEST
from models.catalog import SYSTEMS
from models.interface import Masked
from models.layers.visibility import EmptyRowError

SENTENCE = "The report was not convincing."
HERE = options.available()
GENERATING = [slug for slug in HERE if options.translates(slug)]


@cache
def asked(slug: str) -> Request:
    return request(Ask(slug, SENTENCE))


def target_grid(slug: str) -> str:
    return "stream" if "stream" in asked(slug).own else "target_self"


def future(found: Request) -> np.ndarray:
    """The own relation of the target's rows with one future cell open: row 2 of the target reads row 5."""
    name = "stream" if "stream" in found.own else "target_self"
    mask = found.own[name].copy()
    first = len(found.source) if name == "stream" else 0
    assert not mask[first + 1, first + 4]
    mask[first + 1, first + 4] = True
    return mask


# ---- the link


@given(arrays.arrays(bool, some.tuples(some.integers(1, 40), some.integers(1, 40))))
def test_a_matrix_survives_the_link(mask: np.ndarray) -> None:
    code = grids.pack(mask)
    assert np.array_equal(grids.unpack(code), mask)
    text = grids.write({0: code, 3: "full"})
    assert grids.parse(text) == {0: code, 3: "full"}


def test_a_32_by_32_matrix_fits_a_link_even_for_six_layers() -> None:
    mask = np.random.default_rng(1).random((32, 32)) > 0.5
    assert len(grids.pack(mask)) == 6 + 171
    layers = {n: grids.pack(np.random.default_rng(n).random((32, 32)) > 0.5) for n in range(7)}
    assert len(grids.write(layers)) < LONGEST


@pytest.mark.parametrize(
    "text",
    [
        "3x3.AAAA", "3x3.", "41x2.AAAA", "0x3.AA", "99:full", "0:full", "x:full", "prefix", "prefix.100", "window.-1",
        "full.3", "own", "full,", "3x3.A$==", "²x3.AAA", "<script>", "1:", "٣:full", "12345678901234567890:full",
    ],
)  # fmt: skip
def test_a_bad_text_is_told_in_a_phrase(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(has|is|names) "):
        grids.parse(text)


def test_painting_all_layers_replaces_what_single_ones_had() -> None:
    painted = grids.put(grids.put({}, 0, "full"), 2, "causal")
    assert grids.at(painted, 2) == "causal" and grids.at(painted, 1) == "full"
    assert grids.put(painted, 0, "window.1") == {0: "window.1"}
    assert grids.put(painted, 2, None) == {0: "full"}


# ---- the relations


def test_every_masked_system_is_a_family_and_no_other() -> None:
    masked = [item.slug for item in SYSTEMS if issubclass(item.system_class(), Masked)]
    assert masked == list(options.FAMILIES)


@pytest.mark.parametrize("slug", HERE)
def test_a_family_has_one_grid_or_three(slug: str) -> None:
    found = asked(slug)
    assert set(found.own) in ({"stream"}, {"source_self"}, {"source_self", "target_self", "cross"})
    for name, own in found.own.items():
        rows, columns = found.labels(name)
        assert own.shape == (len(rows), len(columns))


def test_presets_are_the_relations_of_the_article() -> None:
    found = asked("gpt")
    rows = len(found.labels("stream")[0])
    index = np.arange(rows)
    row, column = index[:, None], index
    expected = {
        "full": np.ones((rows, rows), bool),
        "causal": column <= row,
        "prefix.4": (column < 4) | (column <= row),
        "window.2": abs(row - column) <= 2,
        "padding.3": (column <= row) & (column < rows - 3),
    }
    for code, mask in expected.items():
        used = relations.relations(found, (("stream", code),)).used["stream"]
        assert used.shape[0] == found.layers
        assert (used == mask).all(), code


def test_the_cross_grid_has_its_own_presets() -> None:
    found = asked("transformer")
    shape = found.own["cross"].shape
    for code, count in {"full": shape[0] * shape[1], "padding.2": shape[0] * (shape[1] - 2)}.items():
        assert relations.relations(found, (("cross", code),)).used["cross"][0].sum() == count
    triangle = relations.relations(found, (("cross", "causal"),)).used["cross"][0]
    assert np.array_equal(triangle, np.tri(*shape, dtype=bool))


def test_a_matrix_for_other_tokens_is_told_and_left_out() -> None:
    found = relations.relations(asked("gpt"), (("stream", grids.pack(np.ones((3, 3), bool))),))
    assert not found.changed
    assert found.told == (
        "The painted relation is 3×3, and these tokens give 15×15, so the model's own stream relation is used.",
    )


def test_one_layer_can_be_painted_alone() -> None:
    found = relations.relations(asked("gpt"), (("stream", "2:full"),))
    assert found.used["stream"][1].all() and not found.used["stream"][0].all()
    assert np.array_equal(found.everywhere["stream"], asked("gpt").own["stream"])


def test_a_sentence_that_fits_no_grid_is_refused_with_a_sentence() -> None:
    with pytest.raises(Refused, match="at most 28 fit"):
        request(Ask("gpt", "report " * 40))


# ---- the run


@pytest.mark.parametrize("slug", HERE)
def test_the_own_relation_painted_by_hand_changes_nothing(slug: str) -> None:
    found = asked(slug)
    same = tuple((name, grids.pack(own)) for name, own in found.own.items())
    one = run.run(found, relations.relations(found, same), "error")
    assert one.distance.max() == 0 and all(check.passed for check in one.checks)


@pytest.mark.parametrize("slug", HERE)
def test_another_relation_moves_decisions_and_leaves_the_weights_alone(slug: str) -> None:
    found, before = asked(slug), run.fingerprint(slug)
    made = relations.relations(found, tuple((name, "window.1") for name in found.own))
    one = run.run(found, made, "error")
    assert one.distance.max() > 0.1
    assert all(check.passed for check in one.checks)
    assert all((one.weights[name][:, :, ~made.used[name][0]] == 0).all() for name in found.own)
    assert run.untouched(slug, before).passed
    top = one.moves[int(one.distance.argmax())]
    sizes = [abs(move.after - move.before) for move in top]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 0.05


@pytest.mark.parametrize("slug", GENERATING)
def test_the_leak_test_is_green_under_the_own_relation_and_red_for_one_open_cell(slug: str) -> None:
    found = asked(slug)
    own = leak.leak(found, relations.relations(found, ()), "error")
    assert own is not None and own.check.passed and own.worst < 1e-4
    opened = relations.relations(found, ((target_grid(slug), grids.pack(future(found))),))
    broken = leak.leak(found, opened, "error")
    assert broken is not None and broken.leaks
    assert (broken.row, broken.token) == (1, 4) or broken.rows[0] == 1
    assert broken.worst > 0.01


@pytest.mark.parametrize("slug", GENERATING)
def test_a_full_relation_is_a_large_leak(slug: str) -> None:
    found = asked(slug)
    made = leak.leak(found, relations.relations(found, ((target_grid(slug), "full"),)), "error")
    assert made is not None and made.worst > 3
    assert made.rows == tuple(range(len(found.target) - 1))


@pytest.mark.parametrize("slug", HERE)
@pytest.mark.parametrize("code", [None, "window.1", "full"])
def test_measured_influence_stays_inside_what_is_reachable(slug: str, code: str | None) -> None:
    found = asked(slug)
    chosen = () if code is None else tuple((name, code) for name in found.own)
    made = reach.reached(found, relations.relations(found, chosen), "error")
    assert made.allowed.shape == made.measured.shape == (len(found.decisions), len(found.inputs))
    assert made.fault.max() == 0
    assert (made.measured[made.allowed] > 0).mean() > 0.9


def test_a_window_widens_with_the_layers() -> None:
    found = asked("gpt")
    made = relations.relations(found, (("stream", "window.1"),))
    index = np.arange(len(found.inputs))
    expected = abs(index[:, None] - index) <= found.layers
    assert np.array_equal(reach.allowed(found, made), expected[len(found.source) :])


def test_a_row_that_may_read_nothing_is_named_or_outputs_zero() -> None:
    found = asked("gpt")
    mask = found.own["stream"].copy()
    mask[9] = False
    made = relations.relations(found, (("stream", grids.pack(mask)),))
    assert {(one.relation, one.row) for one in made.empty} == {("stream", 9)} and len(
        made.empty
    ) == found.layers
    with pytest.raises(EmptyRowError, match="9"):
        run.run(found, made, "error")
    one = run.run(found, made, "zero")
    assert all(check.passed for check in one.checks)
    assert (one.weights["stream"][:, :, 9] == 0).all()


def test_french_that_is_too_long_for_the_grid_is_cut_and_told() -> None:
    found = request(Ask("gpt", SENTENCE, "merci " * 60))
    assert len(found.source) + len(found.target) == grids.MOST_SIDE
    assert "the first 33 fit" in found.note
