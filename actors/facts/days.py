"""The days and months of a text, in the forms of all languages: 20 June 2026, 6월 20일, 2026-06-20, 20/06/2026; July, Jul–Aug."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from actors.facts.numbers.units import MONTHS
from index.languages import LANGUAGES, of
from index.languages.numerals import any_of

_MONTH: Final = any_of(MONTHS)
#: What stands behind the number of a year, and of a month, where months have no names.
_SIGNS: Final = [
    dates.gap.split() for language in LANGUAGES if not any((dates := of(language).numbers.dates).months) and dates.gap
]
_YEAR_SIGNS, _MONTH_SIGNS = ("".join(signs[at] for signs in _SIGNS) for at in range(2))
_YEAR: Final = r"(?:19|20)\d\d"
#: A day of a month in a folded text, with its year if one is there; a month has a name or a number.
DAY: Final = re.compile(
    rf"(?<!\d)(?:(?P<d1>\d{{1,2}})\w{{0,3}}\.? (?:\w{{2}} )?(?P<m1>{_MONTH})(?![^\W\d_])"
    rf"(?:\.?,? (?:\w{{2,3}} )?(?P<y1>{_YEAR})(?!\d))?"
    rf"|(?<!\w)(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?!\d)(?:\w\w)?(?:,? (?P<y2>{_YEAR})(?!\d))?"
    rf"|(?:(?P<y3>{_YEAR})[{_YEAR_SIGNS}] ?)?(?P<m3>\d{{1,2}})[{_MONTH_SIGNS}] ?(?P<d3>\d{{1,2}})(?!\d)"
    rf"|(?P<y4>{_YEAR})[-./] ?(?P<m4>\d{{1,2}})[-./] ?(?P<d4>\d{{1,2}})(?!\d)"
    rf"|(?P<d5>\d{{1,2}})[-./](?P<m5>\d{{1,2}})[-./](?P<y5>{_YEAR})(?!\d))"
)
_NAMED: Final = re.compile(
    rf"(?<![^\W\d_])(?:{_MONTH})(?![^\W\d_])|(?<!\d)\d{{1,2}}(?=[{_MONTH_SIGNS}]|\s?[-–—~]\s?\d{{1,2}}[{_MONTH_SIGNS}])"
)
_RANGE: Final = re.compile(rf"[{_MONTH_SIGNS}.]?\s?[-–—~]\s?")
#: The forms in digits alone, of which the year is written with the day.
_IN_DIGITS: Final = "45"


class Day(NamedTuple):
    """A day as a text writes it, a year in words aside; `year` is empty where the text gives none with it."""

    written: str
    month: int
    day: int
    year: str


@lru_cache(maxsize=2048)
def days(folded: str) -> tuple[Day, ...]:
    """The days in a folded text, each of a month of 1 to 12 and a day of 1 to 31."""
    found: list[Day] = []
    for match in DAY.finditer(folded):
        form = next(name[1] for name, value in match.groupdict().items() if name[0] == "d" and value)
        named, day = match[f"m{form}"], int(match[f"d{form}"])
        month = MONTHS.get(named) or int(named)
        first, last = sorted((match.span(f"m{form}"), match.span(f"d{form}")))
        written = match[0] if form in _IN_DIGITS else match.string[first[0] : last[1]]
        if 1 <= month <= 12 and 1 <= day <= 31:
            found.append(Day(written, month, day, match[f"y{form}"] or ""))
    return tuple(found)


@lru_cache(maxsize=2048)
def months(folded: str) -> frozenset[int]:
    """The months that a folded text names, with all between the two of a range."""
    found: set[int] = set()
    before, end = 0, 0
    for match in _NAMED.finditer(folded):
        month = MONTHS.get(match[0]) or int(match[0])
        if not 1 <= month <= 12:
            continue
        if before and _RANGE.fullmatch(folded, end, match.start()):
            found.update((before + step - 1) % 12 + 1 for step in range((month - before) % 12))
        found.add(month)
        before, end = month, match.end()
    return frozenset(found)
