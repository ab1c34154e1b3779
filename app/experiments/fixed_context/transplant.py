"""Give the decoder a part of another sentence's state, leave the rest, and decode (0x02B, 0x02D).

For a fixed context the part is the summary: at every step, where the decoder starts, or both. For an addressable memory
it is one row: row j of A becomes row k of B, with everything that is read from that row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import torch
from torch import Tensor

import models
from app.experiments.fixed_context.common import padded
from app.experiments.fixed_context.pair import Edit, edit
from app.experiments.run import Axis, Check, axis
from models.analysis import invariants
from models.decoding.greedy import greedy
from models.execution.device import device
from models.interactive import Translator
from models.systems.encoder_decoder import CacheState
from models.systems.lstm_seq2seq import StackState
from models.systems.luong import LuongState
from models.systems.rnn_encoder_decoder import SummaryState
from models.systems.rnn_search import SearchState
from models.training.tokenizer import BOS

MOST = 64  # decisions


@dataclass(frozen=True)
class Output:
    """A greedy translation: its tokens with log-probabilities (T,). changed: in A's own output the display words that
    the transplant lost, in the others those that A's own output does not have."""

    label: str
    axis: Axis
    log_probs: np.ndarray
    changed: tuple[bool, ...]
    text: str
    ended: str


@dataclass(frozen=True)
class Transplanted:
    """`moved` names the tensors that were exchanged; rows is (row of A, row of B) where one row was."""

    slug: str
    title: str
    a: Axis
    b: Axis
    moved: tuple[str, ...]
    rows: tuple[int, int] | None
    outputs: tuple[Output, Output, Output]  # A, A with the part of B, B
    checks: tuple[Check, ...]


def transplant(
    slug: str, a: str, b: str, part: str = "both", row: int | None = None, donor: int | None = None
) -> Transplanted:
    """part: for a summary "both", "every_step" or "start"; for a stack "both", "hidden" or "cell".

    row, donor: source rows (pieces, EOS counted) of A and B for an addressable memory; None: where the edit is.
    Raises CheckpointError, and ValueError with a sentence for text, part or row out of bounds.
    """
    return Experiment(models.load(slug), a, b).run(part, row, donor)


class Experiment:
    """Both sentences read once by one system."""

    @torch.inference_mode()
    def __init__(self, translator: Translator, a: str, b: str) -> None:
        self.translator, self.system = translator, translator.system
        self.ids_a, self.ids_b = translator.encode_source(a), translator.encode_source(b)
        self.a, self.b = (self.system.read(translator.rows(ids)) for ids in (self.ids_a, self.ids_b))

    @torch.inference_mode()
    def run(self, part: str, row: int | None, donor: int | None) -> Transplanted:
        summary = isinstance(self.a, SummaryState | StackState)
        rows = None if summary else self.rows(row, donor)
        mixed, moved = self.mixed(part) if rows is None else exchange_row(self.a, self.b, *rows)
        (own, own_logits), (got, _), (theirs, _) = (self.decode(state) for state in (self.a, mixed, self.b))
        words = [[text for text, _, _ in out.axis.words] for out in (own, got, theirs)]
        (lost, new), (_, others) = marks(words[0], words[1]), marks(words[0], words[2])
        outputs = (
            replace(own, label="A, untouched", changed=lost),
            replace(got, label="A with the part of B", changed=new),
            replace(theirs, label="B, untouched", changed=others),
        )
        checks = (self._own_changes_nothing(part, rows, own_logits), *self._all_of_b(), self._padding(own))
        entry = self.translator.entry
        return Transplanted(
            entry.slug, entry.title, own_axis(self, "a"), own_axis(self, "b"), moved, rows, outputs, checks
        )

    def mixed(self, part: str, donor: Any = None) -> tuple[Any, tuple[str, ...]]:
        """A's first state with one part from B's (or from `donor`)."""
        return exchange(self.a, self.b if donor is None else donor, part)

    def rows(self, row: int | None, donor: int | None) -> tuple[int, int]:
        where = edit(self.ids_a, self.ids_b)
        rows = (default_row(where) if row is None else row, default_donor(where) if donor is None else donor)
        for place, ids, name in zip(rows, (self.ids_a, self.ids_b), "AB", strict=True):
            if not 0 <= place < len(ids):
                raise ValueError(f"Sentence {name} has {len(ids)} source rows; there is no row {place + 1}.")
        return rows

    def decode(self, state: Any) -> tuple[Output, Tensor]:
        found = greedy(self.system, state, MOST)
        chosen = torch.tensor(found.tokens, device=device()).unsqueeze(-1)
        logs = torch.log_softmax(found.logits, dim=-1).gather(-1, chosen).squeeze(-1)
        labels = axis(self.translator, found.tokens)
        text = self.translator.tokenizer.decode(found.tokens)
        return Output(
            "", labels, logs.cpu().numpy(), (False,) * len(labels.words), text, found.ended
        ), found.logits

    def _own_changes_nothing(self, part: str, rows: tuple[int, int] | None, logits: Tensor) -> Check:
        """Read A once more and transplant that: the decisions must come out bit for bit the same."""
        again = self.system.read(self.translator.rows(self.ids_a))
        state, _ = self.mixed(part, again) if rows is None else exchange_row(self.a, again, rows[0], rows[0])
        _, after = self.decode(state)
        off = float((after - logits).abs().max()) if after.shape == logits.shape else float("inf")
        text = "Largest difference of logits when the part comes from a second reading of A itself."
        return Check("A's own part changes nothing", off == 0.0, off, text)

    def _all_of_b(self) -> tuple[Check, ...]:
        """All that crosses for B, put in A's place, must give B's decisions: nothing else of A reaches the decoder."""
        if not isinstance(self.a, SummaryState | StackState):
            return ()
        (_, after), (_, before) = self.decode(self.mixed("both")[0]), self.decode(self.b)
        off = float((after - before).abs().max()) if after.shape == before.shape else float("inf")
        return (
            Check(
                "all of B's context gives B's output",
                off == 0.0,
                off,
                "Largest difference of logits from B's run.",
            ),
        )

    def _padding(self, own: Output) -> Check:
        """A's first state from a padded request, decoded along A's own output."""
        rows, target = (
            self.translator.rows(self.ids_a),
            torch.tensor([[BOS, *own.axis.ids[:-1]]], device=device()),
        )
        plain = self.system.score(rows, target).logits
        off = float((self.system.score(padded(rows), target).logits - plain).abs().max())
        return Check(
            "padding changes nothing", off <= invariants.TOLERANCE, off,
            "Largest change of any logit of A's output when three padded source rows are added.",
        )  # fmt: skip


