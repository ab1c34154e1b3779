"""Prefix language model (0x09D; compared by Raffel et al. 2020, 3.2): GPT's one stack under another relation.

    row n reads column c where   c < P   or   c <= n         P source rows, EOS included

The source's rows read each other in both directions, target rows read all of the source and their own past. The rest,
parameters included, is GPT's, so a trained GPT can be where training starts. The source must be read at once: rows fed
one at a time through a causal cache would give other numbers.
"""

from __future__ import annotations

from torch import Tensor

from models.layers.visibility import prefix as prefix_relation
from models.systems.gpt import GPT, Config

__all__ = ["Config", "PrefixLM"]


class PrefixLM(GPT):
    def relation(self, length: int, prefix: Tensor) -> Tensor:
        return prefix_relation(length, prefix)
