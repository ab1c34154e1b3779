"""The whole state of a page as a short, versioned link, and back.

A lab declares each field of its frozen Settings once:

    @dataclass(frozen=True)
    class Settings:
        sentence: str = text("s", default=SENTENCE, limit=200)
        systems: tuple[str, ...] = choices("m", slugs, default=("rnn_search",), most=6)
        beam: int = whole("b", 1, 8, default=1)

`encode` writes only what differs from the defaults; `decode` never raises: a part that cannot be used is left at its
default and named in a list of short sentences. No Streamlit here; `app/ui/page.py` binds this to widgets.
"""

from __future__ import annotations

import dataclasses
import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

VERSION = "1"
RESERVED = frozenset({"v", "present", "embed", "embed_options"})
LONGEST = 2000  # characters of one parameter that are looked at

S = TypeVar("S")
Options = Sequence[str] | Callable[[], Sequence[str]]


class Unusable(ValueError):
    """A parameter's text is not a value of its field; the message completes "NAME ..."."""


@dataclass(frozen=True)
class Text:
    """Free text, at most `limit` characters, no control characters."""

    url: str
    limit: int

    def decode(self, raw: str) -> str:
        if len(raw) > self.limit:
            raise Unusable(f"is longer than {self.limit} characters")
        if any(unicodedata.category(c) in ("Cc", "Cs") for c in raw):
            raise Unusable("has control characters")
        return unicodedata.normalize("NFC", raw)

    def encode(self, value: str) -> str:
        self.decode(value)
        return value


@dataclass(frozen=True)
class Choice:
    """One of `options`."""

    url: str
    options: Options

    def decode(self, raw: str) -> str:
        if raw not in _known(self.options):
            raise Unusable("names something this app does not have")
        return raw

    def encode(self, value: str) -> str:
        return self.decode(value)


