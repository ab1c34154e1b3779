"""Objectives: which rows of a batch predict which labels (0x0B.2).

An objective takes a system and a batch and returns (rows, labels): rows (N, d_model) for the output table, labels (N,).
The trainer applies the same softmax loss to all of them. `Entry.objective` names one of OBJECTIVES.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from models.interface import Rows
from models.training.corpus import Batch
from models.training.corruption import choose, mask_tokens
from models.training.tokenizer import EOS, N_SPECIAL

Objective = Callable[[Any, Batch], tuple[Tensor, Tensor]]
MODES = (
    "seq2seq",
    "seq2seq",
    "bidirectional",
    "left_to_right",
)  # one is drawn a batch; translation half of the time


def target_rows(system: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """Every known target row predicts the next target token, EOS included (teacher forcing)."""
    rows, _ = system.features(batch.source, batch.target_in)
    return rows[batch.known], batch.labels[batch.known]


def text_to_text(system: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """T5: every task is a pair of texts, so its loss rows are those of the target. What is asked stands in the source:
    a prompt to translate, or sentinels (models/training/commands.py makes the pairs)."""
    return target_rows(system, batch)


def hidden_source(system: Any, batch: Batch) -> tuple[Rows, Tensor]:
    """The source with some pieces hidden, and where: at least one a sentence, EOS never."""
    ids = batch.source.ids
    chosen = choose(batch.source.valid & (ids >= N_SPECIAL) & (ids != EOS))
    hidden = mask_tokens(ids, chosen, system.output_table()[0].shape[0])
    return Rows(hidden, batch.source.valid), chosen


def masked_tokens(system: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """Hidden pieces of the source predict what stood there, from both sides (Devlin et al. 2019)."""
    source, chosen = hidden_source(system, batch)
    rows, _ = system.features(source)
    return rows[chosen], batch.source.ids[chosen]


def three_masks(system: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """UniLM: one relation a batch. Translation; hidden source pieces read both ways; or English read left to right."""
    mode = MODES[int(torch.randint(len(MODES), ()))]
    if mode == "seq2seq":
        return target_rows(system, batch)
    none = batch.source.ids[:, :0]
    if mode == "bidirectional":
        source, chosen = hidden_source(system, batch)
        rows, _, _ = system.stream_rows(source, none, mode)
        return rows[chosen], batch.source.ids[chosen]
    rows, _, _ = system.stream_rows(batch.source, none, mode)
    following = batch.source.valid[:, 1:]
    return rows[:, :-1][following], batch.source.ids[:, 1:][following]


OBJECTIVES: dict[str, Objective] = {
    "target_rows": target_rows,
    "masked_tokens": masked_tokens,
    "three_masks": three_masks,
    "text_to_text": text_to_text,
}
