"""The columns of a row, and which of them a question asks for: by their own words, or by words of the same meaning.

A row names its columns itself: "Name: Iceland | Dial: 354". What a column holds is a concept of the languages' tables, so that
"indicatif" finds "Dial".
"""

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache, lru_cache
from typing import Final, NamedTuple

import msgspec

from actors.choosing.forms import Kind, kind_of
from index.languages import FALLBACK, LANGUAGES, of
from index.languages.folding import fold
from index.languages.scripts import is_han, is_hangul
from index.languages.tables.columns import Columns
from index.languages.tables.kinds import variants_in
from index.languages.words import terms

#: What columns hold the kind of thing that a question asks for; they count HALF of one that it names.
_OF_KIND: Final[dict[Kind, frozenset[str]]] = {
    "reason": frozenset(("reason", "purpose")),
    "count": frozenset(("number", "limit", "price", "size", "share", "pay")),
    "time": frozenset(("date", "start", "end", "year", "time")),
    "person": frozenset(("person",)),
    "place": frozenset(("place", "region", "country", "address")),
    "definition": frozenset(("description", "use")),
    "limit": frozenset(("limit", "minimum", "maximum", "default", "price")),
}
HALF: Final = 0.5
#: The concept of the names of things, which a question need not ask for.
NAME: Final = "name"
_LONGEST_NAME: Final = 80
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Cell(NamedTuple):
    """`start` and `end` are offsets of the row; `name` is that of its column, empty when the row does not say it."""

    start: int
    end: int
    name: str
    value: str


class Wish(NamedTuple):
    """What a question asks for, by its concepts and by the concepts of its kind."""

    named: frozenset[str]
    of_kind: frozenset[str]


class Found(NamedTuple):
    """A cell that is asked for. `share`: how surely, above 0 and at most 1; `held`: how many concepts of the question it has."""

    share: float
    held: int
    cell: Cell


@lru_cache(maxsize=4096)
def cells(row: str) -> tuple[Cell, ...]:
    found, start = [], 0
    for part in row.split(" | "):
        name, colon, value = part.partition(": ")
        if not colon or len(name) > _LONGEST_NAME:
            name, value = "", part
        if value.strip(" |"):
            found.append(Cell(start, start + len(part), name.strip(" |"), value.strip(" |")))
        start += len(part) + len(" | ")
    return tuple(found)


@lru_cache(maxsize=256)
def wish(question: str, language: str) -> Wish:
    """What `question` asks for, in the words of its language."""
    named = concepts(question, (language if language in LANGUAGES else FALLBACK,))
    return Wish(named, _OF_KIND.get(kind_of(question), frozenset()) - named)


def asked_for(wanted: Wish, words: Set[str], row: Sequence[Cell], keys: Set[Cell]) -> list[Found]:
    """The cells that the question asks for besides its `keys`, best first.

    `words` are the terms of the question. In a row of two cells the other one is what could be asked for.
    """
    found = [Found(*_wanted(wanted, words, cell.name), cell) for cell in row if cell not in keys]
    if len(row) == 1 + len(found) == 2:
        found = [each._replace(share=max(each.share, HALF)) for each in found]
    return sorted((each for each in found if each.share), key=lambda each: (-each.share, -each.held))


def _wanted(wanted: Wish, words: Set[str], name: str) -> tuple[float, int]:
    """How surely a column is asked for, and how many concepts of the question it holds."""
    if not name:
        return 0.0, 0
    name = _CAMEL.sub(" ", name)
    own, held = frozenset(terms(name)), concepts(name, LANGUAGES)
    by_words = len(own & words) / len(own) if own else 0.0
    telling = held if NAME in wanted.named or len(held) == 1 else held - {NAME}
    by_concept = len(telling & wanted.named) / len(telling) if telling else 0.0
    return max(by_words, by_concept, HALF if held & wanted.of_kind else 0.0), len(held & wanted.named)


@lru_cache(maxsize=4096)
def concepts(text: str, languages: tuple[str, ...]) -> frozenset[str]:
    """The concepts whose words occur in a text, in those languages."""
    words, folded = frozenset(terms(text)), fold(text).strip()
    return frozenset(
        concept
        for language in languages
        for concept, phrase, needed in _lexicon(language)
        if ((phrase in folded if len(phrase) > 1 else phrase == folded) and not needed) or (needed and needed <= words)
    )


@cache
def _lexicon(language: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    return tuple(_phrases(of(language).columns))


def _phrases(columns: Columns) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Each concept with a phrase for it, and the terms that make it up where words have spaces between them."""
    for concept, variants in msgspec.structs.asdict(columns).items():
        for variant in variants_in(variants):
            joined = is_han(variant) or is_hangul(variant)
            yield concept, fold(variant), frozenset() if joined else frozenset(terms(variant))
