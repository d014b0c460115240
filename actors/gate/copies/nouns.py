"""Who or what a copied sentence speaks of, where the evidence speaks of somebody or something else.

A name may take the place of a word that stands for it, and a word that of another for the same thing. Verbs and adjectives may change:
those that turn a sentence are terms.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

import msgspec

from actors.gate.citations import strip_markers
from actors.gate.copies.alignment import Change, Copy, Token
from actors.gate.numbers.text_numbers import read
from actors.gate.numbers.units import SIGNS, unit_of
from actors.gate.stems import EMPTY, stem_of
from actors.gate.terms.lexicon import Term, copy_terms, sides
from index.languages import of
from index.languages.folding import normal, visible
from index.languages.scripts import is_han, is_hangul
from index.languages.tables.kinds import variants_in

# With more words in another's place, or less of a copy, a sentence is a retelling.
_MOST: Final = 5
_SPARE: Final = 4
_NAMED_IN: Final = 0.75
_COPIED: Final = 0.85
_MOST_HAN: Final = 10
# Two words that share this many first letters are forms of one.
_ROOT: Final = 4
_HAN_ROOT: Final = 2
_CAPITAL = re.compile(r"(?<![.!?:…»”\"*#|•\n-][ \n])(?<![\n(“«\"*])(?<!\A)\b[A-ZÀ-ÖØ-ÞŒ][^\W_]*")


class _Nouns(msgspec.Struct, frozen=True):
    """What tells nouns in a language; `same` gives each word its group."""

    after: re.Pattern[str]
    noun: re.Pattern[str] | None
    never: re.Pattern[str]
    points_back: re.Pattern[str]
    joins: re.Pattern[str]
    same: dict[str, frozenset[int]]
    adjectives_follow: bool


def other_noun(copy: Copy, change: Change, written: str, there: str, evidence: Sequence[str], language: str) -> str:
    """What the sentence names in place of what; "" if it is the same, or if nothing tells. `written` and `there` have capitals."""
    took, gave = change.end - change.begin, change.last - change.first
    if copy.share < _NAMED_IN or not took or not gave or gave > took + _SPARE:
        return ""
    mine, theirs = copy.mine[change.begin : change.end], copy.theirs[change.first : change.last]
    if is_han(mine[0].text[0]) and is_han(theirs[0].text[0]):
        return _other_characters(copy, mine, theirs, evidence, language)
    knows = _nouns(language)
    own, others = _same_terms(copy, mine, theirs, language)
    new, old = _content(mine, own), _content(theirs, others)
    if sorted(token.text for token in new) == sorted(token.text for token in old):
        return "" if len(new) < 2 else _exchanged(copy, mine, new, old, knows)
    unlike = [token for token in new if not any(_alike(token.text, other.text, knows) for other in old)]
    gone = [token for token in old if not any(_alike(token.text, other.text, knows) for other in new)]
    if not unlike or not gone or max(len(unlike), len(gone)) > _MOST:
        return ""
    names = _capitals(written) | _capitals(there) | {name for text in evidence for name in _capitals(text)}
    named, was_named = ([token for token in some if token.text in names] for some in (unlike, gone))
    if named and was_named:
        return _says(named, was_named)
    if was_named or (named and _elsewhere(named, evidence, copy.there)):
        return ""
    # One word for several says the same at length.
    if len(unlike) != len(gone) and min(len(unlike), len(gone)) == 1:
        return ""
    here, was = unlike[-1], gone[-1]
    if copy.share < _COPIED or not _is_noun(here, copy.mine, knows) or not _is_noun(was, copy.theirs, knows):
        return ""
    before = copy.theirs[change.first - 1].text if change.first else ""
    points = knows.points_back.fullmatch(before) or knows.points_back.fullmatch(theirs[0].text)
    if points and not knows.adjectives_follow and knows.noun is not None and _elsewhere(unlike, evidence, copy.there):
        return ""
    return _says(unlike, gone)


def _says(new: Sequence[Token], old: Sequence[Token]) -> str:
    return f"says {' '.join(token.text for token in new)} for {' '.join(token.text for token in old)}"


def _exchanged(copy: Copy, mine: Sequence[Token], new: Sequence[Token], old: Sequence[Token], knows: _Nouns) -> str:
    """The same words in another order: an enumeration may be turned, who does what to whom may not."""
    if [token.text for token in new] == [token.text for token in old]:
        return ""
    stretch = copy.text[mine[0].start : mine[-1].end]
    return "" if knows.joins.search(stretch) else "turns who does what to whom"


def _other_characters(
    copy: Copy, mine: Sequence[Token], theirs: Sequence[Token], evidence: Sequence[str], language: str
) -> str:
    """Chinese words have no spaces: a stretch of characters stands for another one that shares none with it."""
    new, old = ("".join(token.text for token in some if is_han(token.text[0])) for some in (mine, theirs))
    shorter = min(len(new), len(old))
    if shorter < _HAN_ROOT or max(len(new), len(old)) > _MOST_HAN or len(set(new) & set(old)) * 2 >= shorter:
        return ""
    knows = _nouns(language)
    if _group(new, knows) & _group(old, knows) or any(_same_terms(copy, mine, theirs, language)):
        return ""
    at = theirs[0].start
    points = any(knows.points_back.fullmatch(copy.there[at - size : at]) for size in (1, 2) if at >= size)
    if (points or knows.points_back.match(old)) and any(new in read(text).text for text in evidence):
        return ""
    return f"says {new} for {old}"


def _same_terms(
    copy: Copy, mine: Sequence[Token], theirs: Sequence[Token], language: str
) -> tuple[list[Term], list[Term]]:
    """The terms on either side that say the same as one of the other side."""
    own, others = _terms(copy.text, mine, language), _terms(copy.there, theirs, language)
    return (
        [term for term in own if any(sides(term) & sides(other) for other in others)],
        [term for term in others if any(sides(term) & sides(other) for other in own)],
    )


def _terms(text: str, changed: Sequence[Token], language: str) -> list[Term]:
    begin, end = changed[0].start, changed[-1].end
    return [term for term in copy_terms(text, language) if term.start < end and begin < term.end]


def _content(changed: Sequence[Token], without: Sequence[Term]) -> list[Token]:
    """The changed words that say something, without those in one of the terms."""
    return [
        token
        for token in changed
        if (token.text in SIGNS or token.text[0].isalpha())
        and (len(token.text) > 1 or is_hangul(token.text) or token.text in SIGNS)
        and token.text not in EMPTY
        and not any(term.start <= token.start < term.end for term in without)
    ]


def _is_noun(token: Token, line: Sequence[Token], knows: _Nouns) -> bool:
    if knows.never.fullmatch(token.text):
        return False
    if knows.noun is not None and knows.noun.fullmatch(token.text):
        return True
    at = line.index(token)
    before = line[at - 1].text if at else ""
    # What a number counts is a noun.
    if before[:1].isdigit() or token.text in SIGNS:
        return True
    if not knows.after.fullmatch(before):
        return False
    if knows.adjectives_follow or at + 1 == len(line):
        return True
    after = line[at + 1]
    return after.text in EMPTY or after.start > token.end + 1


def _alike(word: str, other: str, knows: _Nouns) -> bool:
    """Whether two words are forms of one, one inside the other, or words for one thing."""
    if word in SIGNS or other in SIGNS:
        return unit_of(word) == unit_of(other)
    one, two = stem_of(word), stem_of(other)
    if one == two or (len(one) > 1 and one in other) or (len(two) > 1 and two in word):
        return True
    if not is_hangul(one) and one[:_ROOT] == two[:_ROOT] and min(len(one), len(two)) >= _ROOT:
        return True
    return bool(_group(word, knows) & _group(other, knows))


def _group(word: str, knows: _Nouns) -> frozenset[int]:
    return knows.same.get(word) or knows.same.get(stem_of(word), frozenset())


def _elsewhere(words: Sequence[Token], evidence: Sequence[str], there: str) -> bool:
    """Whether the evidence has these words in another place than the sentence that is copied."""
    return all(
        any(read(text).text.count(stem_of(token.text)) > there.count(stem_of(token.text)) for text in evidence)
        for token in words
    )


@lru_cache(maxsize=512)
def _capitals(text: str) -> frozenset[str]:
    """The words that a text writes with a capital letter inside a sentence, in normal form."""
    return frozenset(normal(match[0]) for match in _CAPITAL.finditer(visible(strip_markers(text))))


@cache
def _nouns(language: str) -> _Nouns:
    table = of(language).terms.copies
    same: dict[str, set[int]] = {}
    for group, line in enumerate(table.same):
        for word in variants_in(line):
            for form in (normal(word), stem_of(normal(word))):
                same.setdefault(form, set()).add(group)
    return _Nouns(
        re.compile(table.nouns_after or "(?!)"),
        re.compile(table.noun) if table.noun else None,
        re.compile(table.never_nouns or "(?!)"),
        re.compile(table.points_back or "(?!)"),
        re.compile(table.joins),
        {word: frozenset(groups) for word, groups in same.items()},
        table.adjectives_follow,
    )
