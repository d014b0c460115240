"""Units of numbers: percent, currencies, calendar and measures, in the spellings of all languages."""

import re
from collections.abc import Callable
from typing import Final

from index.languages import LANGUAGES, of
from index.languages.numerals import any_of
from index.languages.tables.numbers import Numbers, Phrases, Unit, phrases_in

# Signs shared by all languages.
_SIGNS: Final[dict[Unit, Phrases]] = {
    "percent": "%", "eur": "€ eur", "usd": "$ usd", "gbp": "£ gbp", "krw": "₩ krw", "cny": "rmb cny", "jpy": "¥ jpy", "km": "km",
    "m": "m", "cm": "cm", "mm": "mm", "kg": "kg", "g": "g", "mg": "mg", "pound": "lb lbs", "litre": "l", "ml": "ml",
    "celsius": "°c ℃", "fahrenheit": "°f ℉", "km2": "km^2 km2", "m2": "m^2 m2",
}  # fmt: skip
_SIGNS_BEFORE: Final[dict[Unit, Phrases]] = {
    "usd": "$ us$ usd", "eur": "€ eur", "gbp": "£", "krw": "₩", "jpy": "¥",
}  # fmt: skip
CURRENCY_SIGNS: Final = ("$", "€", "£", "¥", "₩")
SIGNS: Final = frozenset({"%", "°", *CURRENCY_SIGNS})


def _unit_of(signs: dict[Unit, Phrases], part: Callable[[Numbers], dict[Unit, Phrases]]) -> dict[str, Unit]:
    tables = [signs, *(part(of(language).numbers) for language in LANGUAGES)]
    return {word: unit for table in tables for unit, phrases in table.items() for word in phrases_in(phrases)}


#: The number of each month's name.
MONTHS: Final = {
    word: number
    for language in LANGUAGES
    for number, names in enumerate(of(language).numbers.dates.months, start=1)
    for word in phrases_in(names)
}
_ATTACHED: Final = _unit_of({}, lambda numbers: numbers.attached_units)
_AFTER: Final = _unit_of(_SIGNS, lambda numbers: numbers.units) | _ATTACHED
_BEFORE: Final = _unit_of(_SIGNS_BEFORE, lambda numbers: numbers.units_before)
#: Counting words written before a number.
UNITS_BEFORE: Final = frozenset(_BEFORE)


def _ends_word(word: str) -> str:
    """Whether a unit must end there: Latin and Arabic units must; Korean and Chinese ones take particles."""
    return re.escape(word) + (r"(?![^\W\d_])" if word[-1].isalpha() and word[-1] < "\u0700" else "")


_UNIT = re.compile(
    r"(?:[ -]|(?<=\d))?(?:" + "|".join(_ends_word(word) for word in sorted(_AFTER, key=len, reverse=True)) + ")"
)
_LEAD = re.compile(rf"({any_of(_BEFORE)}) ?\Z")


def unit_of(word: str) -> str:
    """The unit that a word names; "" for none."""
    return _AFTER.get(word, "")


def unit_after(text: str, at: int) -> tuple[str, int]:
    """The unit that begins at `at` (one space allowed) and its end; ("", at) for none."""
    while at < len(text) and text[at] in "\n":
        return "", at
    match = _UNIT.match(text, at)
    if not match:
        return "", at
    word = match[0].lstrip(" -")
    # In "1980 s" a new word begins with s; "1980s" is a decade.
    if word in _ATTACHED and match[0] != word:
        return "", at
    return _AFTER[word], match.end()


def unit_before(text: str, at: int) -> str:
    """The unit written before the number that begins at `at`, as in `$5` or 百分之五; "" for none."""
    match = _LEAD.search(text, max(0, at - 10), at)
    return _BEFORE[match[1]] if match else ""
