"""Look a row of a table up: which of its cells the question names, which it asks for, and what of a wide row to show."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from actors.choosing.asked import Asked
from actors.choosing.columns import HALF, NAME, Cell, asked_for, cells, concepts, wish
from index.languages import LANGUAGES
from index.languages.folding import fold
from index.languages.words import terms
from index.text.passages import weigh

#: A row that weighs more is wide: the cells that name it and those asked for are shown, together at most TOLD.
WIDE, TOLD = 200, 300
#: A row that weighs more is never shown whole.
MOST_OF_ROW = 580
#: How many of its cells answer, and how many say what a wide row is about: more where none is as the question names it.
_MOST_ASKED, _MOST_NAMES, _MOST_OTHER_NAMES = 3, 2, 4
_BETWEEN = " | "
_MARKS = re.compile(r"[`*\"“”«»]+")


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
    """What a row has of a question. Without a cell that the question names, no column is asked for."""
    there = cells(row)
    held: set[str] = set()
    keys: set[Cell] = set()
    for cell in there:
        if named := _named(asked, cell.value):
            held |= named
            keys.add(cell)
    if not keys:
        return Looked(frozenset(), 0.0, 0.0, None)
    rest = asked.terms.keys() - held
    found = asked_for(wish(asked.text, asked.language), rest, there, keys)
    share, best = (found[0].share, found[0].cell) if found else (0.0, None)
    return Looked(frozenset(keys), asked.weight_of(held) / asked.whole, share, best)


def _named(asked: Asked, value: str) -> frozenset[str]:
    """The terms of the question that a cell is; empty where the cell says something else or only a part of an identifier."""
    words, folded = _words(value)
    if not words or not words <= asked.terms.keys():
        return frozenset()
    for identifier in asked.identifiers:
        if folded != identifier and folded in identifier:
            return frozenset()
    return words


@lru_cache(maxsize=8192)
def _words(value: str) -> tuple[frozenset[str], str]:
    return frozenset(terms(value)), fold(_MARKS.sub("", value)).strip()


def told(row: str, question: str, language: str, lead: str = "") -> str:
    """What of a row to show for a question: all of it, or of a wide one its names and the cells asked for, in its order.

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
    for cell in (*wanted[:1], *names, *wanted[1:], *rest):
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
