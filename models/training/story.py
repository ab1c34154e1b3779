"""English-French pairs on the article's theme, each with its word alignment by construction.

The public corpus hardly knows a convincing report or a committee, so about a tenth of training comes from here.
`story_author` chooses what to say, within the combinations of one split; `story_text` writes it in both languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from models.training import story_text as text
from models.training.lexicon import Phrase
from models.training.story_author import JOINED, OPENERS, SHAPES, Author, Combination, Plan, Split
from models.training.words import word_texts

MAX_UNITS = 24
_JOINTS = {"but": ("but", "mais"), "and": ("and", "et"), "so": ("so", "donc")}
_OPENERS: dict[str, Phrase] = {
    "because": Phrase(("because",), (("parce", (0,)), ("que", (0,)))),
    "although": Phrase(("although",), (("bien", (0,)), ("que", (0,)))),
    "even": Phrase(("even", "though"), (("même", (0,)), ("si", (1,)))),
}


@dataclass(frozen=True)
class StoryPair:
    """A sentence pair. Links are (English, French) positions among `word_texts` of each side.

    `distance` counts the English units strictly between the quality and the verb of the decision, in either
    order, without the negation itself, so that it is the same for both members of a minimal pair. It is None
    where the sentence has only one of the two.
    """

    english: str
    french: str
    links: frozenset[tuple[int, int]]
    negated: bool
    distance: int | None
    combinations: frozenset[Combination]


def realise(plan: Plan, negated: str | None) -> StoryPair:
    """Write a plan in both languages, with `negated` ("assessment", "decision" or None) in place of its own."""
    draft = text.Draft(plan.contracted)
    french = text.spell(_sentence(draft, plan, negated))
    links = frozenset((e, f) for f, (_, linked) in enumerate(french) for e in linked)
    sentences = text.write_english(draft.english), text.write_french(french)
    return StoryPair(*sentences, links, negated is not None, _distance(draft), plan.combinations)


def _distance(draft: text.Draft) -> int | None:
    if draft.quality is None or draft.deed is None:
        return None
    first, last = sorted((draft.quality, draft.deed))
    return sum(word not in ("not", "n't") for word in draft.english[first + 1 : last])


def _sentence(draft: text.Draft, plan: Plan, negated: str | None) -> text.French:
    no_quality, no_deed = negated == "assessment", negated == "decision"
    quality, deed = plan.assessment, plan.decision
    if quality and deed:
        return _two_clauses(draft, plan, quality, deed, (no_quality, no_deed))
    if deed:
        write = text.asked_decision if plan.shape == "ask_decide" else text.decision
        french = write(draft, deed, no_deed)
        if plan.lacking and isinstance(deed.object, text.NounPhrase):
            french += text.phrase(draft, _OPENERS["because"])
            french += text.lacked(draft, deed.object.form, plan.lacking)
    else:
        assert quality is not None
        write = {"ask_assess": text.asked_assessment, "it_was": text.described}.get(
            plan.shape, text.assessment
        )
        french = write(draft, quality, no_quality)
    return french + _sign(draft, "?" if plan.shape.startswith("ask") else ".")


def _two_clauses(
    draft: text.Draft, plan: Plan, quality: text.Assessment, deed: text.Decision, negated: tuple[bool, bool]
) -> text.French:
    if plan.shape in JOINED:
        french = text.assessment(draft, quality, negated[0]) + _joint(draft, plan)
        return french + text.decision(draft, deed, negated[1]) + _sign(draft, ".")
    if plan.clause_first:
        french = text.phrase(draft, _OPENERS[plan.shape]) + text.assessment(draft, quality, negated[0])
        return french + _sign(draft, ",") + text.decision(draft, deed, negated[1]) + _sign(draft, ".")
    french = text.decision(draft, deed, negated[1]) + text.phrase(draft, _OPENERS[plan.shape])
    return french + text.assessment(draft, quality, negated[0]) + _sign(draft, ".")


def _joint(draft: text.Draft, plan: Plan) -> text.French:
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
    """The last units of both sides, the signs, are linked: the largest positions give the lengths."""
    return max(max(link) for link in pair.links) < MAX_UNITS


def _negated_part(random: Random, shape: str) -> str | None:
    if random.random() >= 0.45:
        return None
    if shape in ("decide", "ask_decide", "lacked"):
        return "decision"
    if shape in ("assess", "ask_assess", "it_was"):
        return "assessment"
    return "assessment" if random.random() < 0.65 else "decision"


def generate(split: Split, count: int, seed: int) -> list[StoryPair]:
    """Return `count` distinct pairs of one split, the same for the same arguments.

    Raises ValueError where the split cannot give so many distinct sentences.
    """
    random = Random(f"{split}/{seed}")
    author, found, tries = Author(split, random), dict[str, StoryPair](), 0
    shapes, weights = list(SHAPES), list(SHAPES.values())
    while len(found) < count:
        shape = random.choices(shapes, weights)[0]
        negated = _negated_part(random, shape)
        pair = realise(author.plan(shape, negated, random.choice((0, 0, 1, 1, 2, 3))), negated)
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

    `distance` keeps the pairs in which assessment and decision are so many English units apart.
    """
    random = Random(f"minimal/{split}/{seed}")
    author, found, tries = Author(split, random), dict[str, tuple[StoryPair, StoryPair]](), 0
    shapes = [*JOINED, *JOINED, *OPENERS]
    while len(found) < count:
        plan = author.plan(random.choice(shapes), None, random.randrange(4))
        pair = realise(plan, None), realise(plan, "assessment")
        if all(map(_short, pair)) and distance in (None, pair[1].distance):
            found.setdefault(pair[0].english, pair)
        tries += 1
        if tries > 1000 * count + 10000:
            raise ValueError(f"{count} minimal pairs asked, {len(found)} found in {tries} tries")
    return list(found.values())


def keeps_negation(english_is_negated: bool, french: str) -> bool:
    """Judge whether a French output has the polarity of its English source.

    A negated sentence is kept by one complete ne ... pas (ne or n', then pas at most six units later) in either
    clause: the story negates one clause only, and the bool does not say which. An affirmative one is kept only
    where neither ne, n' nor pas occurs. So half a negation is a mistake on both sides.
    """
    units = [unit.lower().replace("’", "'") for unit in word_texts(french)]
    opened = [place for place, unit in enumerate(units) if unit in ("ne", "n'")]
    if english_is_negated:
        return any("pas" in units[place + 1 : place + 7] for place in opened)
    return not opened and "pas" not in units
