"""State against length: what is weighed is the live state, and what grows is found, not declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.experiments.state_space import length
from app.experiments.state_space.length import Kept, Point, crossing_point, kept
from tests.models.conftest import assets as assets
from tests.models.conftest import untrained as untrained


def test_a_summary_does_not_grow_and_annotations_do(assets: Path) -> None:
    fixed, attention = kept("rnn_encoder_decoder", (16, 64)), kept("rnn_search", (16, 64))
    assert fixed.bytes_a_row == pytest.approx(0, abs=1e-6)
    assert not any(part.grows for part in fixed.parts)
    assert {part.name for part in attention.parts if part.grows} >= {"annotations"}
    sizes = {point.length: point.nbytes for point in attention.points}
    assert attention.bytes_a_row == pytest.approx((sizes[64] - sizes[16]) / 48)


def test_a_longer_table_of_positions_is_a_twin_that_says_so(assets: Path) -> None:
    short, long = kept("gpt", (16,)), kept("gpt", (16, 300))
    assert not short.random
    assert short.told == ""
    assert long.random
    assert long.told.startswith("Random weights")
    assert [p.length for p in long.points] == [16, 300]


def test_lengths_beyond_what_a_family_can_hold_are_left_out_with_a_sentence(
    assets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(length, "LIMITED", {"Transformer": 32})
    found = kept("transformer", (16, 32, 64))
    assert [p.length for p in found.points] == [16, 32]
    assert "Not run beyond 32 rows" in found.told


def test_two_lines_meet_where_their_bytes_agree() -> None:
    def line(start: int, slope: int) -> Kept:
        points = tuple(Point(n, start + slope * n, 0, 0, 0, 0) for n in (10, 20))
        return Kept("", "", "", points, (), False, "")

    assert crossing_point(line(1000, 0), line(0, 10)) == pytest.approx(100)
    assert crossing_point(line(1000, 0), line(0, 0)) is None
