"""Whether a row of a table says what a claim says: the cell where a number belongs has it."""

import re
from collections.abc import Sequence
from typing import Final

from actors.checking.claims import SHORT_WORDS
from actors.checking.spans import Candidate, Stems, words_of
from actors.choosing.rows import Cell, cells
from actors.facts.slots import NumberSlot, slot_index, slots, units_agree

#: So many words on each side of a number say which column it is of.
NEAR: Final = 3
_DIGITS = re.compile(r"\d+")


def says_row(text: str, wanted: Stems, span: Candidate) -> bool:
    """Whether the row says what the claim `text` says, of which `wanted` are the words besides numbers.

    Its words are in the row or above it, and name its first cell, or the first with words, or are in one cell. Each number is
    in the cell where it belongs, or names the table or a column. Of a column that the claim names it has the value, and then no
    value of another one.
    """
    row = cells(span.said)
    words, numbers = words_of(text), [slot for slot in slots(text) if slot.value.sure]
    keys = {row[0], next((cell for cell in row if words_of(cell.value)), row[0])}
    subject = frozenset().union(*(words_of(cell.value) for cell in keys)) & words
    in_cell = any(
        len(wanted & words_of(cell.value)) >= max(SHORT_WORDS, len(wanted - words_of(cell.name))) for cell in row
    )
    if not wanted <= span.own | span.above or not (subject or in_cell or any(_has(row[0], slot) for slot in numbers)):
        return False
    others = [cell for cell in row if cell not in keys]
    named = [cell for cell in others if words_of(cell.name) and _named(cell.name) <= _named(text)]
    known = subject.union(*(words_of(cell.value) for cell in named))
    for cell in others:
        held = words_of(cell.value) & words
        if cell in named:
            whole = words_of(cell.value) <= words if words_of(cell.value) else cell.value.strip("`") in text
            if not (held - subject or whole or any(_has(cell, slot) for slot in numbers)):
                return False
        elif named and not held <= known | words_of(cell.name):
            return False
    above = slot_index("\n".join((span.heads, *(cell.name for cell in row))))
    return all(
        any(_has(cell, slot) for cell in _where(slot, _named(text), row)) or any(True for _ in above.same(slot.value))
        for slot in numbers
    )


def _where(slot: NumberSlot, words: Stems, row: Sequence[Cell]) -> list[Cell]:
    """The cells that the number may belong to: those whose names share most with the words around it, then with the claim, `words`;
    or those that have its unit, or words of the claim.
    """
    near = _named(" ".join((*reversed(slot.before[:NEAR]), "|", *slot.after[:NEAR])))
    ranked: list[tuple[tuple[int, int, bool], Cell]] = []
    for cell in row:
        units = {other.value.unit for other in slots(cell.value)}
        name = _named(cell.name)
        rank = len(near & name), len(words & name), slot.value.unit != "" and slot.value.unit in units
        if any(units_agree(slot.value.unit, unit) for unit in units) and (any(rank) or words & words_of(cell.value)):
            ranked.append((rank, cell))
    best = max((rank for rank, _ in ranked), default=None)
    return [cell for rank, cell in ranked if rank == best]


def _named(text: str) -> Stems:
    """The words of a text, and its numbers in digits."""
    return words_of(text) | frozenset(_DIGITS.findall(text))


def _has(cell: Cell, slot: NumberSlot) -> bool:
    return any(True for _ in slot_index(cell.value).same(slot.value))
