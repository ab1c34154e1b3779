"""Small aligning systems for the tests of the Alignment page, made once a test session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.toys import make_assets

ALIGNING = ("rnn_search", "luong", "luong_concat", "luong_local_p", "transformer")
SENTENCE = "The report was not convincing."


def alignment_assets(factory: pytest.TempPathFactory) -> Path:
    """An assets folder with ALIGNING. Copy it before damaging anything."""
    folder = factory.getbasetemp() / "alignment_toys"
    return folder if folder.exists() else make_assets(folder, ALIGNING)
