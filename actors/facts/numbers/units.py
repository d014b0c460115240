"""Units of numbers: percent, currencies, calendar and measures, in the spellings of all languages; and numbers that are
part of a name because they touch its letters: COVID-19, IPv6, H1N1. In scripts without spaces only Latin letters make a name."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import msgspec

from index.languages import LANGUAGES, every, of
from index.languages.characters import ARABIC, HANGUL
from index.languages.numerals import any_of
from index.languages.tables.numbers import Numbers, Phrases, Run, Unit, phrases_in

# Signs shared by all languages.
_SIGNS: Final[dict[Unit, Phrases]] = {
    "percent": "%", "eur": "€ eur", "usd": "$ usd", "gbp": "£ gbp", "krw": "₩ krw", "cny": "rmb cny", "jpy": "¥ jpy", "km": "km",
    "m": "m", "cm": "cm", "mm": "mm", "kg": "kg", "g": "g", "mg": "mg", "pound": "lb lbs", "litre": "l", "ml": "ml", "hour": "h",
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
#: Two letters of a script with spaces, so that the second one begins no word.
_ENDS_IN_LETTER = re.compile(r"[^\W\d_\u0700-\uffff]{2}\Z")
_DECIMAL = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*")
_LEAD = re.compile(rf"({any_of(_BEFORE)}) ?\Z")


def unit_of(word: str) -> str:
    """The unit that a word names; "" for none."""
    return _AFTER.get(word, "")


def units_in(text: str) -> frozenset[str]:
    """The units that a short folded text names; none that ends a word of Latin or Arabic letters."""
    named = ((text[: match.start()], match[0]) for match in _UNIT.finditer(text))
    return frozenset(
        _AFTER[word.lstrip(" -")] for before, word in named if not _ENDS_IN_LETTER.search(before + word[:1])
    )


def without_measures(text: str) -> str:
    """A folded text without its numbers that have a unit: "sertraline 100 mg" is "sertraline"."""
    kept, at = "", 0
    for number in _DECIMAL.finditer(text):
        unit, end = unit_after(text, number.end())
        if unit:
            kept, at = kept + text[at : number.start()], end
    return " ".join((kept + text[at:]).split())


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
