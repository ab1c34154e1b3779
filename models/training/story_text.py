"""Plans of the story grammar and how a plan is written in English and in French at once.

Each function writes its English units on a `Draft` in English order and returns its French units, each with
the positions of the English units that it translates; the caller puts them in French order. So the alignment
is exact by construction. Elision and contraction (l', n', qu', du, au) happen at the end and keep the links.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from models.training.lexicon import VOWELS, Adjective, Form, Phrase, Pronoun, Verb

French = list[tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class NounPhrase:
    """Determiner, noun and what hangs on it: an `owner` ("the committee's report") or a `relative` clause."""

    form: Form
    determiner: str = "the"
    before: Adjective | None = None
    after: Adjective | None = None
    owner: NounPhrase | None = None
    genitive: bool = False
    relative: Relative | None = None
    person: bool = False


@dataclass(frozen=True)
class Relative:
    """Object relative ("that the committee read", `agent` given) or subject relative ("that read it")."""

    verb: Verb
    agent: NounPhrase | Pronoun | None = None
    object: NounPhrase | None = None
    when: Phrase | None = None
    negated: bool = False


@dataclass(frozen=True)
class Assessment:
    """The subject has, or has not, a quality. `mood` is past, present or subjunctive (French, after bien que)."""

    subject: NounPhrase
    adjective: Adjective
    degree: tuple[str, str] | None = None
    mood: str = "past"


@dataclass(frozen=True)
class Decision:
    """An agent does, or does not do, something to an object; a `Form` as object is a pronoun (it, them)."""

    agent: NounPhrase | Pronoun
    verb: Verb
    object: NounPhrase | Form
    manner: tuple[str, str] | None = None
    when: Phrase | None = None


@dataclass
class Draft:
    """English units so far, whether a negation is written n't, and where the quality and the deed stand."""

    contracted: bool = False
    english: list[str] = field(default_factory=list)
    quality: int | None = None
    deed: int | None = None

    def add(self, word: str) -> int:
        self.english.append(word)
        return len(self.english) - 1

    def negation(self) -> int:
        return self.add("n't" if self.contracted else "not")


_BE = {
    "past": (("was", "were"), ("était", "étaient")),
    "present": (("is", "are"), ("est", "sont")),
    "subjunctive": (("was", "were"), ("soit", "soient")),
}


def phrase(draft: Draft, fixed: Phrase) -> French:
    start = len(draft.english)
    draft.english.extend(fixed.english)
    return [(text, tuple(start + position for position in linked)) for text, linked in fixed.french]


def noun_phrase(draft: Draft, plan: NounPhrase) -> French:
    if plan.owner and plan.genitive:
        owner = noun_phrase(draft, plan.owner)
        of = ("de", (draft.add("'s"),))
        return [(_article(plan.form), ()), *_modified(draft, plan), of, *owner]
    french = _determined(draft, plan)
    if plan.owner:
        of = draft.add("of")
        french += [("de", (of,)), *noun_phrase(draft, plan.owner)]
    return french + (_relative(draft, plan) if plan.relative else [])


def _determined(draft: Draft, plan: NounPhrase) -> French:
    determiner = draft.add(_english_determiner(plan))
    rest = _modified(draft, plan)
    return [(_french_determiner(plan, rest[0][0]), (determiner,)), *rest]


def _modified(draft: Draft, plan: NounPhrase) -> French:
    form = plan.form
    before = (draft.add(plan.before.name),) if plan.before else ()
    after = (draft.add(plan.after.name),) if plan.after else ()
    french: French = [(form.french, (draft.add(form.english),))]
    if plan.before:
        french.insert(0, (plan.before.agree(form.gender, form.plural, form.french), before))
    if plan.after:
        french.append((plan.after.agree(form.gender, form.plural), after))
    return french


def _english_determiner(plan: NounPhrase) -> str:
    if plan.determiner == "this" and plan.form.english_plural:
        return "these"
    first = plan.before or plan.after
    word = first.name if first else plan.form.english
    if plan.determiner == "a" and (word[0] in "aeio" or word in ("honest", "unhappy", "understood")):
        return "an"
    return plan.determiner


def _article(form: Form) -> str:
    return "les" if form.plural else "la" if form.gender == "f" else "le"


