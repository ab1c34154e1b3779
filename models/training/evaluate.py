"""Test figures of a trained system, written into the manifest.

BLEU and chrF are sacreBLEU's, against every French reference of each test sentence; loss is a token's mean negative
log-likelihood in nats; alignment error rate (Och and Ney 2003) takes the heaviest source word of each reference word
under forced decoding. Everything is measured on the weights as shipped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import sacrebleu
import torch

from models.catalog import LANGUAGE, TATOEBA, Entry
from models.decoding.beam import beam_search
from models.decoding.greedy import greedy_batch
from models.execution import checkpoints
from models.execution.device import device
from models.interactive import Translator, load_translator
from models.interface import Rows
from models.training.align_metrics import AlignmentCounts, argmax_links, count_links, parse_links, to_words
from models.training.corpus import Pair, asked, encode_pairs, load_pairs, references, source_rows
from models.training.corruption import choose
from models.training.story import StoryPair, generate, keeps_negation, minimal_pairs
from models.training.tokenizer import EOS, MASK, N_SPECIAL
from models.training.trainer import validate

BUCKETS = ((1, 4), (5, 6), (7, 8), (9, 10), (11, 13), (14, 24))  # English words
BEAM = 4
STORIES = 600  # held-out pairs of the story grammar


def translate_all(translator: Translator, sentences: Sequence[str], beam: int = 1) -> list[str]:
    """Translations in the order given, decoded in batches of similar length."""
    ids = [[*translator.prompt, *found] for found in translator.tokenizer.encode_many(sentences)]
    order = sorted(range(len(ids)), key=lambda k: len(ids[k]))
    out, size = [""] * len(ids), 100 if beam == 1 else 40
    for start in range(0, len(order), size):
        part = order[start : start + size]
        rows = source_rows([ids[k] for k in part]).to(device())
        found = greedy_batch(translator.system, rows) if beam == 1 else best_of_beam(translator, rows, beam)
        for k, tokens in zip(part, found, strict=True):
            out[k] = translator.tokenizer.decode(tokens)
    return out


def best_of_beam(translator: Translator, rows: Rows, width: int) -> list[list[int]]:
    return [found[0].tokens for found in beam_search(translator.system, rows, width)]


def bleu(outputs: Sequence[str], refs: Sequence[Sequence[str]]) -> float:
    """Corpus BLEU (13a tokens) against several references a sentence."""
    return round(sacrebleu.corpus_bleu(list(outputs), _transposed(refs)).score, 2)


def chrf(outputs: Sequence[str], refs: Sequence[Sequence[str]]) -> float:
    return round(sacrebleu.corpus_chrf(list(outputs), _transposed(refs)).score, 2)


def _transposed(refs: Sequence[Sequence[str]]) -> Any:
    """sacreBLEU's layout: the n-th reference of every sentence, None where a sentence has fewer."""
    most = max(map(len, refs))
    return [[r[n] if n < len(r) else None for r in refs] for n in range(most)]


def by_length(
    sentences: Sequence[str], outputs: Sequence[str], refs: Sequence[Sequence[str]]
) -> list[dict[str, Any]]:
    """BLEU of test sentences grouped by source words; empty groups are left out."""
    found = []
    for low, high in BUCKETS:
        inside = [k for k, s in enumerate(sentences) if low <= len(s.split()) <= high]
        if inside:
            score = bleu([outputs[k] for k in inside], [refs[k] for k in inside])
            found.append({"words": [low, high], "sentences": len(inside), "bleu": score})
    return found


