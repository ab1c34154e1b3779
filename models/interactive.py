"""The Python interface: load a trained system, translate a sentence, score a translation."""

from __future__ import annotations

import functools
import threading
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import Tensor

from models.catalog import LANGUAGE, SYSTEMS, TATOEBA, Entry, entry
from models.decoding.beam import beam_search
from models.decoding.greedy import Ended, greedy
from models.execution.checkpoints import CheckpointError, load_system, read_manifest
from models.execution.device import device, device_name
from models.interface import Rows, Scored, System
from models.training.corpus import source_rows
from models.training.tokenizer import BOS, EOS, MASK, Tokenizer, Word, load_tokenizer

MAX_SOURCE, MAX_TARGET, MAX_BEAM = 127, 128, 16
HIDDEN = "[MASK]"
STAND_IN = "\ue000"  # a character for private use: its bytes join no other piece, and its neighbours stay as they were


@dataclass(frozen=True)
class Translation:
    """One translation. log_probs has one entry a target token, EOS included when the text ended with it;
    alignment (target x source, both with their EOS) is the system's weights, or None where it has none."""

    text: str
    source_tokens: list[str]
    target_tokens: list[str]
    log_probs: list[float]
    ended: Ended
    alignment: list[list[float]] | None
    source_ids: list[int]
    target_ids: list[int]
    source_words: list[Word]
    target_words: list[Word]

    def as_dict(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)[:6]}


@dataclass(frozen=True)
class Scoring:
    """log p(target | source), token by token with EOS (0x01A), and the sum."""

    source_tokens: list[str]
    target_tokens: list[str]
    log_probs: list[float]
    total: float
    alignment: list[list[float]] | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Filled:
    """One hidden place: the likeliest pieces with their log-probabilities, best first."""

    position: int
    pieces: list[str]
    log_probs: list[float]


