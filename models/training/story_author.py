"""What the story grammar chooses to say: combinations by split, and plans drawn from them.

Two kinds of combination carry the meaning: (noun, adjective) and (agent, verb, object). Each belongs to one split
by a stable hash, so every test combination is new in test while all its words are known from training.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Literal

from models.training import story_text as text
from models.training.lexicon import (
    ADJECTIVES,
    AGENTS,
    DEGREES,
    EVENTS,
    LACKING,
    MANNERS,
    PLACES,
    PRONOUNS,
    THINGS,
    TIMES,
    VERBS,
    Adjective,
    Form,
    Noun,
    Phrase,
    Pronoun,
    Verb,
    fits,
)

Split = Literal["train", "test"]
Combination = tuple[str, ...]
TEST_SHARE = 8  # one combination in eight is for test

# How often each shape is chosen. A joined shape takes a filler between the assessment and the decision.
SHAPES = {
    "assess": 16, "decide": 16, "because": 16, "but": 8, "and": 8, "so": 6, "sentences": 8,
    "although": 5, "even": 3, "lacked": 3, "ask_assess": 4, "ask_decide": 4, "it_was": 6,
}  # fmt: skip
JOINED = ("but", "and", "so", "sentences")
OPENERS = ("because", "although", "even")

# Combinations of the article's sentences and of assets/examples: never in training.
DEMONSTRATED: frozenset[Combination] = frozenset(
    {
        ("report", "convincing"),
        ("evidence", "convincing"),
        ("committee", "accept", "proposal"),
        ("committee", "reject", "proposal"),
        ("committee", "review", "report"),
        ("committee", "read", "report"),
        ("board", "approve", "plan"),
        ("argument", "weak"),
        ("judge", "accept", "argument"),
        ("letter", "detailed"),
    }
)


def split_of(combination: Combination) -> Split:
    """Return the only split in which this (noun, adjective) or (agent, verb, object) may occur."""
    if combination in DEMONSTRATED or zlib.crc32("/".join(combination).encode()) % TEST_SHARE == 0:
        return "test"
    return "train"


@dataclass(frozen=True)
class _Pool:
    """What one split may say: combinations, also indexed by the noun that is already chosen."""

    qualities: list[tuple[Noun, Adjective]]
    attributes: dict[str, list[Adjective]]
    deeds: list[tuple[Noun | Pronoun, Verb, Noun]]
    deeds_on: dict[str, list[tuple[Noun | Pronoun, Verb, Noun]]]
    deeds_by: dict[str, list[tuple[Noun | Pronoun, Verb, Noun]]]


@cache
def _pool(split: Split) -> _Pool:
    pool = _Pool([], defaultdict(list), [], defaultdict(list), defaultdict(list))
    for noun in THINGS + AGENTS:
        for adjective in ADJECTIVES:
            if fits(noun, adjective) and split_of((noun.name, adjective.name)) == split:
                if adjective.attribute:
                    pool.attributes[noun.name].append(adjective)
                if adjective.predicate:
                    pool.qualities.append((noun, adjective))
    for deed in _all_deeds():
        if split_of(_named(*deed)) == split:
            pool.deeds.append(deed)
            pool.deeds_on[deed[2].name].append(deed)
            pool.deeds_by[deed[0].name].append(deed)
    return pool


def _all_deeds() -> Iterator[tuple[Noun | Pronoun, Verb, Noun]]:
    for agent in AGENTS + PRONOUNS:
        for verb in VERBS:
            for thing in THINGS:
                if not verb.written or thing.kind == "written":
                    yield agent, verb, thing


def _named(agent: Noun | Pronoun, verb: Verb, thing: Noun) -> Combination:
    return agent.name, verb.base, thing.name


@dataclass(frozen=True)
class Plan:
    """A sentence before it is written: `shape` names the way its parts are joined."""

    shape: str
    assessment: text.Assessment | None
    decision: text.Decision | None
    filler: tuple[Phrase, ...]
    lacking: Phrase | None
    negated: str | None  # "assessment" or "decision"
    contracted: bool
    clause_first: bool  # "Because A, D." instead of "D because A."
    combinations: frozenset[Combination]


class Author:
    """Chooses plans for one split; every choice comes from one random generator."""

    def __init__(self, split: Split, random: Random) -> None:
        self.pool, self.random = _pool(split), random
        self.used: set[Combination] = set()
        self.said = ""  # the quality of the sentence, which no attribute should repeat

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _form(self, noun: Noun) -> Form:
        return noun.forms[0] if len(noun.forms) == 1 or self._chance(0.7) else noun.forms[1]

    def _attribute(self, noun: Noun, before: bool, determiner: str) -> Adjective | None:
        fitting = [a for a in self.pool.attributes[noun.name] if a.before == before and a.name != self.said]
        fitting = [a for a in fitting if a.indefinite or determiner == "the"]
        if not fitting:
            return None
        adjective = self.random.choice(fitting)
        self.used.add((noun.name, adjective.name))
        return adjective

    def noun(self, noun: Noun, attributes: float = 0.3, indefinite: float = 0.0) -> text.NounPhrase:
        form = self._form(noun)
        determiner = self.random.choices(("the", "this", "our", "their"), (80, 8, 6, 6))[0]
        if noun.name in ("man", "woman") and determiner in ("our", "their"):
            determiner = "this"
        if form.countable and not form.plural and self._chance(indefinite):
            determiner = "a"
        before = self._attribute(noun, True, determiner) if self._chance(attributes / 2) else None
        after = self._attribute(noun, False, determiner) if self._chance(attributes / 2) else None
        return text.NounPhrase(form, determiner, before, after, person=noun.kind == "person")

    def owned(self, noun: Noun) -> text.NounPhrase:
        """A thing, sometimes with its owner or with a clause on it."""
        plan, chance = self.noun(noun), self.random.random()
        if chance < 0.12:
            owner = self.noun(self.random.choice(AGENTS), 0.0)
            genitive = self._chance(0.5) and not owner.form.english_plural
            return replace(plan, determiner="the", owner=owner, genitive=genitive)
        if chance < 0.3:
            deed = self.random.choice(self.pool.deeds_on[noun.name])
            self.used.add(_named(*deed))
            return replace(plan, determiner="the", relative=text.Relative(deed[1], self.agent(deed[0], 0.1)))
        return plan

    def agent(self, agent: Noun | Pronoun, attributes: float = 0.25) -> text.NounPhrase | Pronoun:
        return agent if isinstance(agent, Pronoun) else self.noun(agent, attributes)

    def busy_agent(self, agent: Noun) -> text.NounPhrase:
        """An agent with "who read the report" on it."""
        deed = self.random.choice(self.pool.deeds_by[agent.name])
        self.used.add(_named(*deed))
        when = self.random.choice(TIMES) if self._chance(0.3) else None
        clause = text.Relative(deed[1], None, self.noun(deed[2], 0.1), when)
        return replace(self.noun(agent, 0.0), determiner="the", relative=clause)

    def assessment(self, mood: str = "past", simple: bool = False) -> tuple[text.Assessment, Noun]:
        noun, adjective = self.random.choice(self.pool.qualities)
        self.used.add((noun.name, adjective.name))
        self.said = adjective.name
        subject = self.noun(noun, 0.15) if simple or noun.is_agent else self.owned(noun)
        degree = (
            self.random.choice(DEGREES) if not simple and adjective.gradable and self._chance(0.2) else None
        )
        return text.Assessment(subject, adjective, degree, mood), noun

    def described(self) -> text.Assessment:
        """A countable singular thing for "It was a convincing report."."""
        noun, adjective = self.random.choice(self.pool.qualities)
        while noun.is_agent or not noun.forms[0].countable or not adjective.attribute:
            noun, adjective = self.random.choice(self.pool.qualities)
        self.used.add((noun.name, adjective.name))
        return text.Assessment(text.NounPhrase(noun.forms[0], "a"), adjective)

    def _deed(self, about: Noun | None, asked: bool) -> tuple[Noun | Pronoun, Verb, Noun]:
        """A deed on the thing assessed before in three of ten, else on another thing."""
        if about and not about.is_agent and self._chance(0.3):
            return self.random.choice(self.pool.deeds_on[about.name])
        while True:
            deed = self.random.choice(self.pool.deeds)
            askable = not isinstance(deed[0], Pronoun) or deed[0].inverted is not None
            if deed[2] is not about and deed[0] is not about and (askable or not asked):
                return deed

    def _subject(self, agent: Noun | Pronoun) -> text.NounPhrase | Pronoun:
        if isinstance(agent, Noun) and self._chance(0.15):
            return self.busy_agent(agent)
        return self.agent(agent)

    def decision(self, negated: bool, asked: bool, about: Noun | None, form: Form | None) -> text.Decision:
        """The noun `about` was assessed before; where `form` is given too, it or them may stand for it."""
        agent, verb, thing = self._deed(about if form else None, asked)
        self.used.add(_named(agent, verb, thing))
        if asked:
            return text.Decision(self.agent(agent), verb, self.noun(thing))
        subject = self._subject(agent)
        manner = self.random.choice(MANNERS) if not negated and self._chance(0.12) else None
        if form and thing is about:
            return text.Decision(subject, verb, form, manner)
        when = self._when() if self._chance(0.25) else None
        return text.Decision(subject, verb, self.noun(thing, 0.4, 0.0 if negated else 0.15), manner, when)

    def _when(self) -> Phrase:
        return self.random.choice(self.random.choice((TIMES, EVENTS, PLACES)))

    def filler(self, pieces: int) -> tuple[Phrase, ...]:
        chosen = self.random.sample(range(3), pieces)
        kinds = (EVENTS, PLACES, TIMES)
        return tuple(self.random.choice(kinds[kind]) for kind in sorted(chosen))

    def plan(self, shape: str, negated: str | None, pieces: int) -> Plan:
        self.used, self.said = set(), ""
        clause_first = shape in OPENERS and self._chance(0.3)
        assessment, about = self._quality(shape)
        decision, filler = None, ()
        if shape not in ("assess", "ask_assess", "it_was"):
            said = assessment.subject.form if assessment and (shape in JOINED or clause_first) else None
            decision = self.decision(negated == "decision", shape == "ask_decide", about, said)
        if shape in JOINED and decision and pieces:
            filler, decision = self.filler(pieces), replace(decision, when=None)
        lacking = self.random.choice(LACKING) if shape == "lacked" else None
        used = frozenset(self.used)
        parts = (assessment, decision, filler, lacking)
        return Plan(shape, *parts, negated, self._chance(0.5), clause_first, used)

    def _quality(self, shape: str) -> tuple[text.Assessment | None, Noun | None]:
        if shape == "it_was":
            return self.described(), None
        if shape in ("decide", "ask_decide", "lacked"):
            return None, None
        simple = shape == "ask_assess"
        mood = "present" if shape in ("assess", "ask_assess") and self._chance(0.3) else "past"
        return self.assessment("subjunctive" if shape == "although" else mood, simple)
