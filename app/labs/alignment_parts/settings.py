"""Everything on the Alignment page that a link carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.experiments.alignment.options import CODES, SCORES, TRAINED_HALF_WIDTH, WINDOWS, Combination
from app.ui.url import choice, flag, real, text, whole

DECODING = {"greedy": "Greedy", "beam": "Beam", "forced": "Your French"}
SHOWN = {"words": "Words", "pieces": "Pieces"}
PANELS = {
    "decision": "This decision",
    "order": "Step by step",
    "swap": "Change a word",
    "force": "Force a read",
    "move": "Move the weights",
    "gold": "Gold links",
}
NOTHING = "none"


@dataclass(frozen=True)
class Settings:
    """What the visitor chose. row and column: the cell pointed at, as shown; layer and head from 1, 0 = last, mean."""

    sentence: str = text("s", default="The report was not convincing.")
    score: str = choice("sc", tuple(SCORES), default="additive")
    window: str = choice("wi", tuple(WINDOWS), default="global")
    feeding: bool = flag("fe", default=True)
    half_width: int = whole("d", 1, 10, default=TRAINED_HALF_WIDTH)
    shift: int = whole("c", -6, 6, default=0)
    layer: int = whole("l", 0, 12, default=0)
    head: int = whole("h", 0, 16, default=0)
    decoding: Literal["greedy", "beam", "forced"] = choice("t", tuple(DECODING), default="greedy")
    beam: int = whole("b", 2, 8, default=4)
    forced: str = text("f", default="")
    compare: str = choice("k", (NOTHING, *CODES), default=NOTHING)
    show: Literal["words", "pieces"] = choice("w", tuple(SHOWN), default="words")
    panel: str = choice("p", tuple(PANELS), default="decision")
    row: int | None = whole("r", 0, 127, default=None)
    column: int | None = whole("j", 0, 127, default=None)
    swap: str = text("sw", default="", limit=40)
    bias: float = real("fb", 0.0, 10.0, default=6.0, digits=1)
    tolerance: float = real("e", 0.01, 0.5, default=0.05, digits=2)
    seed: int = whole("sd", 0, 999, default=0)
    every: bool = flag("ev", default=False)

    @property
    def combination(self) -> Combination:
        return Combination(self.score, self.window, self.feeding)
