"""A sentence copied from the evidence with a negator added or removed, or a term swapped for its opposite."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from actors.gate.numbers.text_numbers import TOKEN
from actors.gate.terms.forces import Force, exclude, forces
from actors.gate.terms.lexicon import Term, terms
from index.languages.negation import Negated, negations

# A sentence is a copy when this share of its words stands in the same order in one sentence of the evidence.
_COPIED: Final = 0.7
# Reversing a term may add or remove this many words.
_SPARE: Final = 2


def changed_in_copy(text: str, there: str, language: str) -> Iterator[tuple[str, str]]:
    """The words of `text` that reverse the sentence `there` it copies, each with the reason; nothing if it is not a copy.

    Both are in normal form. What a copy leaves out at either end of the evidence's sentence does not count.
    """
    mine = [(match.start(), match.end()) for match in TOKEN.finditer(text)]
    others = [(match.start(), match.end()) for match in TOKEN.finditer(there)]
    matcher = SequenceMatcher(None, [text[a:b] for a, b in mine], [there[a:b] for a, b in others], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks or sum(block.size for block in blocks) < _COPIED * len(mine):
        return
    for tag, begin, end, first, last in matcher.get_opcodes():
        outside = end == begin and (last <= blocks[0].b or first >= blocks[-1].b + blocks[-1].size)
        if tag == "equal" or outside:
            continue
        other_begin, other_end = first, last
        # A copy may stop short at its ends: only the part of the evidence that it replaces counts against it.
        if end == len(mine):
            other_end = min(other_end, other_begin + end - begin + _SPARE)
        if begin == 0:
            other_begin = max(other_begin, other_end - (end - begin) - _SPARE)
        span, other_span = _span(mine, begin, end), _span(others, other_begin, other_end)
        words = _around(text, mine, begin, end)
        turned = _within(negations(text, language), span) - _within(negations(there, language), other_span)
        if turned % 2:
            yield words, "copies the evidence but for a negation"
        elif swap := _swapped(text, span, there, other_span, language):
            yield words, f"copies the evidence but says {swap[0]} for {swap[1]}"


def _swapped(
    text: str, span: tuple[int, int], there: str, other: tuple[int, int], language: str
) -> tuple[str, str] | None:
    """A term among the changed words that excludes one of the words it replaced."""
    for mine in _touching(forces(text, language), span):
        for theirs in _touching(forces(there, language), other):
            if exclude(mine.name, theirs.name):
                return mine.term.text, theirs.term.text
    for term in terms(text, language):
        for was in terms(there, language):
            if _touches(term, span) and _touches(was, other) and _opposed(term, was):
                return term.text, was.text
    return None


def _opposed(term: Term, other: Term) -> bool:
    return any(
        mine.role in ("opposite", "kind") and (mine.role, mine.group) == (theirs.role, theirs.group) and mine != theirs
        for mine in term.senses
        for theirs in other.senses
    ) and not set(term.senses) & set(other.senses)


def _touching(found: list[Force], span: tuple[int, int]) -> list[Force]:
    return [force for force in found if _touches(force.term, span)]


def _touches(term: Term, span: tuple[int, int]) -> bool:
    return term.start < span[1] and span[0] < term.end


def _span(tokens: Sequence[tuple[int, int]], begin: int, end: int) -> tuple[int, int]:
    """The characters of tokens `begin` to `end`, with what lies between them and their neighbours."""
    if begin == end:
        return (0, 0)
    return (tokens[begin - 1][1] if begin else 0, tokens[end - 1][1])


def _within(found: Sequence[Negated], span: tuple[int, int]) -> int:
    return sum(span[0] <= one.at < span[1] for one in found)


def _around(text: str, tokens: Sequence[tuple[int, int]], begin: int, end: int) -> str:
    first, last = max(0, begin - 1), min(len(tokens), end + 1) - 1
    return text[tokens[first][0] : tokens[last][1]]