def story_figures(translator: Translator) -> dict[str, Any]:
    """Held-out story pairs: share whose French keeps the source's negation, by distance; and BLEU."""
    pairs: list[StoryPair] = [p for both in minimal_pairs(STORIES // 2, seed=1) for p in both]
    outputs = translate_all(translator, [p.english for p in pairs])
    kept = [keeps_negation(p.negated, text) for p, text in zip(pairs, outputs, strict=True)]
    distances = sorted({p.distance for p in pairs if p.distance is not None})
    spread = []
    for low, high in _bands(distances):
        inside = [k for k, p in enumerate(pairs) if p.distance is not None and low <= p.distance <= high]
        spread.append(
            {
                "distance": [low, high],
                "sentences": len(inside),
                "kept": round(sum(kept[k] for k in inside) / len(inside), 4),
            }
        )
    return {
        "negation_kept": round(sum(kept) / len(kept), 4),
        "negation_by_distance": spread,
        "sentences": len(pairs),
        "bleu_greedy": bleu(outputs, [[p.french] for p in pairs]),
    }


def _bands(distances: Sequence[int]) -> list[tuple[int, int]]:
    """Bands of distances that occur."""
    edges = [(0, 0), (1, 3), (4, 6), (7, 9), (10, 99)]
    return [(a, b) for a, b in edges if any(a <= d <= b for d in distances)]


def alignment_counts(
    translator: Translator, examples: Iterable[tuple[str, str, Any, Any]]
) -> AlignmentCounts:
    """Summed link counts over (english, french, sure, possible) with links over display words."""
    total = AlignmentCounts()
    for english, french, sure, possible in examples:
        source = translator.encode_source(english)
        told = translator.describe(source, [*translator.tokenizer.encode(french), EOS], "eos")
        if told.alignment is None:
            raise ValueError(f"{translator.entry.title} has no alignment.")
        words = [word for word in told.source_words[:-1] if word.start >= len(translator.prompt)]
        matrix = to_words(torch.tensor(told.alignment).numpy(), told.target_words[:-1], words)
        total += count_links(argmax_links(matrix), sure, possible)
    return total


def alignment_figures(translator: Translator, corpus: Path) -> dict[str, Any]:
    """Error rates on held-out story pairs, on the hand-aligned examples, and on public hand alignments."""
    sets: dict[str, list[tuple[str, str, Any, Any]]] = {
        "story": [(p.english, p.french, p.links, p.links) for p in generate("test", STORIES, seed=2)],
        "examples": load_examples(),
        "tatoeba_hand": _public(corpus / "alignment" / "tatoeba_hand.tsv", translator),
    }
    return {
        name: round(alignment_counts(translator, rows).error_rate, 4) for name, rows in sets.items() if rows
    }


def load_examples(path: Path | None = None) -> list[tuple[str, str, Any, Any]]:
    """The hand-aligned pairs of assets/examples."""
    data = json.loads((path or checkpoints.ASSETS / "examples" / "aligned.json").read_text(encoding="utf-8"))
    rows = data["pairs"] if isinstance(data, dict) else data
    return [
        (
            r["english"],
            r["french"],
            frozenset(map(tuple, r["sure"])),
            frozenset(map(tuple, [*r["sure"], *r["possible"]])),
        )
        for r in rows
    ]


def _public(path: Path, translator: Translator) -> list[tuple[str, str, Any, Any]]:
    """Pairs of a public file whose tokens are exactly our display words."""
    from models.training.words import word_texts

    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = line.split("\t")
        english, french = parts[3:5] if len(parts) >= 5 else parts[:2]
        if word_texts(english) == parts[0].split(" ") and word_texts(french) == parts[1].split(" "):
            found.append((english, french, *parse_links(parts[2])))
    return found


@torch.inference_mode()
def filling_figures(translator: Translator, sentences: Sequence[str]) -> dict[str, Any]:
    """Hidden pieces of English sentences: how often the likeliest piece, and the five likeliest, hold what stood there.

    15% of the pieces of each sentence, chosen from one seed, are hidden all at once, every one as [MASK].
    """
    system: Any = translator.system
    encoded = translator.tokenizer.encode_many(sentences)
    first = five = count = 0
    loss = 0.0
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for start in range(0, len(encoded), 64):
            rows = source_rows(encoded[start : start + 64]).to(device())
            chosen = choose(rows.valid & (rows.ids >= N_SPECIAL))
            log_probs = torch.log_softmax(
                system.fill(Rows(rows.ids.masked_fill(chosen, MASK), rows.valid))[chosen], -1
            )
            truth = rows.ids[chosen].unsqueeze(-1)
            best = log_probs.topk(5).indices
            first += int((best[:, :1] == truth).sum())
            five += int((best == truth).any(-1).sum())
            loss -= float(log_probs.gather(-1, truth).sum())
            count += len(truth)
    return {
        "hidden_pieces": count,
        "filled_first": round(first / count, 4),
        "filled_five": round(five / count, 4),
        "fill_loss": round(loss / count, 4),
    }


def language_figures(translator: Translator, sentences: Sequence[str]) -> dict[str, Any]:
    """Bits a character: -log2 p of every byte and of each end, over the characters, an end counted as one."""
    pairs = [Pair([], ids) for ids in translator.tokenizer.encode_many(sentences)]
    nats, tokens = validate(translator.system, pairs), sum(len(pair.target) + 1 for pair in pairs)
    characters = sum(len(sentence) + 1 for sentence in sentences)
    return {
        "test_sentences": len(sentences),
        "characters": characters,
        "loss": round(nats, 4),
        "bits_per_character": round(nats / math.log(2) * tokens / characters, 4),
    }


def evaluate(entry: Entry, corpus: Path) -> dict[str, Any]:
    """Every figure of one system; stored in the manifest and returned."""
    translator = load_translator(entry.slug)
    metrics = _translating(translator, corpus) if entry.task == TATOEBA else {}
    sentences = list(references(load_pairs(corpus, "test")))
    if hasattr(translator.system, "fill"):
        metrics |= filling_figures(translator, sentences)
    if entry.task == LANGUAGE:
        metrics |= language_figures(translator, sentences)
    checkpoints.update_manifest(entry.slug, lambda item: item.update(metrics=metrics))
    return metrics


def _translating(translator: Translator, corpus: Path) -> dict[str, Any]:
    pairs = load_pairs(corpus, "test")
    refs = references(pairs)
    sentences, answers = list(refs), list(refs.values())
    greedy, beam = translate_all(translator, sentences), translate_all(translator, sentences, BEAM)
    loss = validate(translator.system, asked(encode_pairs(pairs, translator.tokenizer), translator.prompt))
    metrics: dict[str, Any] = {
        "test_sentences": len(sentences),
        "references": len(pairs),
        "bleu_greedy": bleu(greedy, answers),
        "chrf_greedy": chrf(greedy, answers),
        f"bleu_beam{BEAM}": bleu(beam, answers),
        f"chrf_beam{BEAM}": chrf(beam, answers),
        "loss": round(loss, 4),
        "perplexity": round(math.exp(loss), 3),
        "bleu_by_length": by_length(sentences, greedy, answers),
        "story": story_figures(translator),
        "sacrebleu": sacrebleu.__version__,
    }
    if translator.system.has_alignment:
        metrics["alignment_error_rate"] = alignment_figures(translator, corpus)
    return metrics
