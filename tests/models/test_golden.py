"""No case of the golden folder is left lying unused, and none is damaged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.models.golden import GOLDEN, article, case, names

SOURCES = "\n".join(p.read_text(encoding="utf-8") for p in Path(__file__).parent.rglob("test_*.py"))
SECTIONS = (
    "0x02E", "0x03B", "0x03D", "0x04C", "0x04D", "0x04I", "0x05B", "0x05C", "0x05F", "0x07F", "0x07G",
    "0x07H", "0x0C.2",
)  # fmt: skip
PREFIXES = [*re.findall(r'names\("([^"]+)"\)', SOURCES), *re.findall(r'case\("([^"]+)"\)', SOURCES)]


@pytest.mark.parametrize("name", [n for prefix in ("01_", "02_", "03_", "06_") for n in names(prefix)])
def test_a_case_is_reproduced_somewhere_and_says_where_it_is_from(name: str) -> None:
    assert any(name.startswith(prefix) for prefix in PREFIXES)
    meta = case(name).meta
    assert meta["source"]
    assert meta["licence"]
    assert 0 < case(name).atol <= 1e-5


def test_cases_of_the_issue_are_all_here() -> None:
    counts = {prefix: len(names(prefix)) for prefix in ("01_", "02_", "03_", "06_")}
    assert counts == {"01_": 12, "02_": 16, "03_": 11, "06_": 4}


@pytest.mark.parametrize("name", sorted(article()))
def test_a_number_of_the_article_is_reproduced_somewhere(name: str) -> None:
    stem = re.sub(r"\d(?=$|_sums)", "{t}", name)  # some are named by their step
    assert f'"{name}"' in SOURCES or f'"{stem}"' in SOURCES
    assert article()[name]["section"] in SECTIONS


def test_golden_files_hold_no_code() -> None:
    assert {p.suffix for p in GOLDEN.rglob("*") if p.is_file()} <= {".json", ".safetensors"}
