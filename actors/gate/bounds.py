"""Numbers that only bound or round another: "more than 100,000" for 110,400; "about 800" for 798."""

import re
from collections.abc import Callable
from math import floor, inf, log10

import msgspec

from actors.facts.numbers.values import Value
from actors.gate.thresholds import BOUND_AFTER_CHARS, BOUND_BEFORE_CHARS, BOUND_FACTOR
from index.languages import union
from index.languages.tables.numbers import Bounds


def _before(part: Callable[[Bounds], str]) -> re.Pattern[str]:
    return re.compile(rf"(?:{union(lambda language: part(language.numbers.bounds)).pattern})\s*(?:\$|€|£)?\Z")


def _after(part: Callable[[Bounds], str]) -> re.Pattern[str]:
    return re.compile(rf"\s?[^\s\d.,]{{0,6}}\s?(?:{union(lambda language: part(language.numbers.bounds)).pattern})")


_MORE_BEFORE = _before(lambda bounds: bounds.more_before)
_LESS_BEFORE = _before(lambda bounds: bounds.less_before)
_ABOUT_BEFORE = _before(lambda bounds: bounds.about_before)
_MORE_AFTER = _after(lambda bounds: bounds.more_after)
_LESS_AFTER = _after(lambda bounds: bounds.less_after)
_ABOUT_AFTER = _after(lambda bounds: bounds.about_after)


class Bound(msgspec.Struct, frozen=True):
    """The meaning that the words around a number give it: the least, the most, or nearly the value."""

    more: bool
    less: bool
    about: bool

    def __bool__(self) -> bool:
        return self.more or self.less or self.about


def bound_of(text: str, value: Value) -> Bound:
    """How `value` in the sentence `text` bounds or rounds another number."""
    before, after = (
        text[max(0, value.start - BOUND_BEFORE_CHARS) : value.start],
        text[value.end : value.end + BOUND_AFTER_CHARS],
    )
    return Bound(
        _either(_MORE_BEFORE, _MORE_AFTER, before, after),
        _either(_LESS_BEFORE, _LESS_AFTER, before, after),
        _either(_ABOUT_BEFORE, _ABOUT_AFTER, before, after),
    )


def bears_out(bound: Bound, value: Value, other: Value) -> bool:
    """Whether `value` bounds or rounds `other`, a number in the evidence."""
    for mine in value.readings:
        for theirs in other.readings:
            if not (0 < mine < inf and 0 < theirs < inf):
                continue
            if bound.more and mine <= theirs <= mine * BOUND_FACTOR:
                return True
            if bound.less and theirs <= mine <= theirs * BOUND_FACTOR:
                return True
            if bound.about and _rounds(mine, theirs):
                return True
    return False


def _either(before: re.Pattern[str], after: re.Pattern[str], head: str, tail: str) -> bool:
    return before.search(head) is not None or after.match(tail) is not None


def _rounds(mine: float, theirs: float) -> bool:
    """Whether `mine` is `theirs` written with fewer digits: 800 for 798, never 798 for 800."""
    digits = len(f"{mine:.10g}".rstrip("0").replace(".", "").lstrip("0")) or 1
    scale = 10.0 ** (digits - 1 - floor(log10(theirs)))
    return mine != theirs and round(round(theirs * scale) / scale, 6) == mine
