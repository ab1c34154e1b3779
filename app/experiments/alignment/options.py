"""Which aligning systems can be asked for: score, window and feeding are separate choices (0x04G). Imports no torch.

A combination exists where a checkpoint was trained for it, or where trained Luong parameters can run under it
(`Luong.variant`: a window without parameters of its own, another D or centre, the dot score). The second kind is
always marked: its weights were trained for another setting.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from models.catalog import TRANSLATORS, Entry, entry
from models.execution import checkpoints

SCORES = {
    "additive": "additive",
    "dot": "dot",
    "general": "general",
    "concat": "concat",
    "location": "location",
    "heads": "heads (Transformer)",
}
WINDOWS = {"global": "global", "local_m": "local-m", "local_p": "local-p"}
LUONG = "models.systems.luong:Luong"
OWN_SCORE = {"rnn_search": "additive", "transformer": "heads"}
TRAINED_HALF_WIDTH = 4


@dataclass(frozen=True, order=True)
class Combination:
    """Score, window and whether the attentional state is fed back."""

    score: str
    window: str = "global"
    feeding: bool = True

    @property
    def code(self) -> str:
        """Its name in a link."""
        return f"{self.score}-{self.window}{'' if self.feeding else '-nofeed'}"

    @property
    def recurrent(self) -> bool:
        return self.score != "heads"

    @property
    def local(self) -> bool:
        return self.window != "global"


@dataclass(frozen=True)
class Choice:
    """One system, ready to be loaded: the checkpoint `slug` with `changes` to its configuration.

    notes: in which respects the weights were trained for another setting; empty for a trained system.
    """

    combination: Combination
    slug: str
    changes: tuple[tuple[str, Any], ...] = ()
    half_width: int = TRAINED_HALF_WIDTH
    notes: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """The catalog's name, or for a recombination its choices."""
        if not any(name in ("score", "window") for name, _ in self.changes):
            return entry(self.slug).title
        feeding = "" if self.combination.feeding else ", no feeding"
        return f"Luong {self.combination.score}, {WINDOWS[self.combination.window]}{feeding}"

    @property
    def order(self) -> str:
        """What exists before what in one decision (0x04E, 0x04F)."""
        orders = {
            "additive": "s(t−1) → e → α → c → s(t)",
            "heads": "query(t) → scores → weights → read, per head",
        }
        return orders.get(self.combination.score, "h(t) → e → a → c → h̃(t)")

    @property
    def symbol(self) -> str:
        """How the paper writes a weight."""
        return "α" if self.combination.score == "additive" else "a"


def trained(item: Entry) -> Combination | None:
    """The combination that a catalog entry was trained for; None where it does not align."""
    if item.slug in OWN_SCORE:
        return Combination(OWN_SCORE[item.slug])
    if item.builder != LUONG:
        return None
    made = item.config
    return Combination(
        made.get("score", "general"), made.get("window", "global"), made.get("input_feeding", True)
    )


TRAINED: dict[str, Combination] = {item.slug: c for item in TRANSLATORS if (c := trained(item)) is not None}


def available() -> list[str]:
    """Aligning systems whose weights are there; all of them where none is, so that each can say what is missing."""
    found = [slug for slug in TRAINED if (checkpoints.CHECKPOINTS / slug / "weights.safetensors").exists()]
    return found or list(TRAINED)


def head_shape(slug: str) -> tuple[int, int] | None:
    """Decoder layers and heads of a shipped Transformer, from its config; None where that cannot be read."""
    try:
        text = (checkpoints.CHECKPOINTS / slug / "config.json").read_text(encoding="utf-8")
        config = json.loads(text)["config"]
        return int(config["n_layers"]), int(config["n_heads"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # the system itself says what is wrong with its files


def runs_as(item: Combination, other: Combination) -> bool:
    """Whether parameters trained for `item` can run as `other` (the rules of `Luong.variant`)."""
    if item == other:
        return True
    if {item.score, other.score} & set(OWN_SCORE.values()) or item.feeding != other.feeding:
        return False
    return other.score in ("dot", item.score) and (other.window != "local_p" or item.window == "local_p")


def offered(available: Collection[str]) -> dict[Combination, str]:
    """Every combination that the checkpoints `available` can run, with the one that serves it best."""
    every = [Combination(s, w, f) for s in SCORES for w in WINDOWS for f in (True, False)]
    found = {one: _best(one, available) for one in every}
    return {one: slug for one, slug in found.items() if slug is not None}


def _best(wanted: Combination, available: Collection[str]) -> str | None:
    """The checkpoint that differs least from `wanted`; the catalog's order decides between equals."""
    able = [slug for slug, made in TRAINED.items() if slug in available and runs_as(made, wanted)]
    return min(able, key=lambda slug: _distance(TRAINED[slug], wanted), default=None)


def _distance(made: Combination, wanted: Combination) -> int:
    return 2 * (made.score != wanted.score) + (made.window != wanted.window)


def nearest(wanted: Combination, among: Mapping[Combination, str]) -> Combination | None:
    """`wanted` where offered; otherwise one that keeps the score, then the window, then feeding, best a trained one.

    among: as `offered` gives it.
    """

    def far(one: Combination) -> tuple[bool, ...]:
        differs = (getattr(one, name) != getattr(wanted, name) for name in ("score", "window", "feeding"))
        return *differs, TRAINED[among[one]] != one

    return min(among, key=far, default=None)


def choose(combination: Combination, available: Collection[str], half_width: int, shift: int) -> Choice:
    """The system for an offered combination. D and the shift of the centre count only for local windows.

    Raises KeyError where the combination is not offered.
    """
    slug = offered(available)[combination]
    made, changes, notes = TRAINED[slug], [], []
    for name in ("score", "window"):
        if getattr(made, name) != getattr(combination, name):
            changes.append((name, getattr(combination, name)))
            notes.append(f"trained with {_spoken(name, made)}")
    width = half_width if combination.local else TRAINED_HALF_WIDTH
    if width != TRAINED_HALF_WIDTH:
        changes.append(("half_width", width))
        notes += [f"trained with D = {TRAINED_HALF_WIDTH}"] if made.local else []
    if combination.local and shift:
        changes.append(("centre_shift", shift))
        notes.append(f"centre moved by {shift:+d}")
    return Choice(combination, slug, tuple(changes), width, tuple(notes))


def _spoken(name: str, made: Combination) -> str:
    return f"the {SCORES[made.score]} score" if name == "score" else f"the {WINDOWS[made.window]} window"


CODES: dict[str, Combination] = {
    one.code: one
    for one in (Combination(s, w, f) for s in SCORES for w in WINDOWS for f in (True, False))
    if any(runs_as(made, one) for made in TRAINED.values())
}
