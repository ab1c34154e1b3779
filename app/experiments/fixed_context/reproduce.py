"""The few lines of Python that give this page's numbers from `models` alone. Torch-free: it writes text."""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.fixed_context import FIXED


def crossing_lines(slugs: Sequence[str], sentence: str) -> str:
    """Bytes of what crosses, for the sentence itself."""
    return f"""
import models

crossed = {{}}
for slug in {list(slugs)!r}:
    rnn = models.load(slug)
    state = rnn.system.read(rnn.rows(rnn.encode_source({sentence!r})))
    crossed[slug] = [(t.symbol, t.shape, t.nbytes) for t in state.tensors()]
    print(slug, state.nbytes, "bytes", crossed[slug])
"""


def context_lines(slugs: Sequence[str], a: str, b: str) -> str:
    """Cosine of the two summaries, for each fixed-context system."""
    return f"""
import models
import torch

cosines = {{}}
for slug in {[slug for slug in slugs if slug in FIXED]!r}:
    rnn = models.load(slug)
    states = [rnn.system.read(rnn.rows(rnn.encode_source(s))) for s in ({a!r}, {b!r})]
    c_a, c_b = [s.summary if slug == "rnn_encoder_decoder" else torch.cat([*s.hidden, *s.cell], -1) for s in states]
    cosines[slug] = torch.cosine_similarity(c_a, c_b).item()
    print(slug, cosines[slug])
"""


def transplant_lines(slug: str, a: str, b: str, part: str, rows: tuple[int, int] | None) -> str:
    """Greedy output of A with one part of B's first state."""
    return f"""
from dataclasses import replace

import models
from models.decoding.greedy import greedy

rnn = models.load({slug!r})
a, b = [rnn.system.read(rnn.rows(rnn.encode_source(s))) for s in ({a!r}, {b!r})]
{_exchange(slug, part, rows)}
mixed_text = rnn.tokenizer.decode(greedy(rnn.system, mixed).tokens)
print(mixed_text)
"""


def _exchange(slug: str, part: str, rows: tuple[int, int] | None) -> str:
    if rows is None:
        names = {
            "rnn_encoder_decoder": {
                "both": ("summary", "hidden"),
                "every_step": ("summary",),
                "start": ("hidden",),
            },
            "lstm_seq2seq": {"both": ("hidden", "cell"), "hidden": ("hidden",), "cell": ("cell",)},
        }[slug][part]
        return f"mixed = replace(a, {', '.join(f'{name}=b.{name}' for name in names)})"
    row, donor = rows
    if slug == "transformer":
        return (
            "mixed = replace(a, **{n: tuple(t.clone() for t in getattr(a, n)) for n in "
            '("memory_keys", "memory_values")})\n'
            "for mine, theirs in zip(mixed.memory_keys + mixed.memory_values, b.memory_keys + b.memory_values):\n"
            f"    mine[:, :, {row}] = theirs[:, :, {donor}]"
        )
    names = ("annotations", "keys") if slug == "rnn_search" else ("memory",)
    lines = [f"mixed = replace(a, {', '.join(f'{name}=a.{name}.clone()' for name in names)})"]
    lines += [f"mixed.{name}[:, {row}] = b.{name}[:, {donor}]" for name in names]
    return "\n".join(lines)


def figure_lines(slugs: Sequence[str]) -> str:
    """Stored test figures by source length."""
    return f"""
from models.execution.checkpoints import read_manifest

figures = {{slug: read_manifest().get(slug, {{}}).get("metrics") for slug in {list(slugs)!r}}}
for slug, metrics in figures.items():
    print(slug, metrics and metrics["bleu_by_length"])
"""


def read_lines(h: Sequence[int], alpha: Sequence[int]) -> str:
    """The weighted reads of the small arithmetic panel."""
    return f"""
import torch
from models.layers.attention import mix

H = torch.tensor({[x / 100 for x in h]!r}, dtype=torch.float64).view(1, 4, 3)
alpha = torch.tensor({[x / 100 for x in alpha]!r}, dtype=torch.float64).view(3, 4)
contexts = mix(alpha, H.expand(3, -1, -1))
print(contexts, "fixed:", H[0, -1])
"""
