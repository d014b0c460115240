"""Numbers written in words or characters, in any of our languages: their values and positions.

Words of every language are read in every text, except for words that their table reserves for texts in that language.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

import msgspec

from index.languages import LANGUAGES, of
from index.languages.detection import detect
from index.languages.tables.numbers import Additive, Characters, Run, Worth, phrases_in, worth_of

#: Character scales from here on multiply everything before them: 一千二百万.
_LARGE: Final = 10_000
_LETTERS = re.compile(r"[^\W\d_]+")


class Numeral(msgspec.Struct, frozen=True):
    """A number in words. `sure` is False where the word is as often something else ("one", "second", neuf, 一): it can
    support a number, but its absence proves nothing.
    """

    start: int
    end: int
    value: float
    sure: bool


class Reader(NamedTuple):
    """Finds the numerals of one system, in a text that contains a first letter of theirs."""

    language: str
    first: re.Pattern[str]
    only_here: frozenset[str]
    read: Callable[[str], Iterator[Numeral]]


def written(text: str, systems: Sequence[Reader] = ()) -> Iterator[Numeral]:
    """Every number written as words in `text` (in normal form), in any language; not in order.

    Uses all systems of all languages unless some are given.
    """
    language = ""
    for system in systems or _all_systems():
        if not system.first.search(text):
            continue
        for numeral in system.read(text):
            if text[numeral.start : numeral.end] in system.only_here:
                language = language or detect(text)
                if language != system.language:
                    continue
            yield numeral


#: A run of more numerals than this is no number.
_LONGEST = 100


def as_float(value: int) -> float:
    """The value; infinite for a run of numerals that no float can hold."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def characters_worth(numeral: str) -> int:
    """The value of a run of Chinese or Korean numerals, which may include digits: `一百二十`, `삼천오백`, `二〇一五`, `3千`."""
    digits, scales = _characters()
    positional = not any(character in scales for character in numeral)
    total = section = 0
    pending: int | None = None
    for character in numeral:
        scale = scales.get(character)
        if scale is None:
            digit = int(character) if character.isascii() else digits[character]
            pending = (pending or 0) * 10 + digit if positional or character.isascii() else digit
        elif scale < _LARGE:
            section += (pending or 1) * scale
            pending = None
        else:
            total += (section + (pending or 0) or 1) * scale
            section, pending = 0, None
    return total + section + (pending or 0)


@cache
def _characters() -> tuple[dict[str, int], dict[str, int]]:
    """The digit and scale characters of all languages that write numbers in characters."""
    digits: dict[str, int] = {}
    scales: dict[str, int] = {}
    for language in LANGUAGES:
        for system in of(language).numbers.numerals:
            if isinstance(system, Characters):
                digits |= worth_of(system.digits)
                scales |= worth_of(system.scales)
    return digits, scales


@cache
def _all_systems() -> tuple[Reader, ...]:
    return tuple(reader(language, system) for language in LANGUAGES for system in of(language).numbers.numerals)


def reader(language: str, system: Additive | Run | Characters) -> Reader:
    tables: tuple[Worth, ...]
    match system:
        case Additive():
            read, tables = _additive(system), (system.cardinals, system.ordinals, system.scales)
        case Run():
            read, tables = _run(system), (system.cardinals, system.ordinals, system.scales, system.duals)
        case Characters():
            read, tables = _in_characters(system), (system.digits, system.scales)
    letters = "".join({word[0] for table in tables for word in worth_of(table)})
    return Reader(language, re.compile(f"[{re.escape(letters)}]"), frozenset(phrases_in(system.only_here)), read)


def _additive(system: Additive) -> Callable[[str], Iterator[Numeral]]:
    small = {**worth_of(system.cardinals), **worth_of(system.ordinals)}
    scales = worth_of(system.scales)
    # A space inside a word may be a hyphen: quatre-vingt.
    word = any_of([*small, *scales]).replace(r"\ ", "[ -]")
    number = f"(?P<number>{word}(?:{system.gap}{word})*)"
    found_by = re.compile(_filled(system.place, number=number, counters=any_of(system.counters.split())))
    parts = re.compile(rf"{word}(?={system.gap}|\Z)")
    unsure = frozenset(phrases_in(system.unsure))

    def read(text: str) -> Iterator[Numeral]:
        for match in found_by.finditer(text):
            value = _sum([part.replace("-", " ") for part in parts.findall(match["number"])], small, scales)
            if value is not None:
                yield Numeral(*match.span("number"), as_float(value), match["number"] not in unsure)

    return read


def _sum(parts: list[str], small: dict[str, int], scales: dict[str, int]) -> int | None:
    """The value of number words in reading order; None for two numbers side by side ("two three")."""
    total = section = 0
    last = 1_000
    for part in parts:
        if part in scales:
            scale = scales[part]
            if scale < 1_000:
                section = (section or 1) * scale
            else:
                total, section = total + (section or 1) * scale, 0
            last = 1_000
            continue
        value = small[part]
        if value >= last or last < 10:
            return None
        section += value
        last = max(value, 1)
    return total + section


def _run(system: Run) -> Callable[[str], Iterator[Numeral]]:
    worth = worth_of(system.scales) | worth_of(system.cardinals)
    duals = worth_of(system.duals)
    alone = worth_of(system.ordinals) | duals
    # The number word in each form that it is written in: bare, or with a particle.
    stems: dict[str, str] = {}
    for particle in ("", *system.particles.split()):
        for word in worth:
            stems.setdefault(particle + word, word)
    unsure = frozenset(phrases_in(system.unsure))

    def read(text: str) -> Iterator[Numeral]:
        run: list[tuple[int, int, str]] = []
        for match in _LETTERS.finditer(text):
            stem = stems.get(match[0])
            if run and (stem is None or text[run[-1][1] : match.start()] != " "):
                yield together(run)
                run = []
            if stem is not None:
                run.append((*match.span(), stem))
            elif (value := alone.get(match[0])) is not None:
                yield Numeral(*match.span(), float(value), match[0] in duals)
        if run:
            yield together(run)

    def together(run: list[tuple[int, int, str]]) -> Numeral:
        total = section = 0
        for _, _, stem in run:
            value = worth[stem]
            if value >= 1_000:
                total, section = total + (section or 1) * value, 0
            elif value == 100 and 0 < section < 10:
                section *= 100
            else:
                section += value
        return Numeral(run[0][0], run[-1][1], as_float(total + section), len(run) > 1 or run[0][2] not in unsure)

    return read


def _in_characters(system: Characters) -> Callable[[str], Iterator[Numeral]]:
    found_by = re.compile(
        _filled(
            system.place,
            digits="".join(worth_of(system.digits)),
            scales="".join(worth_of(system.scales)),
            counters=any_of(system.counters.split()),
        )
    )
    unsure = frozenset(phrases_in(system.unsure))

    def read(text: str) -> Iterator[Numeral]:
        for match in found_by.finditer(text):
            numeral = match["number"]
            value = as_float(characters_worth(numeral)) if len(numeral) <= _LONGEST else math.inf
            yield Numeral(*match.span("number"), value, match["number"] not in unsure)

    return read


def any_of(phrases: Iterable[str]) -> str:
    """A pattern group of alternatives, longest first; it matches nothing when there are none."""
    return f"(?:{'|'.join(re.escape(phrase) for phrase in sorted({*phrases}, key=len, reverse=True)) or '(?!)'})"


def _filled(place: str, **parts: str) -> str:
    for name, part in parts.items():
        place = place.replace(f"{{{name}}}", part)
    return place
