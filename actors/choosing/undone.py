"""Find the rows and sections that lack what a question denies: "who has not paid?", "what is not covered?".

A row lacks it where a column that the question names says so ("no", "missing"), or is empty while other rows of the table have
it. A question about what is forbidden ("what can a guest not eat?") denies nothing in this sense. Of two sections of a document, of
which one excludes ("Exclusions") and the other is named by the question ("What is covered"), the first lacks it.

Also: whether a question is if something is allowed, which rows of what was done do not tell.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from actors.choosing.asked import Asked, kind_of
from actors.choosing.rows import NAME, Cell, cells, concepts
from actors.choosing.units import Unit
from actors.facts.lexicon import forces
from actors.facts.reading import read
from bus.wire.parts import Passage
from index.languages import FALLBACK, LANGUAGES, union
from index.languages.characters import fold
from index.languages.negation import excludes, is_negated
from index.languages.words import terms

#: What "cannot" and "can … not" are.
_BANS: Final = frozenset(("ban", "permission"))
#: Kinds of questions whose denial is no choice between sections: "why does it not start?"
_WAYS: Final = ("manner", "reason", "yes_no")
_PENDING: Final = union(lambda language: language.terms.negation.pending)


class Undone(NamedTuple):
    """By the order of a unit: `lacks`, in how many columns a row lacks what is denied, or 1 below a heading that excludes;
    `has`, the rows and units that have it. `terms`: those of the question that the columns or headings stand for.
    """

    lacks: Mapping[int, int]
    has: frozenset[int]
    terms: frozenset[str]


NOTHING: Final = Undone({}, frozenset(), frozenset())


def undone(asked: Asked, units: Iterable[Unit], passages: Sequence[Passage]) -> Undone:
    """What lacks what the question denies, and what has it; NOTHING for a question that denies nothing."""
    units = tuple(units)
    if not _denies(asked.text, _language(asked)):
        return _sections(asked, units, passages)
    tables: dict[tuple[int, int, str], dict[int, tuple[Cell, ...]]] = {}
    for unit in units:
        if unit.kind == "table_row" and (row := cells(unit.text)):
            tables.setdefault((unit.passage, unit.section, row[0].name), {})[unit.order] = row
    lacks: dict[int, int] = {}
    has: set[int] = set()
    held: set[str] = set()
    for rows in tables.values():
        columns = _columns(asked, list(rows.values()))
        held.update(asked.terms.keys() & itertools.chain.from_iterable(columns.values()))
        for order, row in rows.items():
            if count := sum(_lacks(row, name) for name in columns):
                lacks[order] = count
            elif columns or not any(is_negated(cell.value) for cell in row):
                has.add(order)
    return Undone(lacks, frozenset(has), frozenset(held)) if lacks else _sections(asked, units, passages, has)


def _sections(asked: Asked, units: Sequence[Unit], passages: Sequence[Passage], has: Iterable[int] = ()) -> Undone:
    """The units below a heading that excludes, and those of the same document below another one with words of the question."""
    kept = Undone({}, frozenset(has), frozenset()) if has else NOTHING
    if asked.kind in _WAYS or not is_negated(asked.text):
        return kept
    excluding: dict[str, list[int]] = {}
    affirming: dict[str, dict[int, frozenset[str]]] = {}
    for unit in units:
        document, heading = passages[unit.passage].source_id, unit.path[-1] if unit.path else ""
        if excludes(heading):
            excluding.setdefault(document, []).append(unit.order)
        elif words := frozenset(asked.terms.keys() & terms(heading)):
            affirming.setdefault(document, {})[unit.order] = words
    both = excluding.keys() & affirming.keys()
    if not both:
        return kept
    found = {order: words for document in sorted(both) for order, words in affirming[document].items()}
    return Undone(
        {order: 1 for document in both for order in excluding[document]},
        frozenset(found).union(has),
        frozenset().union(*found.values()),
    )


@lru_cache(maxsize=256)
def asks_leave(question: str, language: str) -> bool:
    """Whether a question is if something is allowed or must be done."""
    known = language if language in LANGUAGES else FALLBACK
    return kind_of(question) == "yes_no" and bool(forces(read(question).text, known))


def _language(asked: Asked) -> str:
    return asked.language if asked.language in LANGUAGES else FALLBACK


@lru_cache(maxsize=256)
def _denies(question: str, language: str) -> bool:
    if not is_negated(question) and not _PENDING.search(fold(question)):
        return False
    return _BANS.isdisjoint(force.name for force in forces(read(question).text, language))


def _columns(asked: Asked, rows: Sequence[Sequence[Cell]]) -> dict[str, frozenset[str]]:
    """The columns, but for the first, that the question names, each with its words; where no row lacks one of these, those with
    cells that have a word of the question ("paid").
    """
    wanted = concepts(asked.text, (_language(asked),)) - {NAME}
    words = frozenset(term for term in asked.terms if not term.isdigit())
    names = {name: frozenset(terms(name)) for name in dict.fromkeys(cell.name for row in rows for cell in row[1:])}
    named = {name: own for name, own in names.items() if own & words or concepts(name, LANGUAGES) & wanted}
    if any(_lacks(row, name) for row in rows for name in named):
        return named
    said = {name: frozenset(terms(" ".join(c.value for row in rows for c in row if c.name == name))) for name in names}
    return named | {name: own for name, own in said.items() if own & words}


def _lacks(row: Sequence[Cell], name: str) -> bool:
    value = next((cell.value for cell in row if cell.name == name), "")
    return not value or is_negated(value) or bool(_PENDING.search(fold(value)))