@dataclass(frozen=True)
class Continuation:
    """Plain English and what follows it: the whole text, its tokens of which the first `given` were supplied, and for
    every token, supplied ones too, log p of it after those before."""

    text: str
    tokens: list[str]
    given: int
    log_probs: list[float]
    ended: Ended

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Translator:
    """A trained system with its tokenizer. Shared by all sessions: never change what it holds."""

    entry: Entry
    system: System
    tokenizer: Tokenizer
    provenance: dict[str, Any]

    @functools.cached_property
    def prompt(self) -> list[int]:
        """Piece ids of the words that stand before every sentence to translate; none for most systems."""
        return self.tokenizer.encode(self.entry.prompt) if self.entry.prompt else []

    def encode_source(self, text: str) -> list[int]:
        """Piece ids with the system's prompt in front and EOS at the end. Raises ValueError with a sentence for empty
        or too long text."""
        if not text.strip():
            raise ValueError("There is no sentence to translate. Type an English sentence.")
        ids = self.tokenizer.encode(text)
        if len(ids) > MAX_SOURCE:
            raise ValueError(f"This sentence has {len(ids)} pieces; at most {MAX_SOURCE} fit. Shorten it.")
        return [*self.prompt, *ids, EOS]

    def rows(self, source_ids: list[int]) -> Rows:
        """One request on this process's device, from ids with EOS."""
        return source_rows([source_ids[:-1]]).to(device())

    def translate(self, text: str, beam: int = 1, max_length: int = 64) -> Translation:
        """Greedy (beam 1) or beam translation. Raises ValueError with a sentence for input out of bounds."""
        self._translates()
        if not 1 <= beam <= MAX_BEAM:
            raise ValueError(f"The beam must be between 1 and {MAX_BEAM}.")
        if not 1 <= max_length <= MAX_TARGET:
            raise ValueError(f"The maximum length must be between 1 and {MAX_TARGET}.")
        source = self.encode_source(text)
        return self.describe(source, *self._decode(source, beam, max_length))

    @torch.inference_mode()
    def _decode(self, source: list[int], beam: int, max_length: int) -> tuple[list[int], Ended]:
        rows = self.rows(source)
        if beam == 1:
            found = greedy(self.system, self.system.read(rows), max_length)
            return found.tokens, found.ended
        best = beam_search(self.system, rows, beam, max_length)[0][0]
        return [*best.tokens, EOS] if best.finished else best.tokens, "eos" if best.finished else "length"

    def describe(self, source: list[int], target: list[int], ended: Ended) -> Translation:
        """A translation from its ids: probabilities and weights come from one teacher-forced pass."""
        scored, log_probs = self.forced(source, target)
        weights = self.system.alignment(scored.trace)
        return Translation(
            text=self.tokenizer.decode(target),
            source_tokens=self.tokenizer.pieces(source),
            target_tokens=self.tokenizer.pieces(target),
            log_probs=log_probs.tolist(),
            ended=ended,
            alignment=None if weights is None else weights[0].tolist(),
            source_ids=source,
            target_ids=target,
            source_words=self.tokenizer.words(source),
            target_words=self.tokenizer.words(target),
        )

    @torch.inference_mode()
    def forced(self, source: list[int], target: list[int]) -> tuple[Scored, Tensor]:
        """Teacher-forced pass over target ids: the scored rows, and log p of each target token (T,)."""
        target_in = torch.tensor([[BOS, *target[:-1]]], device=device())
        scored = self.system.score(self.rows(source), target_in)
        chosen = torch.tensor(target, device=device()).unsqueeze(-1)
        return scored, torch.log_softmax(scored.logits[0], dim=-1).gather(-1, chosen).squeeze(-1)

    def score(self, source: str, target: str) -> Scoring:
        """log p(target EOS | source). Raises ValueError with a sentence for input out of bounds."""
        self._translates()
        ids = self.tokenizer.encode(target) if target else []
        if len(ids) >= MAX_TARGET:
            raise ValueError(
                f"This translation has {len(ids)} pieces; at most {MAX_TARGET - 1} fit. Shorten it."
            )
        told = self.describe(self.encode_source(source), [*ids, EOS], "eos")
        return Scoring(
            told.source_tokens, told.target_tokens, told.log_probs, sum(told.log_probs), told.alignment
        )

    @torch.inference_mode()
    def continue_text(self, text: str, max_length: int = 32) -> Continuation:
        """English that goes on from `text` (empty: from nothing), the likeliest piece each time, at most max_length
        pieces more. Raises ValueError with a sentence for other systems and input out of bounds."""
        if not self.entry.continues:
            known = ", ".join(item.slug for item in SYSTEMS if item.continues)
            raise ValueError(
                f"{self.entry.title} was not trained to continue plain English; these were: {known}."
            )
        ids = self.tokenizer.encode(text) if text.strip() else []
        if not 1 <= max_length <= MAX_TARGET:
            raise ValueError(f"The maximum length must be between 1 and {MAX_TARGET}.")
        if len(ids) + max_length > MAX_TARGET:
            raise ValueError(
                f"This text has {len(ids)} pieces; it and what follows may have {MAX_TARGET}. Shorten it."
            )
        found = greedy(self.system, self.system.read(self.rows([EOS])), len(ids) + max_length, prefix=ids)
        chosen = torch.tensor(found.tokens, device=found.logits.device).unsqueeze(-1)
        log_probs = torch.log_softmax(found.logits, dim=-1).gather(-1, chosen).squeeze(-1)
        tokens = self.tokenizer.pieces(found.tokens)
        return Continuation(
            self.tokenizer.decode(found.tokens), tokens, len(ids), log_probs.tolist(), found.ended
        )

    def _translates(self) -> None:
        if self.entry.task != TATOEBA:
            command = "continue" if self.entry.task == LANGUAGE else "fill"
            raise ValueError(
                f"{self.entry.title} does not translate: its task is “{self.entry.task}”. "
                f"Try: python -m models {command}."
            )

    @torch.inference_mode()
    def fill(self, text: str, best: int = 5) -> list[Filled]:
        """What stands in each [MASK] of an English text, for systems that read both sides.

        Raises ValueError with a sentence where nothing is hidden or the system cannot fill.
        """
        system: Any = self.system
        if not hasattr(system, "fill"):
            raise ValueError(f"{self.entry.title} was not trained to fill hidden words; bert and unilm were.")
        ids = self._hidden(text)
        log_probs = torch.log_softmax(system.fill(self.rows(ids))[0], dim=-1)
        found = []
        for place in (k for k, token in enumerate(ids) if token == MASK):
            values, tokens = log_probs[place].topk(best)
            found.append(Filled(place, self.tokenizer.pieces(tokens.tolist()), values.tolist()))
        return found

    def _hidden(self, text: str) -> list[int]:
        """Piece ids with EOS, MASK where the text says [MASK]."""
        if HIDDEN not in text:
            raise ValueError("Nothing is hidden. Write [MASK] where a word is to be filled in.")
        space, *stand_in = self.tokenizer.encode(STAND_IN)
        ids = self.tokenizer.encode(text.replace(STAND_IN, "\ufffd").replace(HIDDEN, STAND_IN).strip())
        for place in reversed(range(len(ids) - len(stand_in) + 1)):
            if ids[place : place + len(stand_in)] == stand_in:
                first = place - (place > 0 and ids[place - 1] == space)
                ids[first : place + len(stand_in)] = [MASK]
        if len(ids) > MAX_SOURCE:
            raise ValueError(f"This sentence has {len(ids)} pieces; at most {MAX_SOURCE} fit. Shorten it.")
        return [*ids, EOS]


_lock = threading.Lock()


@functools.cache
def _load(slug: str) -> Translator:
    item = entry(slug)
    tokenizer = load_tokenizer(item.alphabet)
    system, facts = load_system(item)
    if facts["tokenizer_sha256"] != tokenizer.sha256:
        raise CheckpointError(
            slug, f"{item.title} was trained with another vocabulary than the one in assets/tokenizer."
        )
    return Translator(item, system, tokenizer, facts)


def load_translator(slug: str) -> Translator:
    """Load once a process, one system at a time."""
    with _lock:
        return _load(slug)


def describe(item: Entry) -> dict[str, Any]:
    """The facts of one system for `list`: from the catalog and the manifest, nothing is loaded."""
    facts = read_manifest().get(item.slug, {})
    return {
        "slug": item.slug,
        "title": item.title,
        "family": item.family,
        "paper": item.paper,
        "year": item.year,
        "task": item.task,
        "parameters": facts.get("parameters"),
        "device": device_name(),
        "sha256": facts.get("weights_sha256"),
        "metrics": facts.get("metrics"),
    }
