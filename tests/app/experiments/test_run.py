"""One run of one system: it says what `models` says, its matrices are the trace's, and its checks can fail."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import models
from app.experiments.run import SentenceRun, run
from models.analysis import invariants
from tests.app.toys import SLUGS, flip_a_byte, shared_assets, using

SENTENCE = "The report was not convincing."
each_system = pytest.mark.parametrize("slug", SLUGS)


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = shared_assets(tmp_path_factory)
    with using(folder):
        yield folder


@each_system
@pytest.mark.parametrize("beam", [1, 4])
def test_a_run_is_the_translation_of_models(slug: str, beam: int, assets: Path) -> None:
    found = run(slug, SENTENCE, beam=beam)
    told = models.load(slug).translate(SENTENCE, beam=beam)
    assert found.text == told.text
    assert list(found.target.pieces) == told.target_tokens
    assert list(found.source.pieces) == told.source_tokens
    assert found.ended == told.ended
    np.testing.assert_allclose(np.log(found.probabilities), told.log_probs, atol=1e-3)
    assert (found.weights is None) == (told.alignment is None)
    if found.weights is not None and told.alignment is not None:
        np.testing.assert_allclose(found.weights, told.alignment, atol=1e-5)


@each_system
def test_every_check_of_a_run_holds(slug: str, assets: Path) -> None:
    found = run(slug, SENTENCE)
    assert [one.label for one in found.checks if not one.passed] == []
    assert {"step = score", "future changes nothing", "padding changes nothing"} <= {
        c.label for c in found.checks
    }


def test_a_check_that_does_not_hold_is_red(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariants, "disturbances", lambda *_: (0.5, 0.0))
    red = [one for one in run("rnn_search", SENTENCE).checks if not one.passed]
    assert [(one.label, one.value) for one in red] == [("future changes nothing", 0.5)]


def test_a_forced_target_is_followed(assets: Path) -> None:
    found = run("rnn_search", SENTENCE, forced="Merci.")
    assert found.text == "Merci."
    assert found.target.pieces[-1] == "EOS"


def test_words_group_pieces_and_keep_the_mass(assets: Path) -> None:
    found = run("rnn_search", SENTENCE)
    shown = found.matrix("words")
    assert shown is not None
    assert shown.shape == (len(found.target.labels("words")), len(found.source.labels("words")))
    np.testing.assert_allclose(shown.sum(axis=1), 1, atol=1e-5)
    assert found.matrix("pieces") is found.weights


def test_a_transformer_has_a_matrix_for_each_layer_and_head(assets: Path) -> None:
    found = run("transformer", SENTENCE)
    assert found.heads is not None
    assert found.heads.shape == (2, 3, len(found.target.ids), len(found.source.ids))
    assert found.weights is not None
    np.testing.assert_allclose(found.heads[-1].mean(axis=0), found.weights, atol=1e-6)
    np.testing.assert_array_equal(found.read(), found.heads[-1].mean(axis=0))  # pyright: ignore[reportArgumentType]
    np.testing.assert_array_equal(found.read(0, 2), found.heads[0, 2])  # pyright: ignore[reportArgumentType]
    assert not np.allclose(found.heads[0, 2], found.heads[1].mean(axis=0))
    # chosen for a system with more of them
    np.testing.assert_array_equal(found.read(7, 9), found.read())  # pyright: ignore[reportArgumentType]
    translator = models.load("transformer")
    scored, _ = translator.forced(list(found.source.ids), list(found.target.ids))
    np.testing.assert_allclose(found.heads[1, 1], scored.trace.cross[1].weights[0, 1].numpy(), atol=1e-5)


def test_rows_outside_a_window_are_masked_and_weigh_nothing(assets: Path) -> None:
    found = run("luong_local_m", "The report was not convincing. Thank you. The proposal was accepted.")
    masked, weights = found.masked("pieces"), found.matrix("pieces")
    assert masked is not None and weights is not None
    assert masked.any() and not masked.all()
    assert weights[masked].max() == 0
    words = found.masked("words")
    assert words is not None and words.shape == found.matrix("words").shape  # pyright: ignore[reportOptionalMemberAccess]
    assert run("rnn_search", SENTENCE).masked("words") is None


def test_answers_count_bytes_rows_and_steps_of_the_run(assets: Path) -> None:
    fixed, additive, transformer = (
        run(slug, SENTENCE) for slug in ("rnn_encoder_decoder", "rnn_search", "transformer")
    )
    for found in (fixed, additive, transformer):
        assert found.answers.state_bytes == sum(one.nbytes for one in found.answers.state)
        assert found.answers.decode_steps == len(found.target.ids)
        assert min(found.answers.read_ms, found.answers.step_ms, found.answers.score_ms) > 0
    assert fixed.answers.readable_rows == ()
    assert set(additive.answers.readable_rows) == {len(additive.source.ids)}
    assert additive.answers.state_bytes_after == additive.answers.state_bytes
    assert (
        grown(transformer) == len(transformer.target.ids) * 2 * 2 * 24 * 4
    )  # layers, key and value, d_model, float32


def grown(found: SentenceRun) -> int:
    return found.answers.state_bytes_after - found.answers.state_bytes


def test_a_damaged_or_missing_checkpoint_says_which(assets: Path, tmp_path: Path) -> None:
    shutil.copytree(assets, tmp_path / "assets")
    checkpoints = tmp_path / "assets/checkpoints"
    flip_a_byte(checkpoints / "rnn_search/weights.safetensors")
    (checkpoints / "transformer/weights.safetensors").unlink()
    with using(tmp_path / "assets"):
        with pytest.raises(models.CheckpointError, match="RNNsearch is damaged") as damaged:
            run("rnn_search", SENTENCE)
        with pytest.raises(models.CheckpointError, match="Transformer is missing"):
            run("transformer", SENTENCE)
        assert damaged.value.sentence == str(damaged.value)
        assert run("rnn_encoder_decoder", SENTENCE).text


@pytest.mark.parametrize("sentence", ["", "   "])
def test_nothing_to_translate_is_said_in_a_sentence(sentence: str, assets: Path) -> None:
    with pytest.raises(ValueError, match="Type an English sentence"):
        run("rnn_search", sentence)
