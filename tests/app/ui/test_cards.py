"""Cards of systems that align nothing: what is left behind, and what stays readable."""

from __future__ import annotations

from app.ui import cards


def test_rows_that_stay_in_a_cache_are_not_said_to_be_left_behind() -> None:
    tensors = [("K", "keys, 6 layers", "1 × 8 × 6 × 24", "27,648 B")]
    kept = cards.crossing(["<b>"], 6, tensors, "55 kB", readable=True)
    left = cards.crossing(["<b>"], 6, tensors, "55 kB")
    assert "left behind" in left and "left behind" not in kept
    assert "No decision can read a source row" in left and "No decision can read" not in kept
    assert "keys and values" in kept
    assert "&lt;b&gt;" in kept and "<b></li>" not in kept
