"""Systems without an alignment of their own on the home page: what is said to cross, and what stays readable."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.experiments import home
from app.experiments.home import Look
from app.experiments.run import run
from tests.models.conftest import assets as assets
from tests.models.conftest import untrained as untrained

SENTENCE = "The report was not convincing."


@pytest.mark.parametrize("slug", ["gpt", "prefix_lm", "unilm"])
def test_a_stream_with_a_cache_keeps_every_row_readable(slug: str, assets: Path) -> None:
    found = run(slug, SENTENCE, max_length=6)
    rows = len(found.source.ids)
    assert found.weights is None
    assert found.visible is not None
    assert found.visible.shape == (len(found.target.ids), rows)
    assert set(found.answers.readable_rows) == {rows}
    crossed = home.crossing(found)
    assert [one.symbol for one in crossed] == ["mask", "K", "V"]
    assert sum(one.nbytes for one in crossed) == found.answers.state_bytes
    assert found.answers.state_bytes_after > found.answers.state_bytes
    assert all(one.passed for one in found.checks)


@pytest.mark.parametrize("slug", ["s4", "mamba"])
def test_a_state_space_leaves_the_rows_behind_and_stays_as_large(slug: str, assets: Path) -> None:
    found = run(slug, SENTENCE, max_length=6)
    assert found.weights is None
    assert found.visible is None
    assert found.answers.state_bytes == found.answers.state_bytes_after
    assert sum(one.nbytes for one in home.crossing(found)) == found.answers.state_bytes
    assert all(one.passed for one in found.checks)


def test_layers_of_one_head_are_shown_as_their_mean_until_one_is_chosen(assets: Path) -> None:
    found = run("convs2s", SENTENCE, max_length=6)
    assert found.heads is not None and found.weights is not None
    np.testing.assert_allclose(found.read(), found.heads.mean(axis=(0, 1)), atol=1e-6)  # type: ignore[arg-type]
    assert home.picture_title(found, Look()) == "Attention, mean of 2 layers"
    chosen = Look(layer=1)
    np.testing.assert_array_equal(found.read(**chosen.place), found.heads[0, 0])  # type: ignore[arg-type]
    assert home.picture_title(found, chosen) == "Attention of layer 1 of 2"
