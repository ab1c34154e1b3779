"""Page furniture: whatever goes in comes out as text."""

from __future__ import annotations

from app import catalog
from app.ui.markup import Answer, Check, checks, explanation, four_answers, heading, output, worst

EVIL = '<script>alert("x")</script>'


def test_nothing_passes_as_markup() -> None:
    made = (
        checks([Check(EVIL, True, EVIL, EVIL)])
        + four_answers([Answer("State", EVIL, EVIL)])
        + output(EVIL)
        + explanation(EVIL, EVIL)
    )
    assert "<script" not in made
    assert made.count("&lt;script&gt;") == 8


def test_a_failed_check_differs_by_sign_word_and_class() -> None:
    good, bad = checks([Check("rows sum to 1", True)]), checks([Check("rows sum to 1", False)])
    assert ("✓" in good, "holds" in good, 'class="ok"' in good) == (True, True, True)
    assert ("✗" in bad, "fails" in bad, 'class="bad"' in bad) == (True, True, True)


def test_an_empty_output_says_so() -> None:
    assert "(no words)" in output("")


def test_the_heading_names_lab_section_and_question() -> None:
    lab = catalog.lab("alignment")
    made = heading(lab)
    assert lab.title in made
    assert lab.section in made
    assert lab.question in made


def test_an_exact_zero_is_not_written_beside_a_check() -> None:
    assert (worst(0.0), worst(6.2e-8), worst(8.0)) == ("", "6e-08", "8")
