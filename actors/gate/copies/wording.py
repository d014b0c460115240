"""The words of a copied sentence by the tables of its language: nouns, forms of one word, names of one thing."""

import re
from collections.abc import Sequence
from functools import cache

import msgspec

from actors.facts.lexicon import Term, copy_terms, sides
from actors.facts.numbers.units import SIGNS, unit_of
from actors.facts.stems import EMPTY, stem_of
from actors.gate.copies.alignment import Copy, CopyToken
from actors.gate.thresholds import WORD_ROOT_LETTERS
from index.languages import of
from index.languages.characters import is_hangul, normal
from index.languages.tables.kinds import variants_in


class CopyWording(msgspec.Struct, frozen=True):
    """The `copies` table of a language, compiled; `same` gives each word the things that it names."""

    nouns_after: re.Pattern[str]
    adjectives_follow: bool
    noun: re.Pattern[str] | None
    never: re.Pattern[str]
    polite: re.Pattern[str]
    points_back: re.Pattern[str]
    joins: re.Pattern[str]
    same: dict[str, frozenset[int]]

    def is_noun(self, token: CopyToken, line: Sequence[CopyToken]) -> bool:
        """Whether the word is a noun by its form, by the word before it, or because a number counts it."""
        if self.never.fullmatch(token.text):
            return False
        at = line.index(token)
        before = line[at - 1].text if at else ""
        if before[:1].isdigit() or token.text in SIGNS or (self.noun is not None and self.noun.fullmatch(token.text)):
            return True
        if not self.nouns_after.fullmatch(before):
            return False
        if self.adjectives_follow or at + 1 == len(line):
            return True
        return line[at + 1].text in EMPTY or line[at + 1].start > token.end + 1

    def alike(self, word: str, other: str) -> bool:
        """Whether two words are forms of one, one inside the other, or words for one thing."""
        if word in SIGNS or other in SIGNS:
            return unit_of(word) == unit_of(other)
        one, two = stem_of(word), stem_of(other)
        if (
            one == two
            or (len(one) > 1 and one in other)
            or (len(two) > 1 and two in word)
            or self.polite.sub("", word) == self.polite.sub("", other)
        ):
            return True
        if (
            not is_hangul(one)
            and one[:WORD_ROOT_LETTERS] == two[:WORD_ROOT_LETTERS]
            and min(len(one), len(two)) >= WORD_ROOT_LETTERS
        ):
            return True
        return bool(self.things(word) & self.things(other))

    def things(self, word: str) -> frozenset[int]:
        return self.same.get(word) or self.same.get(stem_of(word), frozenset())


@cache
def wording(language: str) -> CopyWording:
    table = of(language).terms.copies
    same: dict[str, set[int]] = {}
    for thing, line in enumerate(table.same):
        for word in variants_in(line):
            for form in (normal(word), stem_of(normal(word))):
                same.setdefault(form, set()).add(thing)
    return CopyWording(
        nouns_after=_pattern(table.nouns_after),
        adjectives_follow=table.adjectives_follow,
        noun=re.compile(table.noun) if table.noun else None,
        never=_pattern(table.never_nouns),
        polite=_pattern(table.polite),
        points_back=_pattern(table.points_back),
        joins=_pattern(table.joins),
        same={word: frozenset(things) for word, things in same.items()},
    )


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern or "(?!)")


def same_terms(
    copy: Copy, mine: Sequence[CopyToken], theirs: Sequence[CopyToken], language: str
) -> tuple[list[Term], list[Term]]:
    """The terms on either side that say the same as one of the other side."""
    own, others = _terms(copy.text, mine, language), _terms(copy.there, theirs, language)
    return (
        [term for term in own if any(sides(term) & sides(other) for other in others)],
        [term for term in others if any(sides(term) & sides(other) for other in own)],
    )


def _terms(text: str, changed: Sequence[CopyToken], language: str) -> list[Term]:
    begin, end = changed[0].start, changed[-1].end
    return [term for term in copy_terms(text, language) if term.start < end and begin < term.end]
