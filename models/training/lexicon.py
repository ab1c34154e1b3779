"""The words of the story grammar, English and French, with the forms that agreement needs.

Written for this project. `Noun.forms` pairs one English form with one French form: English `evidence` is
singular and uncountable where French has the plural `preuves`, so number is kept for each language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f"]
VOWELS = frozenset("aeiouyhàâéèêëîïôûœAEIOUYHÀÂÉÈÊËÎÏÔÛŒ")  # every h of this lexicon is silent


@dataclass(frozen=True)
class Form:
    """One English noun form facing one French noun form."""

    noun: str
    english: str
    english_plural: bool
    french: str
    gender: Gender
    plural: bool
    countable: bool = True


@dataclass(frozen=True)
class Noun:
    """A noun; kind is `written`, `abstract` or `physical` for things, `person` or `body` for agents."""

    name: str
    kind: str
    forms: tuple[Form, ...]

    @property
    def is_agent(self) -> bool:
        return self.kind in ("person", "body")


@dataclass(frozen=True)
class Adjective:
    """French forms: m. sing., f. sing., m. plur., f. plur.; `liaison` is the m. sing. before a vowel.

    Flags say what the story does with it: "was first" (predicate), "the ready judge" (attribute), "a last plan"
    (indefinite), "very public" (gradable) are left out where false.
    """

    name: str
    forms: tuple[str, str, str, str]
    before: bool = False
    liaison: str | None = None
    predicate: bool = True
    attribute: bool = True
    indefinite: bool = True
    gradable: bool = True
    kinds: frozenset[str] = frozenset()

    def agree(self, gender: Gender, plural: bool, following: str = "") -> str:
        """Return the form for a noun; `following` is the next French word where the adjective precedes it."""
        if self.liaison and gender == "m" and not plural and following[:1] in VOWELS:
            return self.liaison
        return self.forms[(gender == "f") + 2 * plural]


@dataclass(frozen=True)
class Verb:
    """A transitive verb: English base and past, French masculine singular participle (with avoir)."""

    base: str
    past: str
    participle: str
    written: bool

    def agree(self, gender: Gender, plural: bool) -> str:
        form = self.participle + ("e" if gender == "f" else "")
        return form if not plural or form.endswith("s") else form + "s"


@dataclass(frozen=True)
class Pronoun:
    """A subject pronoun with its forms of avoir and, where the story uses it, the pronoun of inversion."""

    name: str
    french: str
    have: str
    inverted: str | None


@dataclass(frozen=True)
class Phrase:
    """A fixed phrase: English units, and French units each with the English positions that it translates."""

    english: tuple[str, ...]
    french: tuple[tuple[str, tuple[int, ...]], ...]


def _phrase(english: str, french: str, links: str) -> Phrase:
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    units = french.split()
    linked = (tuple(e for e, f in pairs if f == place) for place in range(len(units)))
    return Phrase(tuple(english.split()), tuple(zip(units, linked, strict=True)))


_THINGS = """
report reports rapport m written | letter letters lettre f written | book books livre m written
article articles article m written | document documents document m written
chapter chapters chapitre m written | text texts texte m written | study studies étude f written
translation translations traduction f written | summary summaries résumé m written
contract contracts contrat m written | page pages page f written | proposal proposals proposition f written
plan plans plan m written | answer answers réponse f written | offer offers offre f written
review reviews critique f written | speech speeches discours m written
notebook notebooks carnet m physical | folder folders dossier m physical
argument arguments argument m abstract | decision decisions décision f abstract | idea ideas idée f abstract
method methods méthode f abstract | theory theories théorie f abstract | example examples exemple m abstract
explanation explanations explication f abstract | result results résultat m abstract
conclusion conclusions conclusion f abstract | project projects projet m abstract
solution solutions solution f abstract | hypothesis hypotheses hypothèse f abstract
"""
_UNCOUNTABLE = (
    Noun("evidence", "abstract", (Form("evidence", "evidence", False, "preuves", "f", True, False),)),
    Noun(
        "information",
        "written",
        (Form("information", "information", False, "informations", "f", True, False),),
    ),
    Noun("advice", "abstract", (Form("advice", "advice", False, "conseils", "m", True, False),)),
    Noun("research", "abstract", (Form("research", "research", False, "recherches", "f", True, False),)),
)
_AGENTS = """
committee committees comité m body | board boards conseil m body | team teams équipe f body
commission commissions commission f body | assembly assemblies assemblée f body
court courts tribunal m body | government governments gouvernement m body | jury juries jury m body
author authors auteur m person | judge judges juge m person | witness witnesses témoin m person
teacher teachers professeur m person | director directors directeur m person
student students étudiant m person | expert experts expert m person | minister ministers ministre m person
lawyer lawyers avocat m person | president presidents président m person
engineer engineers ingénieur m person | doctor doctors médecin m person
journalist journalists journaliste m person | woman women femme f person | man men homme m person
reader readers lecteur m person | editor editors éditeur m person
"""
_IRREGULAR_PLURALS = {"tribunal": "tribunaux", "discours": "discours"}


def _nouns(table: str) -> tuple[Noun, ...]:
    return tuple(_noun(*row) for row in _rows(table))


def _rows(table: str) -> list[list[str]]:
    return [row.split() for row in table.replace("\n", "|").split("|") if row.strip()]


def _noun(english: str, plural: str, french: str, sign: str, kind: str) -> Noun:
    gender: Gender = "f" if sign == "f" else "m"
    singular = Form(english, english, False, french, gender, False)
    several = Form(english, plural, True, _IRREGULAR_PLURALS.get(french, french + "s"), gender, True)
    return Noun(english, kind, (singular, several))


THINGS = _nouns(_THINGS) + _UNCOUNTABLE
AGENTS = _nouns(_AGENTS)

_THING_KINDS = frozenset({"written", "abstract", "physical"})
_AGENT_KINDS = frozenset({"person", "body"})
_MATERIAL = frozenset({"red", "blue", "green", "white", "black", "heavy", "big", "expensive"})
_OBJECTS = frozenset({"book", "letter", "document", "notebook", "folder", "page", "report"})

_AFTER_THING = """
convincing convaincant | clear clair | reliable fiable | detailed détaillé | important important
useful utile | useless inutile | interesting intéressant | precise précis | complete complet complète
serious sérieux sérieuse | public public publique | official officiel officielle | simple simple
difficult difficile | true vrai | false faux fausse | surprising surprenant | secret secret secrète
strange étrange | sufficient suffisant | weak faible | correct correct | reasonable raisonnable
original original originale originaux | necessary nécessaire | recent récent
dangerous dangereux dangereuse | expensive cher chère | boring ennuyeux ennuyeuse | scientific scientifique
similar semblable | red rouge | blue bleu | green vert | white blanc blanche | black noir | heavy lourd
honest honnête | perfect parfait | optimistic optimiste
"""
_AFTER_AGENT = """
honest honnête | patient patient | prudent prudent | satisfied satisfait | convinced convaincu
surprised surpris | absent absent | present présent | busy occupé | ready prêt | independent indépendant
optimistic optimiste | happy heureux heureuse | unhappy malheureux malheureuse | competent compétent
famous célèbre | severe sévère
"""
_BEFORE = """
long long longue | short court | good bon bonne | bad mauvais | first premier première
last dernier dernière | big gros grosse | small petit | second deuxième | other autre | great grand
"""
_ATTRIBUTE_ONLY = frozenset({"first", "last", "second", "other", "great", "new", "old", "young"})
_FEELINGS = frozenset({"busy", "satisfied", "surprised", "happy", "unhappy", "similar"})
_PREDICATE_ONLY = _FEELINGS | {
    *("true", "false", "sufficient", "necessary", "correct", "perfect", "absent", "present"),
    *("ready", "convinced"),
}
_ORDINALS = frozenset({"first", "last", "second", "other"})
_ABSOLUTE = frozenset(
    {"complete", "public", "official", "secret", "original", "scientific", "red", "blue", "green", "white"}
    | {"black", "independent", "famous", "convinced", "new"}
)
_MEASURES = frozenset({"long", "short", "small", "great"})


def _adjectives(table: str, before: bool, kinds: frozenset[str]) -> tuple[Adjective, ...]:
    return tuple(_adjective(row[0], row[1:], before, kinds) for row in _rows(table))


def _adjective(english: str, french: list[str], before: bool, kinds: frozenset[str]) -> Adjective:
    masculine = french[0]
    feminine = french[1] if len(french) > 1 else masculine if masculine.endswith("e") else masculine + "e"
    several = french[2] if len(french) > 2 else masculine if masculine[-1] in "sx" else masculine + "s"
    forms = (masculine, feminine, several, feminine + "s")
    return Adjective(
        english,
        forms,
        before,
        predicate=english not in _ATTRIBUTE_ONLY,
        attribute=english not in _PREDICATE_ONLY,
        indefinite=english not in _ORDINALS,
        gradable=english not in _ABSOLUTE and (english not in _PREDICATE_ONLY or english in _FEELINGS),
        kinds=kinds,
    )


_ALL = _THING_KINDS | _AGENT_KINDS
_NEW = Adjective("new", ("nouveau", "nouvelle", "nouveaux", "nouvelles"), True, "nouvel", False, kinds=_ALL)
_OLD = Adjective("old", ("vieux", "vieille", "vieux", "vieilles"), True, "vieil", False, kinds=_ALL)
_YOUNG = Adjective(
    "young", ("jeune", "jeune", "jeunes", "jeunes"), True, None, False, kinds=frozenset({"person"})
)

ADJECTIVES = (
    _adjectives(_AFTER_THING, False, _THING_KINDS)
    + _adjectives(_AFTER_AGENT, False, _AGENT_KINDS)
    + _adjectives(_BEFORE, True, _THING_KINDS)
    + (_NEW, _OLD, _YOUNG)
)


def fits(noun: Noun, adjective: Adjective) -> bool:
    """Say whether the story may give this quality to this noun (no red theory, no first evidence)."""
    if not noun.forms[0].countable and adjective.name in _ORDINALS | _MEASURES:
        return False
    if adjective.name in _MATERIAL:
        return noun.name in _OBJECTS
    return noun.kind in adjective.kinds


_VERBS = """
accept accepted accepté | reject rejected rejeté | approve approved approuvé | ignore ignored ignoré
discuss discussed discuté | examine examined examiné | support supported soutenu
criticize criticized critiqué | explain explained expliqué | defend defended défendu
understand understood compris | find found trouvé | present presented présenté | change changed modifié
use used utilisé | check checked vérifié | choose chose choisi | prepare prepared préparé | see saw vu
forget forgot oublié | review reviewed examiné
"""
_WRITTEN_VERBS = """
read read lu | write wrote écrit | sign signed signé | send sent envoyé | receive received reçu
publish published publié | translate translated traduit | correct corrected corrigé
finish finished terminé
"""


def _verbs(table: str, written: bool) -> tuple[Verb, ...]:
    return tuple(Verb(base, past, participle, written) for base, past, participle in _rows(table))


VERBS = _verbs(_VERBS, False) + _verbs(_WRITTEN_VERBS, True)

# What a rejected thing lacked: "because it lacked evidence", "parce qu'il manquait de preuves".
LACKING = (
    _phrase("evidence", "de preuves", "0-1"),
    _phrase("detail", "de détails", "0-1"),
    _phrase("examples", "d' exemples", "0-1"),
    _phrase("arguments", "d' arguments", "0-1"),
    _phrase("clarity", "de clarté", "0-1"),
)

PRONOUNS = (
    Pronoun("I", "je", "ai", None),
    Pronoun("he", "il", "a", "-t-il"),
    Pronoun("she", "elle", "a", "-t-elle"),
    Pronoun("we", "nous", "avons", "-nous"),
    Pronoun("you", "vous", "avez", "-vous"),
    Pronoun("they", "ils", "ont", "-ils"),
)

DEGREES = (("very", "très"), ("really", "vraiment"), ("too", "trop"))
MANNERS = (
    ("finally", "finalement"),
    ("quickly", "rapidement"),
    ("immediately", "immédiatement"),
    ("carefully", "soigneusement"),
    ("recently", "récemment"),
)

TIMES = (
    _phrase("yesterday", "hier", "0-0"),
    _phrase("this morning", "ce matin", "0-0 1-1"),
    _phrase("last week", "la semaine dernière", "0-2 1-1"),
    _phrase("last year", "l' année dernière", "0-2 1-1"),
    _phrase("last month", "le mois dernier", "0-2 1-1"),
    _phrase("on Monday", "lundi", "1-0"),
    _phrase("two days ago", "il y a deux jours", "0-3 1-4 2-0 2-1 2-2"),
    _phrase("in March", "en mars", "0-0 1-1"),
)
EVENTS = (
    _phrase("after the meeting", "après la réunion", "0-0 1-1 2-2"),
    _phrase("before the vote", "avant le vote", "0-0 1-1 2-2"),
    _phrase("during the debate", "pendant le débat", "0-0 1-1 2-2"),
    _phrase("after a long discussion", "après une longue discussion", "0-0 1-1 2-2 3-3"),
    _phrase("without a single question", "sans une seule question", "0-0 1-1 2-2 3-3"),
    _phrase("in front of the journalists", "devant les journalistes", "0-0 1-0 2-0 3-1 4-2"),
    _phrase("at the end of the day", "à la fin de la journée", "0-0 1-1 2-2 3-3 4-4 5-5"),
)
PLACES = (
    _phrase("in Paris", "à Paris", "0-0 1-1"),
    _phrase("at the university", "à l' université", "0-0 1-1 2-2"),
    _phrase("in the library", "dans la bibliothèque", "0-0 1-1 2-2"),
    _phrase("in the small room", "dans la petite salle", "0-0 1-1 2-2 3-3"),
    _phrase("at the town hall", "à la mairie", "0-0 1-1 2-2 3-2"),
    _phrase(
        "in the room on the first floor", "dans la salle du premier étage", "0-0 1-1 2-2 3-3 4-3 5-4 6-5"
    ),
)
