"""How the edited words travel through the encoder's rows h_1 .. h_T (0x03A): the two sentences, row against row.

The rows of A and B are paired where their pieces agree: before the edit by place from the left, after it by place from
the right. What a chain read before the edit must be equal; what it read afterwards carries the edit on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from app.experiments.fixed_context.common import Missing, loaded
from app.experiments.fixed_context.contexts import EXACT, relative_difference
from app.experiments.fixed_context.pair import Edit, edit
from app.experiments.run import Check
from models.interactive import Translator
from models.interface import Rows
from models.systems.lstm_seq2seq import LSTMSeq2Seq
from models.systems.luong import Luong
from models.systems.rnn_encoder_decoder import RNNEncoderDecoder
from models.systems.rnn_search import RNNSearch
from models.systems.transformer import Transformer


@dataclass(frozen=True)
class Chain:
    """Rows of one encoder for one sentence, (S, d), in source order; `order` are source rows in the order read."""

    label: str
    states: Tensor
    order: list[int] | None  # None: every row reads every row


@dataclass(frozen=True)
class Line:
    """One chain: `values` (columns,) is the relative difference of the paired rows, NaN where nothing is paired."""

    slug: str
    label: str
    values: np.ndarray
    kept: bool  # whether the decoder receives these rows, or only what the last one became


@dataclass(frozen=True)
class Travel:
    """columns: pieces in reading order, A's edited ones, then B's; paired (columns,) bool."""

    columns: tuple[str, ...]
    paired: np.ndarray
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    lines: tuple[Line, ...]
    checks: tuple[Check, ...]
    missing: tuple[Missing, ...]


def travel(slugs: tuple[str, ...], a: str, b: str) -> Travel:
    """Follow the edit through every encoder of `slugs` that is there."""
    found, missing = loaded(slugs)
    if not found:
        return Travel((), np.zeros(0, dtype=bool), (), (), (), (), missing)
    ids_a, ids_b = (found[0].encode_source(text) for text in (a, b))
    where, pieces = edit(ids_a, ids_b), found[0].tokenizer.pieces
    columns, paired = _columns(where, pieces(ids_a), pieces(ids_b))
    lines: list[Line] = []
    early = 0.0
    for one in found:
        for chain_a, chain_b in zip(_chains(one, ids_a), _chains(one, ids_b), strict=True):
            values = _differences(where, chain_a.states, chain_b.states)
            lines.append(Line(one.entry.slug, chain_a.label, values, one.system.has_alignment))
            early = max(early, _before(where, chain_a, chain_b))
    check = Check(
        "rows read before the edit are equal", early <= EXACT, early, "Largest difference of any channel."
    )
    only_a = tuple(pieces(ids_a)[k] for k in where.only_a)
    only_b = tuple(pieces(ids_b)[k] for k in where.only_b)
    return Travel(columns, paired, only_a, only_b, tuple(lines), (check,), missing)


@torch.inference_mode()
def _chains(translator: Translator, ids: list[int]) -> list[Chain]:
    system, rows = translator.system, translator.rows(ids)
    forth = list(range(len(ids)))
    if isinstance(system, RNNEncoderDecoder):
        return [Chain("→ RNN enc-dec", system.encode(rows)[0][0], forth)]
    if isinstance(system, LSTMSeq2Seq):
        return [_reversed(system, rows)]
    if isinstance(system, RNNSearch):
        there, back = system.annotate(rows)[0].chunk(2, dim=-1)
        return [Chain("→ RNNsearch", there, forth), Chain("← RNNsearch", back, forth[::-1])]
    if isinstance(system, Luong):
        return [Chain("→ Luong", system.read(rows).memory[0], forth)]
    if isinstance(system, Transformer):
        return [Chain("↔ Transformer", system.encode(rows)[0][0], None)]
    raise TypeError(f"{translator.entry.title} has no encoder rows that this experiment knows.")


def _reversed(system: LSTMSeq2Seq, rows: Rows) -> Chain:
    """Top-layer rows put back from reading order into source order."""
    states, order, _ = system.encode(rows)
    read = order[0].tolist()
    back = torch.empty_like(states[0])
    back[order[0]] = states[0]
    return Chain(f"{'←' if system.config.reverse_source else '→'} LSTM seq2seq", back, read)


def _differences(where: Edit, a: Tensor, b: Tensor) -> np.ndarray:
    values = [relative_difference(a[i], b[j]) for i, j in where.shared()]
    gap = [np.nan] * (len(where.only_a) + len(where.only_b))
    return np.array([*values[: where.prefix], *gap, *values[where.prefix :]])


def _columns(where: Edit, a: list[str], b: list[str]) -> tuple[tuple[str, ...], np.ndarray]:
    edited = [f"A: {a[k]}" for k in where.only_a] + [f"B: {b[k]}" for k in where.only_b]
    columns = [*a[: where.prefix], *edited, *a[len(a) - where.suffix :]]
    paired = [True] * where.prefix + [False] * len(edited) + [True] * where.suffix
    return tuple(columns), np.array(paired)


def _before(where: Edit, a: Chain, b: Chain) -> float:
    """Largest channel difference over pairs that both chains read before either reached an edited row."""
    if a.order is None or b.order is None:
        return 0.0
    first = [_first_edited(chain.order, only) for chain, only in ((a, where.only_a), (b, where.only_b))]
    off = 0.0
    for i, j in where.shared():
        if a.order.index(i) == b.order.index(j) < min(first):
            off = max(off, float((a.states[i] - b.states[j]).abs().max()))
    return off


def _first_edited(order: list[int] | None, only: range) -> int:
    steps = [step for step, row in enumerate(order or []) if row in only]
    return min(steps, default=len(order or []))