def exchange(a: Any, b: Any, part: str) -> tuple[Any, tuple[str, ...]]:
    """The summary of B in A's state. Returns the state and the symbols of what was exchanged."""
    if isinstance(a, SummaryState):
        parts = {"both": ("summary", "hidden"), "every_step": ("summary",), "start": ("hidden",)}
        names = {"summary": "c", "hidden": "s_0"}
    else:
        parts = {"both": ("hidden", "cell"), "hidden": ("hidden",), "cell": ("cell",)}
        names = {"hidden": "h of every layer", "cell": "c of every layer"}
    if part not in parts:
        raise ValueError(f"This system has no part called {part}. Known: {', '.join(parts)}.")
    moved = parts[part]
    return replace(a, **{name: getattr(b, name) for name in moved}), tuple(names[name] for name in moved)


def exchange_row(a: Any, b: Any, row: int, donor: int) -> tuple[Any, tuple[str, ...]]:
    """Row `row` of A's memory replaced by row `donor` of B's, in every tensor that keeps source rows."""
    if isinstance(a, SearchState):
        names, symbols, dim = ("annotations", "keys"), (f"h_{row + 1}", f"U_a h_{row + 1}"), 1
    elif isinstance(a, LuongState):
        names, symbols, dim = ("memory",), (f"h_{row + 1}",), 1
    elif isinstance(a, CacheState):
        names, dim = ("memory_keys", "memory_values"), 2
        symbols = (f"k_{row + 1} and v_{row + 1} of every layer",)
    else:
        raise TypeError(f"{type(a).__name__} keeps no source rows.")
    return replace(a, **{n: _row(getattr(a, n), getattr(b, n), row, donor, dim) for n in names}), symbols


def _row(mine: Any, theirs: Any, row: int, donor: int, dim: int) -> Any:
    if isinstance(mine, tuple):
        return tuple(_row(m, t, row, donor, dim) for m, t in zip(mine, theirs, strict=True))
    changed = mine.clone()
    changed.select(dim, row).copy_(theirs.select(dim, donor))
    return changed


def default_row(where: Edit) -> int:
    """Row of A to replace: its first edited piece, or else the piece that stands where B's edit begins."""
    return min(where.prefix, where.length_a - 1)


def default_donor(where: Edit) -> int:
    return min(where.prefix, where.length_b - 1)


def own_axis(experiment: Experiment, side: str) -> Axis:
    return axis(experiment.translator, experiment.ids_a if side == "a" else experiment.ids_b)


def marks(a: list[str], b: list[str]) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Words of each list outside one set of matching blocks: what a loses, and what b has instead."""
    flags = [True] * len(a), [True] * len(b)
    for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        flags[0][block.a : block.a + block.size] = [False] * block.size
        flags[1][block.b : block.b + block.size] = [False] * block.size
    return tuple(flags[0]), tuple(flags[1])
