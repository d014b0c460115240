"""Look a row of a table up: which of its cells the question names, which it asks for, and what of a wide row to show.

Also: the columns of a row, and which of them a question asks for: by their own words, or by words of the same meaning.

A row names its columns itself: "Name: Iceland | Dial: 354". What a column holds is a concept of the languages' tables, so that
"indicatif" finds "Dial".
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

from actors.choosing.aliases import same_days
from actors.choosing.asked import Asked, Kind, counted, holds, kind_of, measure_of, tells_time
from actors.facts.days import days, months
from actors.facts.numbers.values import Value
from actors.facts.reading import read
from actors.facts.slots import matches
from index.languages import FALLBACK, LANGUAGES, of
from index.languages.characters import fold, is_han, is_hangul
from index.languages.tables.kinds import variants_in
from index.languages.words import terms
from index.text.passages import weigh

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
_OF_MEASURE: Final = {
    "phone": frozenset(("telephone",)),
    "price": frozenset(("price", "pay")),
    "duration": frozenset(("duration", "time", "number", "limit", "minimum", "maximum", "default")),
}
HALF: Final = 0.5
#: The concept of the names of things, which a question need not ask for.
NAME: Final = "name"
_LONGEST_NAME: Final = 80
#: In a question a longer word, or one with a capital, may name a month: "may" and "march" are also verbs.
_LONGEST_VERB: Final = 5
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Cell(NamedTuple):
    """`start` and `end` are offsets of the row; `name` is that of its column, empty when the row does not say it."""

    start: int
    end: int
    name: str
    value: str


class Wish(NamedTuple):
    """What a question asks for, by its concepts and by the concepts of its kind, and the months and amounts that it names."""

    named: frozenset[str]
    of_kind: frozenset[str]
    months: frozenset[int]
    amounts: tuple[Value, ...]


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
    of_kind = _OF_MEASURE.get(measure_of(question)) or _OF_KIND.get(kind_of(question), frozenset())
    named_months = months(
        fold(" ".join(word for word in question.split() if word[0].isupper() or len(word) > _LONGEST_VERB))
    )
    amounts = tuple(value for value in read(question).values if value.unit)
    return Wish(named, of_kind - named, named_months, amounts)


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
    if wanted.months and (of := months(fold(name))):  # a column for a season
        return float(not of.isdisjoint(wanted.months)), len(held & wanted.named)
    if any(
        matches(one, other) for one in read(name).values for other in wanted.amounts
    ):  # "30 min", asked as "30 minutes"
        return 1.0, len(held & wanted.named)
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


def _phrases(columns: Mapping[str, str]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Each concept with a phrase for it, and the terms that make it up where words have spaces between them."""
    for concept, variants in columns.items():
        for variant in variants_in(variants):
            joined = is_han(variant) or is_hangul(variant)
            yield concept, fold(variant), frozenset() if joined else frozenset(terms(variant))


#: A row that weighs more is wide: the cells that name it and those asked for are shown, together at most TOLD.
WIDE, TOLD = 200, 300
#: A row that weighs more is never shown whole.
MOST_OF_ROW = 580
#: How many of its cells answer, and how many say what a wide row is about: more where none is as the question names it.
_MOST_ASKED, _MOST_NAMES, _MOST_OTHER_NAMES = 3, 2, 4
_BETWEEN = " | "
_MARKS = re.compile(r"[`*\"“”«»]+")
_LISTED = re.compile(r"\s*[,;/、،，]\s*")
_BRACKETS = re.compile(r"[(（][^()（）]*[)）]")


@dataclass(frozen=True, slots=True)
class Looked:
    """`keys` are the cells that the question names, `key` is the share of it that they hold; `column`: how surely, 0 to 1, it asks
    for another cell, and `best` is that one.
    """

    keys: frozenset[Cell]
    key: float
    column: float
    best: Cell | None