def _french_determiner(plan: NounPhrase, following: str) -> str:
    plural, feminine = plan.form.plural, plan.form.gender == "f"
    match plan.determiner:
        case "the":
            return _article(plan.form)
        case "this":
            masculine = "cet" if following[0] in VOWELS else "ce"
            return "ces" if plural else "cette" if feminine else masculine
        case "a":
            return "une" if feminine else "un"
        case "our":
            return "nos" if plural else "notre"
        case "their":
            return "leurs" if plural else "leur"
    raise ValueError(f"unknown determiner {plan.determiner!r}")


def _relative(draft: Draft, plan: NounPhrase) -> French:
    clause = plan.relative
    assert clause is not None
    that = draft.add("who" if plan.person and clause.agent is None else "that")
    if clause.agent is None:
        assert clause.object is not None
        spoken = _verb(draft, clause.verb, have(plan), clause.negated, None)
        french = [("qui", (that,)), *spoken, *noun_phrase(draft, clause.object)]
        return french + (phrase(draft, clause.when) if clause.when else [])
    subject = agent(draft, clause.agent)
    spoken = _verb(draft, clause.verb, have(clause.agent), clause.negated, None)
    participle = (clause.verb.agree(plan.form.gender, plan.form.plural), spoken[-1][1])
    return [("que", (that,)), *subject, *spoken[:-1], participle]


def agent(draft: Draft, plan: NounPhrase | Pronoun) -> French:
    if isinstance(plan, Pronoun):
        return [(plan.french, (draft.add(plan.name),))]
    return noun_phrase(draft, plan)


def have(plan: NounPhrase | Pronoun) -> str:
    if isinstance(plan, Pronoun):
        return plan.have
    return "ont" if plan.form.plural else "a"


def _verb(draft: Draft, verb: Verb, auxiliary: str, negated: bool, manner: tuple[str, str] | None) -> French:
    """Passé composé without subject and object, the masculine singular participle last."""
    did, no = (draft.add("did"), draft.negation()) if negated else (None, None)
    adverb: French = [(manner[1], (draft.add(manner[0]),))] if manner else []
    spoken = draft.add(verb.base if negated else verb.past)
    helper = (auxiliary, (did if did is not None else spoken,))
    participle = (verb.participle, (spoken,))
    if no is None:
        return [helper, *adverb, participle]
    return [("ne", (no,)), helper, ("pas", (no,)), *adverb, participle]


def decision(draft: Draft, plan: Decision, negated: bool) -> French:
    subject = agent(draft, plan.agent)
    spoken = _verb(draft, plan.verb, have(plan.agent), negated, plan.manner)
    (draft.deed,) = spoken[-1][1]
    if isinstance(plan.object, Form):
        spoken = _with_pronoun(draft, plan.verb, plan.object, spoken, negated)
    else:
        spoken = spoken + noun_phrase(draft, plan.object)
    return subject + spoken + (phrase(draft, plan.when) if plan.when else [])


def _with_pronoun(draft: Draft, verb: Verb, form: Form, spoken: French, negated: bool) -> French:
    pronoun = (_article(form), (draft.add("them" if form.english_plural else "it"),))
    participle = (verb.agree(form.gender, form.plural), spoken[-1][1])
    place = 1 if negated else 0  # ne l'a pas rejeté, l'a rejeté
    return [*spoken[:place], pronoun, *spoken[place:-1], participle]


def assessment(draft: Draft, plan: Assessment, negated: bool) -> French:
    subject = noun_phrase(draft, plan.subject)
    form = plan.subject.form
    english, french = _BE[plan.mood]
    be = (french[form.plural], (draft.add(english[form.english_plural]),))
    no = draft.negation() if negated else None
    degree: French = [(plan.degree[1], (draft.add(plan.degree[0]),))] if plan.degree else []
    draft.quality = draft.add(plan.adjective.name)
    quality = (plan.adjective.agree(form.gender, form.plural), (draft.quality,))
    verb = [be] if no is None else [("ne", (no,)), be, ("pas", (no,))]
    return [*subject, *verb, *degree, quality]


