"""Another person or thing in a copied sentence than in the evidence.

A name may replace a pronoun for it, and a word a synonym. Verbs and adjectives may change: those that reverse a sentence are terms.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from actors.facts.lexicon import Term, copy_terms, sides
from actors.facts.numbers.units import SIGNS
from actors.facts.reading import read
from actors.facts.stems import EMPTY, stem_of
from actors.gate.copies.alignment import Copy, CopyChange, CopyToken
from actors.gate.copies.wording import CopyWording, same_terms, wording
from actors.gate.thresholds import (
    HAN_CHANGED_FEWEST,
    HAN_CHANGED_MOST,
    NAME_COPY_SHARE,
    NOUN_COPY_SHARE,
    NOUN_SPARE_WORDS,
    NOUN_WORDS,
)
from index.languages.characters import is_han, is_hangul, normal, visible
from index.text.citations import strip_markers

_CAPITAL = re.compile(r"(?<![.!?:…»”\"*#|•\n-][ \n])(?<![\n(“«\"*])(?<!\A)\b[A-ZÀ-ÖØ-ÞŒ][^\W_]*")


def other_noun(copy: Copy, change: CopyChange, written: str, there: str, evidence: Sequence[str], language: str) -> str:
    """The replaced noun and its replacement; "" if both are the same or it is unclear. `written` and `there` have capitals.

    One name for another contradicts; a noun "in place of" another may be a second word for the same.
    """
    took, gave = change.end - change.begin, change.last - change.first
    if copy.share < NAME_COPY_SHARE or not took or not gave or gave > took + NOUN_SPARE_WORDS:
        return ""
    mine, theirs = copy.mine[change.begin : change.end], copy.theirs[change.first : change.last]
    if is_han(mine[0].text[0]) and is_han(theirs[0].text[0]):
        return other_characters(copy, mine, theirs, evidence, language)
    knows = wording(language)
    own, others = same_terms(copy, mine, theirs, language)
    new, old = _content(mine, own), _content(theirs, others)
    unlike, gone = _unlike(new, old, knows), _unlike(old, new, knows)
    if not unlike and not gone:
        return _exchanged(copy, mine, new, old, language)
    if not 0 < len(unlike) <= NOUN_WORDS or not 0 < len(gone) <= NOUN_WORDS:
        return ""
    names = _capitals(written) | _capitals(there) | {name for text in evidence for name in _capitals(text)}
    named, was_named = ([token for token in some if token.text in names] for some in (unlike, gone))
    if named and was_named:
        return f"says {_words(named)} for {_words(was_named)}"
    harmless = (
        was_named
        or (named and _elsewhere(named, evidence, copy.there))
        or not _are_other_nouns(copy, unlike, gone, knows)
        or _points_back(copy, change, unlike, evidence, knows)
    )
    return "" if harmless else f"has {_words(unlike)} in place of {_words(gone)}"


def _words(tokens: Sequence[CopyToken]) -> str:
    return " ".join(token.text for token in tokens)


def _exchanged(
    copy: Copy, mine: Sequence[CopyToken], new: Sequence[CopyToken], old: Sequence[CopyToken], language: str
) -> str:
    """The same words in another order: an enumeration may be reordered; subject and object, or a sequence, may not."""
    words, others = [token.text for token in new], [token.text for token in old]
    if words == others or sorted(words) != sorted(others):
        return ""
    begin, end = mine[0].start, mine[-1].end
    ordered = any(begin <= term.start < end and sides(term) for term in copy_terms(copy.text, language))
    if wording(language).joins.search(copy.text[begin:end]) and not ordered:
        return ""
    return "turns who does what to whom"


def _are_other_nouns(copy: Copy, unlike: Sequence[CopyToken], gone: Sequence[CopyToken], knows: CopyWording) -> bool:
    """Whether a noun replaces a noun; one word for several is a paraphrase."""
    if copy.share < NOUN_COPY_SHARE or (len(unlike) != len(gone) and min(len(unlike), len(gone)) == 1):
        return False
    return knows.is_noun(unlike[-1], copy.mine) and knows.is_noun(gone[-1], copy.theirs)


def _points_back(
    copy: Copy, change: CopyChange, unlike: Sequence[CopyToken], evidence: Sequence[str], knows: CopyWording
) -> bool:
    """Whether the evidence has a pronoun there and the name elsewhere; for languages without capitals."""
    if knows.noun is None:
        return False
    before = copy.theirs[change.first - 1].text if change.first else ""
    points = knows.points_back.fullmatch(before) or knows.points_back.fullmatch(copy.theirs[change.first].text)
    return points is not None and _elsewhere(unlike, evidence, copy.there)


def _content(changed: Sequence[CopyToken], without: Sequence[Term]) -> list[CopyToken]:
    return [
        token
        for token in changed
        if (token.text in SIGNS or (token.text[0].isalpha() and (len(token.text) > 1 or is_hangul(token.text))))
        and token.text not in EMPTY
        and not any(term.start <= token.start < term.end for term in without)
    ]


def _unlike(words: Sequence[CopyToken], others: Sequence[CopyToken], knows: CopyWording) -> list[CopyToken]:
    return [token for token in words if not any(knows.alike(token.text, other.text) for other in others)]


def _elsewhere(words: Sequence[CopyToken], evidence: Sequence[str], there: str) -> bool:
    """Whether the evidence has these words outside the copied sentence."""
    return all(
        any(read(text).text.count(stem_of(token.text)) > there.count(stem_of(token.text)) for text in evidence)
        for token in words
    )


@lru_cache(maxsize=512)
def _capitals(text: str) -> frozenset[str]:
    """The words that a text writes with a capital letter inside a sentence, in normal form."""
    return frozenset(normal(match[0]) for match in _CAPITAL.finditer(visible(strip_markers(text))))


def other_characters(
    copy: Copy, mine: Sequence[CopyToken], theirs: Sequence[CopyToken], evidence: Sequence[str], language: str
) -> str:
    """The replacement and the original, if they share few characters and are not synonyms; else ""."""
    new, old = ("".join(token.text for token in some if is_han(token.text[0])) for some in (mine, theirs))
    shorter = min(len(new), len(old))
    if (
        shorter < HAN_CHANGED_FEWEST
        or max(len(new), len(old)) > HAN_CHANGED_MOST
        or len(set(new) & set(old)) * 2 >= shorter
    ):
        return ""
    knows = wording(language)
    if knows.things(new) & knows.things(old) or any(same_terms(copy, mine, theirs, language)):
        return ""
    at = theirs[0].start
    points = any(knows.points_back.fullmatch(copy.there[at - size : at]) for size in (1, 2) if at >= size)
    if (points or knows.points_back.match(old)) and any(new in read(text).text for text in evidence):
        return ""
    return f"has {new} in place of {old}"