@dataclass(frozen=True)
class Choices:
    """Up to `most` different `options`, in the link's order, separated by commas."""

    url: str
    options: Options
    most: int

    def decode(self, raw: str) -> tuple[str, ...]:
        parts = tuple(dict.fromkeys(raw.split(","))) if raw else ()
        if len(parts) > self.most:
            raise Unusable(f"has more than {self.most} parts")
        if not set(parts) <= set(_known(self.options)):
            raise Unusable("names something this app does not have")
        return parts

    def encode(self, value: Sequence[str]) -> str:
        raw = ",".join(value)
        self.decode(raw)
        return raw


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`; None (where the default is None) stays out of the link."""

    url: str
    low: int
    high: int

    def decode(self, raw: str) -> int:
        if not _digits(raw) or not self.low <= int(raw) <= self.high:
            raise Unusable(f"is not a whole number from {self.low} to {self.high}")
        return int(raw)

    def encode(self, value: int) -> str:
        return str(self.decode(str(int(value))))


@dataclass(frozen=True)
class Wholes:
    """Up to `most` whole numbers from `low` to `high`, separated by commas."""

    url: str
    low: int
    high: int
    most: int

    def decode(self, raw: str) -> tuple[int, ...]:
        parts = raw.split(",") if raw else []
        if len(parts) > self.most:
            raise Unusable(f"has more than {self.most} parts")
        return tuple(Whole(self.url, self.low, self.high).decode(part) for part in parts)

    def encode(self, value: Sequence[int]) -> str:
        raw = ",".join(str(int(one)) for one in value)
        self.decode(raw)
        return raw


@dataclass(frozen=True)
class Real:
    """A number from `low` to `high`, kept to `digits` decimals."""

    url: str
    low: float
    high: float
    digits: int

    def decode(self, raw: str) -> float:
        try:
            value = float(raw) if len(raw) <= 24 else math.nan
        except ValueError:
            value = math.nan
        if not self.low <= value <= self.high:
            raise Unusable(f"is not a number from {self.low:g} to {self.high:g}")
        return round(value, self.digits)

    def encode(self, value: float) -> str:
        return f"{self.decode(repr(float(value))):.{self.digits}f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Flag:
    """Yes (1) or no (0)."""

    url: str

    def decode(self, raw: str) -> bool:
        if raw not in ("0", "1"):
            raise Unusable("is neither 0 nor 1")
        return raw == "1"

    def encode(self, value: bool) -> str:
        return str(int(bool(value)))


Kind = Text | Choice | Choices | Whole | Wholes | Real | Flag


def text(url: str, *, default: str = "", limit: int = 200) -> Any:
    """A dataclass field of free text."""
    return _field(Text(url, limit), default)


def choice(url: str, options: Options, *, default: str) -> Any:
    """A dataclass field that is one of `options` (a sequence, or a function that returns one)."""
    return _field(Choice(url, options), default)


def choices(url: str, options: Options, *, default: Sequence[str] = (), most: int = 12) -> Any:
    """A dataclass field: a tuple of up to `most` of `options`."""
    return _field(Choices(url, options, most), tuple(default))


def whole(url: str, low: int, high: int, *, default: int | None) -> Any:
    """A dataclass field: a whole number, or None where that is the default."""
    return _field(Whole(url, low, high), default)


def wholes(url: str, low: int, high: int, *, default: Sequence[int] = (), most: int = 64) -> Any:
    """A dataclass field: a tuple of whole numbers."""
    return _field(Wholes(url, low, high, most), tuple(default))


def real(url: str, low: float, high: float, *, default: float, digits: int = 3) -> Any:
    """A dataclass field: a number."""
    return _field(Real(url, low, high, digits), default)


def flag(url: str, *, default: bool = False) -> Any:
    """A dataclass field: yes or no."""
    return _field(Flag(url), default)


def kinds(cls: type) -> dict[str, Kind]:
    """Field name to kind. TypeError for a field without one and for a parameter name used twice or reserved."""
    found = {f.name: f.metadata.get("kind") for f in dataclasses.fields(cls)}
    names = [kind.url for kind in found.values() if kind is not None]
    if None in found.values() or len(set(names)) < len(names) or RESERVED & set(names):
        raise TypeError(f"{cls.__name__}: each field needs its own, unreserved name in the link")
    return found  # pyright: ignore[reportReturnType]


def decode(cls: type[S], params: Mapping[str, str]) -> tuple[S, list[str]]:
    """Settings from a link's parameters, and one phrase for each part that was ignored. Never raises."""
    if params.get("v", VERSION) != VERSION:
        return cls(), ["it was made by another version of this page"]
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, kind in kinds(cls).items():
        if kind.url in params:
            _decode_one(name, kind, params[kind.url], values, problems)
    known = RESERVED | {kind.url for kind in kinds(cls).values()}
    if set(params) - known:
        problems.append("it has parts that this page does not know")
    return cls(**values), problems


def encode(settings: Any) -> dict[str, str]:
    """Parameters of the link to `settings`, `v` first; fields at their default, or not fit for a link, are left out."""
    params: dict[str, str] = {}
    for name, kind in kinds(type(settings)).items():
        value = getattr(settings, name)
        if value == _default(settings, name) or value is None:
            continue
        try:
            params[kind.url] = kind.encode(value)
        except Unusable:
            continue
    return {"v": VERSION, **params} if params else {}


def fits(settings: Any) -> bool:
    """Whether a link can carry all of `settings` (an over-long sentence, say, cannot travel)."""
    return decode(type(settings), encode(settings))[0] == settings


def _decode_one(name: str, kind: Kind, raw: str, values: dict[str, Any], problems: list[str]) -> None:
    try:
        if len(raw) > LONGEST:
            raise Unusable(f"is longer than {LONGEST} characters")
        values[name] = kind.decode(raw)
    except Unusable as error:
        problems.append(f"{name.replace('_', ' ')} {error}")


def _field(kind: Kind, default: Any) -> Any:
    return dataclasses.field(default=default, metadata={"kind": kind})


def _default(settings: Any, name: str) -> Any:
    return next(f.default for f in dataclasses.fields(settings) if f.name == name)


def _known(options: Options) -> Sequence[str]:
    return options() if callable(options) else options


def _digits(raw: str) -> bool:
    body = raw.removeprefix("-")
    return body.isascii() and body.isdigit() and len(body) <= 12
