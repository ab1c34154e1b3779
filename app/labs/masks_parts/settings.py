"""What the visitor of "Masks and families" chooses. Painted relations travel in the link as bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from app.experiments.masks import grids
from app.experiments.masks.grids import MOST_LAYERS
from app.experiments.masks.options import DEFAULT, FAMILIES, READ_ORDER, RELATIONS
from app.ui import contexts, markup
from app.ui.url import Unusable, choice, flag, text, whole

if TYPE_CHECKING:
    from app.experiments.run import Check

SCOPES = {"all": "All layers", "one": "This layer"}


@dataclass(frozen=True)
class Paint:
    """A link's parameter that holds a relation, a layer or all: see app/experiments/masks/grids.py."""

    url: str

    def decode(self, raw: str) -> str:
        try:
            return grids.write(grids.parse(raw))
        except ValueError as error:
            raise Unusable(str(error)) from None

    def encode(self, value: str) -> str:
        return self.decode(value)


def paint(url: str) -> Any:
    """A dataclass field of painted relations, "" where none is."""
    return field(default="", metadata={"kind": Paint(url)})


@dataclass(frozen=True)
class Settings:
    """target "": what the system itself says. Painted: codes by layer. row None: the decision that moved most."""

    sentence: str = text("s", default="The report was not convincing.")
    target: str = text("t", default="")
    hidden: int | None = whole("q", 0, 127, default=None)
    family: str = choice("m", FAMILIES, default=DEFAULT)
    scope: str = choice("a", tuple(SCOPES), default="all")
    layer: int = whole("l", 1, MOST_LAYERS, default=1)
    head: int = whole("h", 1, 16, default=1)
    read: str = choice("r", tuple(RELATIONS), default="stream")
    row: int | None = whole("k", 0, grids.MOST_SIDE - 1, default=None)
    empty: bool = flag("z")
    stream: str = paint("ms")
    source_self: str = paint("me")
    target_self: str = paint("mt")
    cross: str = paint("mc")

    def painted(self, name: str) -> grids.Painted:
        return grids.parse(getattr(self, name))

    @property
    def chosen(self) -> tuple[tuple[str, str], ...]:
        """Every painted relation, for a cache's key."""
        return tuple((name, getattr(self, name)) for name in RELATIONS if getattr(self, name))

    @property
    def paints(self) -> int:
        """The layer that the hand paints; 0 for all."""
        return self.layer if self.scope == "one" else grids.ALL

    def shown(self, names: Any) -> str:
        """Whose weights are shown, of the relations that a family has."""
        return self.read if self.read in names else next(n for n in READ_ORDER if n in names)


def heading(number: int, title: str, told: str) -> None:
    """The head of panel `number`."""
    st.html(contexts.section(number, title, told))


def check_row(found: Sequence[Check]) -> None:
    """Every check of a panel with the number that decided it."""
    shown = [markup.Check(c.label, c.passed, markup.worst(c.value), c.explanation) for c in found]
    st.html(markup.checks(shown))