def look_up(asked: Asked, row: str) -> Looked:
    """What a row has of a question. Without a cell that the question names, no column is asked for; where it counts something
    that the row does not name, only one that it names.
    """
    there = cells(row)
    held: set[str] = set()
    keys: set[Cell] = set()
    for cell in there:
        if named := _named(asked, cell.value) or (_of_list(asked, cell.value) if cell is there[0] else frozenset()):
            held |= named
            keys.add(cell)
    if not keys:
        return Looked(frozenset(), 0.0, 0.0, None)
    rest = asked.terms.keys() - held
    found = asked_for(wish(asked.text, asked.language), rest, there, keys)
    if (noun := counted(asked.text)) in rest and noun not in terms(row):
        found = [each for each in found if each.share > HALF or each.held]
    if not found and measure_of(asked.text):  # a price list may have a column for each size
        found = [Found(HALF, 0, c) for c in there if c not in keys and holds(asked.kind, c.value, asked.text)]
    if asked.kind == "time":
        found = [each for each in found if _tells_when(each, rest if len(there) > len(keys) + 1 else frozenset())]
    share, best = (found[0].share, found[0].cell) if found else (0.0, None)
    return Looked(frozenset(keys), asked.weight_of(held) / asked.whole, share, best)


def _tells_when(found: Found, rest: Set[str]) -> bool:
    """Whether a cell has a time, and a column of something that the question names, if it names anything besides the row."""
    named = not rest or found.held or found.share != HALF or frozenset(terms(found.cell.name)) & rest
    return bool(named) and tells_time(found.cell.value)


def _named(asked: Asked, value: str) -> frozenset[str]:
    """The terms of the question that a cell is, or whose day it is; empty where it is something else or part of an identifier."""
    words, folded = _words(value)
    if not words or not words <= asked.terms.keys():
        day = next(same_days(fold(asked.text), folded), None) if _has_day(asked.text) else None
        return frozenset(terms(day.name)) & asked.terms.keys() if day else frozenset()
    for identifier in asked.identifiers:
        if folded != identifier and folded in identifier:
            return frozenset()
    return words


def _of_list(asked: Asked, value: str) -> frozenset[str]:
    """The terms of the question that one of the things is which a row is for: "Violin, viola"."""
    parts = _LISTED.split(value)
    named = (_named(asked, part) for part in parts) if len(parts) > 1 else ()
    return next(filter(None, named), frozenset())


@lru_cache(maxsize=256)
def _has_day(question: str) -> bool:
    return bool(days(fold(question)))


@lru_cache(maxsize=8192)
def _words(value: str) -> tuple[frozenset[str], str]:
    """The terms of a cell, without what is said of it in brackets, and its folded text."""
    bare = _BRACKETS.sub(" ", value)
    return frozenset(terms(bare) or terms(value)), fold(_MARKS.sub("", value)).strip()


def told(row: str, question: str, language: str, lead: str = "") -> str:
    """What of a row to show for a question: all of it, or of a wide one its first cell, its names and the cells asked for.

    `lead`: the cell that answers, where it is known. A wide row of which nothing is asked for is shown whole if it is short enough.
    """
    whole = weigh(row)
    if whole <= WIDE:
        return row
    there, words = cells(row), frozenset(terms(question))
    led = [cell for cell in there if lead and row[cell.start : cell.end] == lead]
    keys = [cell for cell in there if (own := _words(cell.value)[0]) and own <= words and cell not in led]
    found = asked_for(wish(question, language), words, there, frozenset(keys))
    alike = [each.cell for each in found if each.share >= HALF and each[:2] == found[0][:2]]
    wanted = list(dict.fromkeys((*led, *alike)))[:_MOST_ASKED]
    if not wanted and whole <= MOST_OF_ROW:
        return row
    names = [cell for cell in _names(there, keys) if cell not in wanted][: _MOST_NAMES if keys else _MOST_OTHER_NAMES]
    rest = [] if wanted else sorted(there, key=lambda cell: -len(_words(cell.value)[0] & words))
    kept: list[Cell] = []
    room = float(TOLD)
    for cell in (*wanted[:1], there[0], *names, *wanted[1:], *rest):
        weight = weigh(row[cell.start : cell.end] + _BETWEEN)
        if cell not in kept and (weight <= room or not kept):
            kept.append(cell)
            room -= weight
    return _BETWEEN.join(row[cell.start : cell.end] for cell in sorted(kept))


def _names(there: Sequence[Cell], keys: Sequence[Cell]) -> Iterator[Cell]:
    """The cells that say what a row is about, each value once: those that the question names, else those of columns of names."""
    said: set[str] = set()
    columns = [(cell, concepts(cell.name, LANGUAGES)) for cell in there]
    named = sorted((len(held), len(cell.name), cell) for cell, held in columns if NAME in held)
    for cell in keys or [cell for *_, cell in named] or there[:1]:
        value = _words(cell.value)[1]
        if value not in said:
            said.add(value)
            yield cell
