"""The Python lines that give a panel's numbers again, from `models` alone. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from app.experiments.alignment.options import Choice


@dataclass(frozen=True)
class Recipe:
    """What the lines must repeat. t: decision; rows: source pieces that are read by force."""

    choice: Choice
    sentence: str
    decoding: str = "greedy"
    beam: int = 4
    forced: str = ""
    layer: int = 0
    head: int = 0
    panel: str = "decision"
    t: int = 0
    rows: tuple[int, ...] = ()
    bias: float = 0.0
    tolerance: float = 0.05
    seed: int = 0
    swapped: str = ""
    gold: tuple[str, str] | None = None


def python_lines(recipe: Recipe) -> str:
    """Loading, decoding, and what the open panel adds."""
    extra = {
        "force": _force, "move": _move, "swap": _swap, "gold": _gold,
    }.get(recipe.panel, lambda one: "")(recipe)  # fmt: skip
    return f"{_load(recipe.choice)}\n{_decode(recipe)}\n{_weights(recipe)}{extra}".strip() + "\n"


def _load(choice: Choice) -> str:
    lines = f'import models\n\nsystem = models.load("{choice.slug}")'
    if not choice.changes:
        return lines
    changes = ", ".join(f"{name}={value!r}" for name, value in choice.changes)
    return (
        f"import dataclasses\n{lines}\n# weights trained for another setting: {', '.join(choice.notes)}\n"
        f"system = dataclasses.replace(system, system=system.system.variant({changes}))"
    )


def _decode(recipe: Recipe) -> str:
    if recipe.decoding == "forced" and recipe.forced.strip():
        return (
            f"sentence, french = {recipe.sentence!r}, {recipe.forced!r}\n"
            "source = system.encode_source(sentence)\n"
            "target = system.encode_source(french)  # pieces and EOS\n"
            'found = system.describe(source, target, "eos")'
        )
    beam = f", beam={recipe.beam}" if recipe.decoding == "beam" else ""
    return f"sentence = {recipe.sentence!r}\nfound = system.translate(sentence{beam})"


def _weights(recipe: Recipe) -> str:
    lines = "print(found.text)\nscored, log_probs = system.forced(found.source_ids, found.target_ids)\n"
    if recipe.choice.combination.recurrent:
        return lines + (
            "read = scored.trace.decoder.attention  # one row a decision\n"
            "scores, weights, context = read.scores[0], read.weights[0], read.context[0]\n"
        )
    head = recipe.head - 1 if recipe.head else None
    layer = f"min({recipe.layer}, system.system.config.n_layers) - 1" if recipe.layer else "-1"
    return lines + f"weights = system.system.alignment(scored.trace, layer={layer}, head={head})[0]\n"


def _force(recipe: Recipe) -> str:
    if not recipe.rows:
        return ""
    return f"""
import torch
from models.decoding.greedy import greedy
from models.interface import Read

bias = torch.zeros(1, len(found.source_ids), device=log_probs.device)
bias[0, {list(recipe.rows)}] = {recipe.bias}
with torch.inference_mode():
    state = system.system.read(system.rows(found.source_ids))
    forced = greedy(system.system, state, prefix=found.target_ids[:{recipe.t}],
                    read=lambda t: Read(bias=bias) if t == {recipe.t} else None)
print(system.tokenizer.decode(forced.tokens))
"""


def _move(recipe: Recipe) -> str:
    moved = f"""
from models.analysis import importance, moved_weights

t = {recipe.t}
"""
    if recipe.choice.combination.recurrent:
        moved += f"""decision = moved_weights.reach(system.system, system.rows(found.source_ids), found.target_ids, t)
moved = moved_weights.move(decision, found.target_ids[t], {recipe.tolerance}, seed={recipe.seed})
print(moved.adversarial.js, moved.adversarial.tv, moved.adversarial.weights)
"""
    return (
        moved
        + """slopes = importance.gradients(system.system, found.source_ids, found.target_ids, [t])
groups = [range(word.start, word.stop) for word in found.source_words]
left_out = importance.leave_out(system.system, found.source_ids, found.target_ids, [t], groups)
print(slopes.norm[0], left_out.total_variation[0])
"""
    )


def _swap(recipe: Recipe) -> str:
    if not recipe.swapped:
        return ""
    beam = f", beam={recipe.beam}" if recipe.decoding == "beam" else ""
    return f"\nchanged = system.translate({recipe.swapped!r}{beam})\nprint(changed.text)\n"


def _gold(recipe: Recipe) -> str:
    if recipe.gold is None:
        return ""
    english, _ = recipe.gold
    return f"""
import numpy as np
from models.training.align_metrics import argmax_links, count_links, to_words
from models.training.evaluate import load_examples

english, french, sure, possible = next(pair for pair in load_examples() if pair[0] == {english!r})
told = system.describe(system.encode_source(english), system.encode_source(french), "eos")
rows = to_words(np.array(told.alignment), told.target_words[:-1], told.source_words[:-1])
print(count_links(argmax_links(rows), sure, possible).error_rate)
"""
