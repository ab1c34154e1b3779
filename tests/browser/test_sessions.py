"""Visitors at the same time: nobody sees another's sentence, and nobody waits for another's heavy work.

The sessions speak Streamlit's websocket protocol without a browser (tests/benchmarks/visitor.py), all on one server.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import numpy as np
import pytest

import models
from app.experiments.alignment.options import TRAINED, available
from models.interactive import Translation
from tests.benchmarks.visitor import Run, Visitor, visit
from tests.browser.harness import Server

SENTENCES = [
    "The report was convincing.",
    "The report was not convincing.",
    "I don't like black coffee.",
    "Thank you.",
    "She has read the new book because it was short.",
]
HEAVY = "The evidence in the long report was not convincing."
BOX = "alignment.sentence"
MAP, STRIP = "alignment.first.map", "alignment.first.strip"
T = TypeVar("T")
PATIENCE = 240  # seconds; the first visitor of a new server waits for the models


@pytest.fixture(scope="module")
def slug() -> str:
    """The first trained system that aligns, in catalog order."""
    return available()[0]


@pytest.fixture(scope="module")
def expected(slug: str) -> dict[str, Translation]:
    """What the system itself says to each sentence, asked in this process."""
    translator = models.load(slug)
    return {sentence: translator.translate(sentence) for sentence in SENTENCES}


def numbers(packed: dict[str, Any], shape: tuple[int, int]) -> np.ndarray:
    """The values that a picture received (app/components/_payload.py), in full precision."""
    assert packed["type"] == "f4"
    return np.frombuffer(base64.b64decode(packed["b"]), dtype="<f4").reshape(shape)


def assert_shows(run: Run, translation: Translation) -> None:
    """The pictures of this run are those of this translation and of no other."""
    assert run.errors == []
    picture, strip = run.pictures[MAP], run.pictures[STRIP]["words"]
    assert picture["rows"] == translation.target_tokens
    assert picture["columns"] == translation.source_tokens
    weights = numbers(picture["weights"], (len(picture["rows"]), len(picture["columns"])))
    np.testing.assert_allclose(weights, np.asarray(translation.alignment), atol=1e-4)
    assert [one["text"] for one in strip] == translation.target_tokens
    np.testing.assert_allclose([one["log_prob"] for one in strip], translation.log_probs, atol=1e-3)


def in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on a thread of its own: Playwright's loop keeps the main thread once a browser test has run."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(asyncio.run, work).result()


async def editing(visitor: Visitor, number: int, together: asyncio.Barrier) -> list[tuple[str, Run]]:
    """Every sentence once, beginning at another one than the neighbours, each edit at the same moment as theirs."""
    seen = []
    for turn in range(len(SENTENCES)):
        sentence = SENTENCES[(number + turn) % len(SENTENCES)]
        await together.wait()
        seen.append((sentence, await visitor.run({BOX: sentence})))
    return seen


async def classroom(url: str, score: str) -> list[list[tuple[str, Run]]]:
    """As many visitors as sentences, all at once."""
    async with AsyncExitStack() as stack:
        link = {"v": "1", "sc": score, "w": "pieces"}
        opened = [visit(url, "alignment", **link) for _ in SENTENCES]
        visitors = [await stack.enter_async_context(one) for one in opened]
        await asyncio.wait_for(asyncio.gather(*(one.run() for one in visitors)), PATIENCE)
        together = asyncio.Barrier(len(visitors))
        work = [editing(one, number, together) for number, one in enumerate(visitors)]
        return await asyncio.wait_for(asyncio.gather(*work), PATIENCE)


def test_visitors_at_once_each_get_their_own_sentence(
    app_server: Server, slug: str, expected: dict[str, Translation]
) -> None:
    assert len({tuple(one.target_tokens) for one in expected.values()}) == len(SENTENCES)
    for seen in in_own_loop(classroom(app_server.url, TRAINED[slug].score)):
        assert [sentence for sentence, _ in seen] != []
        for sentence, run in seen:
            assert_shows(run, expected[sentence])


async def beside_heavy_work(url: str, score: str) -> tuple[list[Run], bool, Run]:
    """One visitor asks for the heaviest panel; the other edits meanwhile."""
    heavy_link = {"v": "1", "sc": score, "s": HEAVY, "p": "move", "ev": "1", "sd": "7"}
    async with (
        visit(url, "alignment", v="1", sc=score, w="pieces") as light,
        visit(url, "alignment", **heavy_link) as heavy,
    ):
        await asyncio.wait_for(light.run(), PATIENCE)
        work = asyncio.create_task(heavy.run())
        while MAP not in heavy.versions and not work.done():
            await asyncio.sleep(0.02)
        answers = [await asyncio.wait_for(light.run({BOX: one}), PATIENCE) for one in SENTENCES[:3]]
        still_working = not work.done()
        return answers, still_working, await asyncio.wait_for(work, PATIENCE)


def test_a_light_page_answers_while_another_works_hard(
    app_server: Server, slug: str, expected: dict[str, Translation]
) -> None:
    answers, still_working, heavy = in_own_loop(beside_heavy_work(app_server.url, TRAINED[slug].score))
    assert still_working, "the heavy page was done before three edits were answered"
    assert heavy.errors == []
    for sentence, run in zip(SENTENCES, answers, strict=False):
        assert_shows(run, expected[sentence])