def asked_assessment(draft: Draft, plan: Assessment, negated: bool) -> French:
    form = plan.subject.form
    english, french = _BE[plan.mood]
    be = draft.add(english[form.english_plural])
    no = draft.negation() if negated and draft.contracted else None
    subject = noun_phrase(draft, plan.subject)
    if negated and no is None:
        no = draft.negation()
    quality = (plan.adjective.agree(form.gender, form.plural), (draft.add(plan.adjective.name),))
    clitic = "-" + ("elle" if form.gender == "f" else "il") + ("s" if form.plural else "")
    verb: French = [(french[form.plural], (be,)), (clitic, ())]
    return [*subject, *(verb if no is None else [("ne", (no,)), *verb, ("pas", (no,))]), quality]


def asked_decision(draft: Draft, plan: Decision, negated: bool) -> French:
    did = draft.add("did")
    no = draft.negation() if negated and draft.contracted else None
    subject = agent(draft, plan.agent)
    if negated and no is None:
        no = draft.negation()
    participle = (plan.verb.participle, (draft.add(plan.verb.base),))
    subject, clitic = _inverted(plan.agent, subject)
    verb: French = [(have(plan.agent), (did,)), clitic]
    verb = verb if no is None else [("ne", (no,)), *verb, ("pas", (no,))]
    assert isinstance(plan.object, NounPhrase)
    return [*subject, *verb, participle, *noun_phrase(draft, plan.object)]


def _inverted(plan: NounPhrase | Pronoun, subject: French) -> tuple[French, tuple[str, tuple[int, ...]]]:
    if isinstance(plan, Pronoun):
        if plan.inverted is None:
            raise ValueError(f"{plan.name} has no inversion in this grammar")
        return [], (plan.inverted, subject[0][1])
    gender = "elle" if plan.form.gender == "f" else "il"
    return subject, (f"-{gender}s" if plan.form.plural else f"-t-{gender}", ())


_CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
_ELIDED = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'", "je": "j'", "ce": "c'"}


def spell(units: French) -> French:
    """Apply elision before a vowel, then contraction of preposition and article; links follow their words."""
    spelt: French = []
    for place, (text, linked) in enumerate(units):
        following = units[place + 1][0] if place + 1 < len(units) else ""
        if text in _ELIDED and following[:1] in VOWELS and following[:1]:
            text = _ELIDED[text]
        previous = spelt[-1] if spelt else ("", ())
        if (previous[0], text) in _CONTRACTIONS:
            spelt[-1] = (_CONTRACTIONS[previous[0], text], tuple(sorted({*previous[1], *linked})))
        else:
            spelt.append((text, linked))
    return spelt


def described(draft: Draft, plan: Assessment, negated: bool) -> French:
    """Write "It was a convincing report": the quality stands inside the noun phrase."""
    form, adjective = plan.subject.form, plan.adjective
    it, was = draft.add("it"), draft.add("was")
    no = draft.negation() if negated else None
    after = None if adjective.before else adjective
    thing = noun_phrase(draft, NounPhrase(form, "a", adjective if adjective.before else None, after))
    verb: French = [("était", (was,))] if no is None else [("ne", (no,)), ("était", (was,)), ("pas", (no,))]
    return [("ce", (it,)), *verb, *thing]


def lacked(draft: Draft, form: Form, thing: Phrase) -> French:
    """Write "it lacked evidence" about the object of the decision."""
    subject = ("elle" if form.gender == "f" else "il") + ("s" if form.plural else "")
    french: French = [(subject, (draft.add("they" if form.english_plural else "it"),))]
    french.append(("manquaient" if form.plural else "manquait", (draft.add("lacked"),)))
    return french + phrase(draft, thing)


def write_english(units: list[str]) -> str:
    return _capitalised("".join(u if u in ("n't", "'s", ".", ",", "?") else " " + u for u in units))


def write_french(units: French) -> str:
    text, tight = "", True
    for unit, _ in units:
        text += unit if tight or unit in ".," or unit[0] == "-" else " " + unit
        tight = unit[-1] == "'"
    return _capitalised(text)


def _capitalised(text: str) -> str:
    first, *rest = text.strip().split(". ")
    return ". ".join(part[:1].upper() + part[1:] for part in [first, *rest])
