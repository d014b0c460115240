"""Definitions that contradict the evidence ("is a …"), in languages with articles."""

import re
from functools import cache

import msgspec

from actors.facts.stems import stem_of, stems
from index.languages import of
from index.languages.folding import normal


class _Says(msgspec.Struct, frozen=True):
    what: re.Pattern[str]
    noun_ends: re.Pattern[str]
    general: frozenset[str]


def other_predicate(text: str, there: str, language: str) -> tuple[str, str] | None:
    """The definition in `text` and the one in `there`, when they share no word; both in normal form."""
    says = _says(language)
    mine = says.what.search(text) if says else None
    theirs = says.what.search(there) if says and mine else None
    if not says or not mine or not theirs:
        return None
    # Another subject has another definition; a pronoun may refer to this one.
    subject = _subject(there, theirs)
    if subject and not subject & _subject(text, mine):
        return None
    noun = says.noun_ends.split(mine[1])[0].strip()
    defined = {stem.stem for stem in stems(noun)} - says.general
    if not defined or defined & {stem.stem for stem in stems(there)}:
        return None
    return noun, says.noun_ends.split(theirs[1])[0].strip()


def _subject(text: str, says: re.Match[str]) -> set[str]:
    """The content words before the verb."""
    return {stem.stem for stem in stems(text) if stem.end <= says.start()}


@cache
def _says(language: str) -> _Says | None:
    table = of(language).terms.predicates
    if not table.says_what:
        return None
    general = frozenset(stem_of(normal(word)) for word in table.general.split())
    return _Says(re.compile(rf"{table.says_what}([^,.;:()\n]+)"), re.compile(table.noun_ends), general)
