"""English-French pairs on the article's theme, each with its word alignment by construction.

The public corpus hardly knows a convincing report or a committee, so about a tenth of training comes from here. Two kinds
of combination carry the meaning: (noun, adjective), and (agent, verb, object). Each belongs to one split by a stable
hash; a pair uses combinations of its own split only, so every test combination is new while all its words are known. The
article's sentences are forced into the test side.
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
from models.training.words import word_texts

Split = Literal["train", "test"]
Combination = tuple[str, ...]
MAX_UNITS = 24
TEST_SHARE = 8  # one combination in eight is for test

# How often each shape is chosen. The joined shapes take a filler between the assessment and the decision.
SHAPES = {
    "assess": 16, "decide": 16, "because": 16, "but": 8, "and": 8, "so": 6, "sentences": 8,
    "although": 5, "even": 3, "ask_assess": 4, "ask_decide": 4, "it_was": 6,
}  # fmt: skip
JOINED = ("but", "and", "so", "sentences")
_JOINTS = {"but": ("but", "mais"), "and": ("and", "et"), "so": ("so", "donc")}
_OPENERS: dict[str, Phrase] = {
    "because": Phrase(("because",), (("parce", (0,)), ("que", (0,)))),
    "although": Phrase(("although",), (("bien", (0,)), ("que", (0,)))),
    "even": Phrase(("even", "though"), (("même", (0,)), ("si", (1,)))),
}

# Combinations of the article's sentences and of assets/examples: never in training.
DEMONSTRATED: frozenset[Combination] = frozenset(
    {
        ("report", "convincing"),
        ("evidence", "convincing"),
        ("committee", "accept", "proposal"),
        ("committee", "reject", "proposal"),
        ("committee", "review", "report"),
        ("committee", "read", "report"),
        ("committee", "accept", "report"),
        ("committee", "reject", "report"),
    }
)


@dataclass(frozen=True)
class StoryPair:
    """A sentence pair. Links are (English, French) positions among `word_texts` of each side.

    `distance` counts the English units strictly between the quality and the verb of the decision, in either order; it is
    None where the sentence has only one of them.
    """

    english: str
    french: str
    links: frozenset[tuple[int, int]]
    negated: bool
    distance: int | None
    combinations: frozenset[Combination]


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
class _Plan:
    """A sentence before it is written: `shape` names the way its parts are joined."""

    shape: str
    assessment: text.Assessment | None
    decision: text.Decision | None
    filler: tuple[Phrase, ...]
    negated: str | None  # "assessment" or "decision"
    contracted: bool
    clause_first: bool  # "Because A, D." instead of "D because A."
    combinations: frozenset[Combination]


class _Author:
    """Chooses plans for one split; every choice comes from one random generator."""

    def __init__(self, split: Split, random: Random) -> None:
        self.pool, self.random = _pool(split), random
        self.used: set[Combination] = set()

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _form(self, noun: Noun) -> Form:
        return noun.forms[0] if len(noun.forms) == 1 or self._chance(0.7) else noun.forms[1]

    def _attribute(self, noun: Noun, before: bool) -> Adjective | None:
        fitting = [a for a in self.pool.attributes.get(noun.name, ()) if a.before == before]
        if not fitting:
            return None
        adjective = self.random.choice(fitting)
        self.used.add((noun.name, adjective.name))
        return adjective

    def noun(self, noun: Noun, attributes: float = 0.3, indefinite: float = 0.0) -> text.NounPhrase:
        form = self._form(noun)
        before = self._attribute(noun, True) if self._chance(attributes / 2) else None
        after = self._attribute(noun, False) if self._chance(attributes / 2) else None
        determiner = self.random.choices(("the", "this", "our", "their"), (80, 8, 6, 6))[0]
        if form.countable and not form.plural and self._chance(indefinite):
            determiner = "a"
        return text.NounPhrase(form, determiner, before, after, person=noun.kind == "person")

    def owned(self, noun: Noun) -> text.NounPhrase:
        """A thing, sometimes with its owner or with a clause on it."""
        plan, chance = self.noun(noun), self.random.random()
        if chance < 0.12:
            owner = self.noun(self.random.choice(AGENTS), 0.0)
            genitive = self._chance(0.5) and not owner.form.english_plural
            return replace(plan, determiner="the", owner=owner, genitive=genitive)
        if chance < 0.3 and self.pool.deeds_on[noun.name]:
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
        clause = text.Relative(deed[1], None, self.noun(deed[2], 0.1))
        return replace(self.noun(agent, 0.0), determiner="the", relative=clause)

    def assessment(self, mood: str = "past", simple: bool = False) -> tuple[text.Assessment, Noun]:
        noun, adjective = self.random.choice(self.pool.qualities)
        self.used.add((noun.name, adjective.name))
        subject = self.noun(noun, 0.15) if simple or noun.is_agent else self.owned(noun)
        degree = self.random.choice(DEGREES) if not simple and self._chance(0.2) else None
        return text.Assessment(subject, adjective, degree, mood), noun

    def decision(self, about: Noun | None, negated: bool, simple: bool = False) -> text.Decision:
        """`about` is the thing assessed before: the decision may then say it, with a pronoun as object."""
        deeds = self.pool.deeds_on[about.name] if about and self._chance(0.3) else []
        agent, verb, thing = self.random.choice(deeds or self.pool.deeds)
        while simple and isinstance(agent, Pronoun) and agent.inverted is None:
            agent, verb, thing = self.random.choice(self.pool.deeds)
        self.used.add(_named(agent, verb, thing))
        if simple:
            return text.Decision(self.agent(agent), verb, self.noun(thing))
        subject = self.agent(agent)
        if isinstance(agent, Noun) and self._chance(0.15):
            subject = self.busy_agent(agent)
        manner = self.random.choice(MANNERS) if not negated and self._chance(0.12) else None
        when = self._when() if self._chance(0.25) else None
        target = self.noun(thing, 0.4, 0.0 if negated else 0.15)
        return text.Decision(subject, verb, target, manner, when)

    def _when(self) -> Phrase:
        return self.random.choice(self.random.choice((TIMES, EVENTS, PLACES)))

    def filler(self, pieces: int) -> tuple[Phrase, ...]:
        chosen = self.random.sample(range(3), pieces)
        kinds = (EVENTS, PLACES, TIMES)
        return tuple(self.random.choice(kinds[kind]) for kind in sorted(chosen))

    def plan(self, shape: str, negated: str | None, pieces: int) -> _Plan:
        self.used = set()
        assessment, decision, about = None, None, None
        simple = shape.startswith("ask")
        if shape == "it_was":
            assessment = self.described()
        elif shape not in ("decide", "ask_decide"):
            mood = "present" if shape in ("assess", "ask_assess") and self._chance(0.3) else "past"
            assessment, about = self.assessment("subjunctive" if shape == "although" else mood, simple)
        if shape not in ("assess", "ask_assess", "it_was"):
            decision = self.decision(about, negated == "decision", simple)
            decision = self._with_pronoun(shape, decision, assessment, about)
        filler = self.filler(pieces) if shape in JOINED else ()
        if filler and decision:
            decision = replace(decision, when=None)
        first = self._chance(0.3)
        used = frozenset(self.used)
        return _Plan(shape, assessment, decision, filler, negated, self._chance(0.5), first, used)

    def _with_pronoun(
        self, shape: str, decision: text.Decision, assessment: text.Assessment | None, about: Noun | None
    ) -> text.Decision:
        """Replace the object by it or them where the assessed thing is what the decision is about."""
        target = decision.object
        if shape not in JOINED or assessment is None or about is None or about.is_agent:
            return decision
        if not isinstance(target, text.NounPhrase) or target.form.noun != about.name:
            return decision
        # The attribute of the dropped object stays in `used`: a superset of what is said is still of this split.
        return replace(decision, object=assessment.subject.form, when=None)

    def described(self) -> text.Assessment:
        """A countable singular thing for "It was a convincing report."."""
        noun, adjective = self.random.choice(self.pool.qualities)
        while noun.is_agent or not noun.forms[0].countable:
            noun, adjective = self.random.choice(self.pool.qualities)
        self.used.add((noun.name, adjective.name))
        return text.Assessment(text.NounPhrase(noun.forms[0], "a"), adjective)


def _realise(plan: _Plan, negated: str | None) -> StoryPair:
    draft = text.Draft(plan.contracted)
    french = text.spell(_sentence(draft, plan, negated))
    links = frozenset((e, f) for f, (_, linked) in enumerate(french) for e in linked)
    both = draft.quality is not None and draft.deed is not None
    distance = abs(draft.quality - draft.deed) - 1 if both else None  # type: ignore[operator]
    sentences = text.write_english(draft.english), text.write_french(french)
    return StoryPair(*sentences, links, negated is not None, distance, plan.combinations)


def _sentence(draft: text.Draft, plan: _Plan, negated: str | None) -> text.French:
    no_quality, no_deed = negated == "assessment", negated == "decision"
    quality, deed = plan.assessment, plan.decision
    if quality and deed:
        return _two_clauses(draft, plan, quality, deed, (no_quality, no_deed))
    if deed:
        write = text.asked_decision if plan.shape == "ask_decide" else text.decision
        french = write(draft, deed, no_deed)
    else:
        assert quality is not None
        write = {"ask_assess": text.asked_assessment, "it_was": text.described}.get(
            plan.shape, text.assessment
        )
        french = write(draft, quality, no_quality)
    return french + _sign(draft, "?" if plan.shape.startswith("ask") else ".")


def _two_clauses(
    draft: text.Draft, plan: _Plan, quality: text.Assessment, deed: text.Decision, negated: tuple[bool, bool]
) -> text.French:
    if plan.shape in JOINED:
        french = text.assessment(draft, quality, negated[0]) + _joint(draft, plan)
        return french + text.decision(draft, deed, negated[1]) + _sign(draft, ".")
    if plan.clause_first:
        french = text.phrase(draft, _OPENERS[plan.shape]) + text.assessment(draft, quality, negated[0])
        return french + _sign(draft, ",") + text.decision(draft, deed, negated[1]) + _sign(draft, ".")
    french = text.decision(draft, deed, negated[1]) + text.phrase(draft, _OPENERS[plan.shape])
    return french + text.assessment(draft, quality, negated[0]) + _sign(draft, ".")


def _joint(draft: text.Draft, plan: _Plan) -> text.French:
    french = _sign(draft, "." if plan.shape == "sentences" else ",")
    if plan.shape in _JOINTS:
        english, word = _JOINTS[plan.shape]
        french.append((word, (draft.add(english),)))
    for piece in plan.filler:
        french += text.phrase(draft, piece)
    return french + (_sign(draft, ",") if plan.filler else [])


def _sign(draft: text.Draft, sign: str) -> text.French:
    return [(sign, (draft.add(sign),))]


def _short(pair: StoryPair) -> bool:
    return max(len(word_texts(pair.english)), len(word_texts(pair.french))) <= MAX_UNITS


def _negated_part(random: Random, shape: str) -> str | None:
    if random.random() >= 0.45:
        return None
    if shape in ("decide", "ask_decide"):
        return "decision"
    if shape in ("assess", "ask_assess", "it_was"):
        return "assessment"
    return "assessment" if random.random() < 0.65 else "decision"


def generate(split: Split, count: int, seed: int) -> list[StoryPair]:
    """Return `count` distinct pairs of one split, the same for the same arguments.

    Raises ValueError where the split cannot give so many distinct sentences.
    """
    random = Random(f"{split}/{seed}")
    author, found, tries = _Author(split, random), dict[str, StoryPair](), 0
    shapes, weights = list(SHAPES), list(SHAPES.values())
    while len(found) < count:
        shape = random.choices(shapes, weights)[0]
        negated = _negated_part(random, shape)
        pair = _realise(author.plan(shape, negated, random.choice((0, 0, 1, 1, 2, 3))), negated)
        if _short(pair):
            found.setdefault(pair.english, pair)
        tries += 1
        if tries > 100 * count + 1000:
            raise ValueError(f"{count} distinct sentences asked, {len(found)} found in {tries} tries")
    return list(found.values())


def minimal_pairs(
    count: int, seed: int, split: Split = "test", distance: int | None = None
) -> list[tuple[StoryPair, StoryPair]]:
    """Return distinct (affirmative, negative) pairs that differ only in the negation of the assessment.

    Both members of a pair carry the distance between assessment and decision; `distance` keeps one distance only.
    """
    random = Random(f"minimal/{split}/{seed}")
    author, found, tries = _Author(split, random), dict[str, tuple[StoryPair, StoryPair]](), 0
    shapes = [*JOINED, *JOINED, *_OPENERS]
    while len(found) < count:
        plan = author.plan(random.choice(shapes), None, random.randrange(4))
        pair = _realise(plan, None), _realise(plan, "assessment")
        if all(map(_short, pair)) and distance in (None, pair[1].distance):
            found.setdefault(pair[0].english, pair)
        tries += 1
        if tries > 1000 * count + 10000:
            raise ValueError(f"{count} minimal pairs asked, {len(found)} found in {tries} tries")
    return list(found.values())


def keeps_negation(english_is_negated: bool, french: str) -> bool:
    """Judge whether a French output has the polarity of its English source.

    A negated sentence is kept by one complete ne ... pas (ne or n', then pas at most six units later) in either clause:
    the story never negates both, and a translation may move a negation. An affirmative one is kept only where neither
    ne, n' nor pas occurs, so half a negation is a mistake on both sides.
    """
    units = [unit.lower().replace("’", "'") for unit in word_texts(french)]
    opened = [place for place, unit in enumerate(units) if unit in ("ne", "n'")]
    if english_is_negated:
        return any("pas" in units[place + 1 : place + 7] for place in opened)
    return not opened and "pas" not in units
