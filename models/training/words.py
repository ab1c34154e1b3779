"""The word split used everywhere: tokenizer, display, gold alignments.

A unit is a word, a clitic, up to three digits, a run of one punctuation sign, or white space. It may carry one
leading space. Contractions come apart where two languages would align their halves differently:

    wasn't -> was n't       can't -> ca n't        it's -> it 's          the report's -> the report 's
    l'argument -> l' argument                      qu'il -> qu' il        jusqu'ici -> jusqu' ici
    est-il -> est -il       a-t-il -> a -t-il      donne-le-moi -> donne -le -moi

A hyphen stays with the pronoun that it attaches, so that `-il` can face an English `he`; any other hyphenated
word stays whole (peut-être, left-handed), and so do aujourd'hui, o'clock, quelqu'un, rendez-vous. The
typographic apostrophe counts as the ASCII one. Each Han or kana sign is a unit.
"""

from __future__ import annotations

import re

from tokenizers import Regex, pre_tokenizers

_APOSTROPHE = "['’]"
_LETTER = r"[\p{L}\p{M}&&[^\p{Han}\p{Hiragana}\p{Katakana}]]"
_END = r"(?![\p{L}\p{M}\p{N}])"
_WHOLE = rf"(?i:aujourd{_APOSTROPHE}hui|o{_APOSTROPHE}clock|quelqu{_APOSTROPHE}une?|rendez-vous){_END}"
_NOT = rf"(?i:n{_APOSTROPHE}t){_END}"
_SUFFIX = rf"{_APOSTROPHE}(?i:s|m|d|re|ve|ll){_END}"
_CLITIC = "(?i:(?:jusqu|lorsqu|puisqu|quoiqu|qu|[ldjmtsnc])['’])"
_ELISION = rf"{_CLITIC}(?={_LETTER})(?!(?i:s|t|m|d|ll|re|ve){_END})"
_PRONOUN = "(?i:je|tu|ils?|elles?|on|nous|vous|ce|moi|toi|lui|leur|les|le|la|en|y)"
_ATTACHED = (
    rf"-(?:(?i:t)-)?{_PRONOUN}(?:(?=-{_PRONOUN}(?![\p{{L}}\p{{M}}\p{{N}}-]))|(?![\p{{L}}\p{{M}}\p{{N}}-]))"
)
_INNER = rf"(?:(?!{_ATTACHED})-|(?!{_SUFFIX}){_APOSTROPHE})"

# Oniguruma syntax, for tokenizers.Regex; first alternative that matches wins.
WORD_PATTERN = "|".join(
    [
        rf" ?{_WHOLE}",
        rf"(?<=\p{{L}}){_NOT}",
        rf" ?{_LETTER}+?(?={_NOT})",
        rf"(?<=[\p{{L}}\p{{N}}]){_SUFFIX}",
        rf" ?{_ELISION}",
        rf"(?<=\p{{L}}){_ATTACHED}",
        rf" ?{_LETTER}+(?:{_INNER}{_LETTER}+)*",
        r" ?[\p{Han}\p{Hiragana}\p{Katakana}]",
        r" ?\p{N}{1,3}",
        r" ?([^\s\p{L}\p{M}\p{N}])\1*\p{M}*",
        r"\s+(?!\S)",
        r"\s",
    ]
)

_SPLITTER = pre_tokenizers.Split(Regex(WORD_PATTERN), behavior="isolated")
_SURROGATE = re.compile("[\ud800-\udfff]")


def split_words(text: str) -> list[tuple[str, int, int]]:
    """Return (surface, start, stop) of each unit; start and stop count characters and tile `text` without gaps.

    The surface lacks the one leading space that belongs to the unit; `text[start:stop]` has it. Lone surrogates,
    which no UTF-8 library accepts, are units like any other sign.
    """
    pieces = _SPLITTER.pre_tokenize_str(_SURROGATE.sub("\ufffd", text))
    return [(_surface(text[start:stop]), start, stop) for _, (start, stop) in pieces]


def word_texts(text: str) -> list[str]:
    """Return the surfaces alone: `word_texts("It wasn't.") == ["It", "was", "n't", "."]`."""
    return [surface for surface, _, _ in split_words(text)]


def _surface(unit: str) -> str:
    return unit[1:] if len(unit) > 1 and unit[0] == " " else unit
