"""Links: whatever comes in, settings come out; whatever settings go out, they come back."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from app.ui.url import (
    VERSION,
    choice,
    choices,
    decode,
    encode,
    fits,
    flag,
    kinds,
    real,
    text,
    whole,
    wholes,
)

SLUGS = ("rnn_search", "luong", "transformer")


@dataclass(frozen=True)
class Settings:
    sentence: str = text("s", default="The report was not convincing.", limit=200)
    system: str = choice("y", SLUGS, default="rnn_search")
    systems: tuple[str, ...] = choices("m", lambda: SLUGS, default=("rnn_search",), most=3)
    beam: int = whole("b", 1, 8, default=1)
    step: int | None = whole("t", 0, 59, default=None)
    order: tuple[int, ...] = wholes("o", 0, 59, most=60)
    temperature: float = real("T", 0.1, 4.0, default=1.0)
    feeding: bool = flag("f", default=True)


NAMES = some.sampled_from(["s", "y", "m", "b", "t", "o", "T", "f", "v", "present", "zz"])
VALID = some.builds(
    Settings,
    sentence=some.text(some.characters(exclude_categories=["Cs", "Cc"]), max_size=60),
    system=some.sampled_from(SLUGS),
    systems=some.lists(some.sampled_from(SLUGS), unique=True).map(tuple),
    beam=some.integers(1, 8),
    step=some.none() | some.integers(0, 59),
    order=some.lists(some.integers(0, 59), max_size=60).map(tuple),
    temperature=some.floats(0.1, 4.0).map(lambda value: round(value, 3)),
    feeding=some.booleans(),
)


@given(some.dictionaries(NAMES | some.text(max_size=5), some.text(max_size=300)))
@example({"b": "9" * 5000})
@example({"T": "nan"})
@example({"T": "inf", "b": "²", "t": "١", "o": ",,", "m": ","})
@example({"s": "\x00", "v": "2"})
def test_no_link_raises_and_every_result_is_valid(params: dict[str, str]) -> None:
    settings, problems = decode(Settings, params)
    assert decode(Settings, encode(settings))[0] == settings
    assert 1 <= settings.beam <= 8
    assert set(settings.systems) <= set(SLUGS)
    assert all(len(problem) < 90 for problem in problems)


@given(VALID)
def test_settings_survive_the_link(settings: Settings) -> None:
    settings = dataclasses.replace(settings, sentence=decode(Settings, {"s": settings.sentence})[0].sentence)
    found, problems = decode(Settings, encode(settings))
    assert (found, problems) == (settings, [])
    assert fits(settings)


def test_a_default_page_has_no_parameters() -> None:
    assert encode(Settings()) == {}


def test_only_what_differs_travels_and_the_version_leads() -> None:
    params = encode(Settings(beam=4, systems=("luong", "transformer")))
    assert list(params.items()) == [("v", VERSION), ("m", "luong,transformer"), ("b", "4")]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"b": "9"}, "beam is not a whole number from 1 to 8"),
        ({"b": "four"}, "beam is not a whole number from 1 to 8"),
        ({"y": "gpt9"}, "system names something this app does not have"),
        ({"m": "luong,gpt9"}, "systems names something this app does not have"),
        ({"T": "-3"}, "temperature is not a number from 0.1 to 4"),
        ({"f": "yes"}, "feeding is neither 0 nor 1"),
        ({"s": "x" * 201}, "sentence is longer than 200 characters"),
        ({"s": "a\x07b"}, "sentence has control characters"),
        ({"o": ",".join("1" * 61)}, "order has more than 60 parts"),
        ({"zz": "1"}, "it has parts that this page does not know"),
        ({"v": "7", "b": "4"}, "it was made by another version of this page"),
    ],
)
def test_a_broken_part_is_named_and_left_at_its_default(params: dict[str, str], said: str) -> None:
    assert decode(Settings, params) == (Settings(), [said])


def test_one_broken_part_costs_no_other() -> None:
    settings, problems = decode(Settings, {"b": "99", "y": "luong", "present": "1"})
    assert (settings.system, settings.beam, len(problems)) == ("luong", 1, 1)


def test_an_over_long_sentence_does_not_travel_and_is_known_not_to() -> None:
    settings = Settings(sentence="x" * 201, beam=2)
    assert encode(settings) == {"v": VERSION, "b": "2"}
    assert not fits(settings)


def _settings(**fields: Any) -> type:
    return dataclasses.make_dataclass("Bad", [(name, Any, one) for name, one in fields.items()], frozen=True)


@pytest.mark.parametrize(
    "fields",
    [
        {"a": text("s"), "b": text("s")},
        {"a": text("v")},
        {"a": text("present")},
        {"a": field(default=1)},
    ],
)
def test_a_settings_class_that_cannot_travel_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="unreserved name"):
        kinds(_settings(**fields))
