"""Experiments of this page behind bounded caches. Torch is imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.experiments.masks.options import Empty
from app.ui.cache import results

if TYPE_CHECKING:
    from app.experiments.masks.leak import Leak
    from app.experiments.masks.reach import Reached
    from app.experiments.masks.relations import Chosen, Relations
    from app.experiments.masks.request import Ask, Request
    from app.experiments.masks.run import Run
    from app.experiments.run import Check


def ask_for(slug: str, sentence: str, target: str, hidden: int | None) -> Ask:
    from app.experiments.masks.request import Ask

    return Ask(slug, sentence, target, hidden)


@results(max_entries=16)
def request(ask: Ask) -> Request:
    """Tokens and own run of a family; a megabyte of logits each."""
    from app.experiments.masks.request import request as found

    print_before(ask.slug)
    return found(ask)


@results(max_entries=128)
def relations(ask: Ask, chosen: Chosen) -> Relations:
    from app.experiments.masks.relations import relations as found

    return found(request(ask), chosen)


@results(max_entries=48)
def run(ask: Ask, chosen: Chosen, empty: Empty) -> Run:
    from app.experiments.masks.run import run as found

    return found(request(ask), relations(ask, chosen), empty)


@results(max_entries=128)
def leak(ask: Ask, chosen: Chosen, empty: Empty) -> Leak | None:
    from app.experiments.masks.leak import leak as found

    return found(request(ask), relations(ask, chosen), empty)


def reached(ask: Ask, chosen: Chosen, empty: Empty, report: Callable[[float], None]) -> Reached:
    return _reached(ask, chosen, empty)


@results(max_entries=64)
def _reached(ask: Ask, chosen: Chosen, empty: Empty) -> Reached:
    from app.experiments.masks.reach import reached as found

    return found(request(ask), relations(ask, chosen), empty)


@results(max_entries=32)
def print_before(slug: str) -> str:
    """The hash of a family's weights as the page first met them."""
    from app.experiments.masks.run import fingerprint

    return fingerprint(slug)


def untouched(slug: str) -> Check:
    """The weights now, against that hash."""
    from app.experiments.masks.run import untouched as found

    return found(slug, print_before(slug))
