"""The catalog of labs is complete, and importing it is light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app import catalog

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("lab", catalog.LABS, ids=lambda lab: lab.slug)
def test_a_lab_has_its_page_and_says_what_it_shows_and_does_not(lab: catalog.Lab) -> None:
    page = ROOT / "app" / lab.page
    assert page.read_text(encoding="utf-8").startswith('"""')
    assert lab.question.endswith("?")
    assert all(text.endswith(".") for text in (lab.shows, lab.shows_not, lab.summary))
    assert lab.section.startswith("article 0x")


def test_every_page_is_in_the_catalog_once() -> None:
    pages = [lab.page for lab in catalog.LABS]
    there = [f"labs/{path.name}" for path in (ROOT / "app/labs").glob("*.py") if path.name != "__init__.py"]
    assert sorted(pages) == sorted(there)
    assert len({lab.slug for lab in catalog.LABS}) == len(catalog.LABS)


def test_groups_hold_every_lab_in_order() -> None:
    assert [lab for labs in catalog.groups().values() for lab in labs] == list(catalog.LABS)


def test_an_unknown_lab_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        catalog.lab("nowhere")


@pytest.mark.parametrize(
    "module", ["app.catalog", "app.ui.colours", "app.ui.url", "app.ui.sentence", "app.ui.markup"]
)
def test_light_modules_import_neither_torch_nor_streamlit(module: str) -> None:
    code = f"import sys, {module}; print([m for m in ('torch', 'streamlit') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
