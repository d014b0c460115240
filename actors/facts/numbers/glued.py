"""Numbers that are part of a name because they are written in one with its letters: COVID-19, IPv6, H1N1, v3.

In scripts without spaces every number touches letters; there only Latin ones make a name.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

from actors.facts.numbers.units import MONTHS, UNITS_BEFORE
from index.languages import every
from index.languages.characters import ARABIC, HANGUL
from index.languages.numerals import any_of
from index.languages.tables.numbers import Numbers, Run, phrases_in

#: A word of Latin letters, or one of the other scripts that is long enough to be no preposition or counter.
_LATIN: Final = "a-zà-öø-ÿœ"
_NAME = re.compile(
    rf"(?:(?<![{_LATIN}\d])(?P<latin>[{_LATIN}]+)-?|(?<![{HANGUL}\d])(?P<hangul>[{HANGUL}]{{2,}})-?|(?<![{ARABIC}\d])(?P<arabic>[{ARABIC}]{{3,}})-)"
    rf"(?P<digits>\d+(?![.,:]?\d))(?P<rest>(?:-?[{_LATIN}]+\d+)*)"
)
_LETTERS = re.compile(r"[^\W\d_]+")
# A year after a hyphen is one: mid-1990s.
_YEAR = re.compile(r"[a-z]+-[12]\d{3}")


def _amounts(numbers: Numbers) -> list[str]:
    bounds = f"{numbers.bounds.more_before}|{numbers.bounds.less_before}|{numbers.bounds.about_before}"
    return [*_LETTERS.findall(bounds), *numbers.afternoon.before.split(), *numbers.naming.marks.split()]


def _counters(numbers: Numbers) -> list[str]:
    units = [word for words in numbers.units.values() for word in phrases_in(words)]
    return [
        *units,
        *(word for system in numbers.numerals if not isinstance(system, Run) for word in system.counters.split()),
    ]


_AMOUNTS: Final = frozenset(every(lambda language: _amounts(language.numbers)))
_COUNTER = re.compile(any_of(every(lambda language: _counters(language.numbers))))


class Glued(msgspec.Struct, frozen=True):
    """`name` is written without hyphens, `letters` with # for each number."""

    start: int
    end: int
    name: str
    letters: str


@lru_cache(maxsize=1024)
def glued(text: str) -> tuple[Glued, ...]:
    """The names with numbers in a text in normal form, in order."""
    return tuple(
        Glued(match.start(), match.end(), name, re.sub(r"\d+", "#", name))
        for match in _NAME.finditer(text)
        if not _counts(match)
        for name in [match[0].replace("-", "")]
    )


def renamed(one: Glued, text: str) -> str | None:
    """The name that `text` has with another number, if it has this one with no other number; "" if it has it, None for neither."""
    others = [other.name for other in glued(text) if other.letters == one.letters]
    if one.letters.endswith("#") and one.letters.count("#") == 1:
        letters = one.letters[:-1]
        others += [letters + number for number in re.findall(rf"(?<![^\W_]){re.escape(letters)} (\d+)(?![\d.,])", text)]
    if one.name in others:
        return ""
    return others[0] if others else None


def _counts(match: re.Match[str]) -> bool:
    """Whether the letters before the number only say how much, or when."""
    word = match["latin"] or match["hangul"] or match["arabic"]
    if word in MONTHS or word in UNITS_BEFORE or word in _AMOUNTS or _YEAR.match(match[0]):
        return True
    return match["hangul"] is not None and _COUNTER.match(match.string, match.end()) is not None
