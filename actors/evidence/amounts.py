"""The amounts and dates that a sentence states, each as one value with its unit and the words around it."""

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import Final

import msgspec

from actors.evidence.thresholds import AMOUNT_CONTEXT_WORDS, AMOUNTS, NAMING_WORD_CHARS, YEARS
from actors.facts.numbers.slots import matches
from actors.facts.numbers.units import CURRENCY_SIGNS, unit_after
from actors.facts.numbers.values import Reading, Value, read
from actors.facts.stems import stems
from index.languages import every
from index.languages.folding import normal
from index.languages.numerals import any_of
from index.languages.scripts import HAN

_CALENDAR: Final = frozenset({"year", "month", "day"})
_DATE_GAP = re.compile(rf"(?:[ ,./-]|{any_of(every(lambda language: language.numbers.dates.gap.split()))}){{0,3}}")
_DOTTED, _DOTTED_BEFORE = re.compile(r"\.\d+\.?\d*"), re.compile(r"\d\.\Z")
_REST_OF_WORD = re.compile(r"[^\W\d_]+| [^\W\d_]+")
_HAN = re.compile(f"[{HAN}]")
_NAMES: Final = any_of(every(lambda language: language.numbers.naming.words.split()))
_MARKS: Final = any_of(["#", *every(lambda language: language.numbers.naming.marks.split())])
_IDENTIFIES = re.compile(rf"(?:\b{_NAMES}\.?|{_MARKS}) ?\Z")


class Amount(msgspec.Struct, frozen=True):
    """`values` has several entries for a date. `text` is as written; `start` and `end` are offsets into the normal text."""

    values: tuple[Value, ...]
    text: str
    start: int
    end: int
    near: tuple[frozenset[str], frozenset[str]]

    def overlaps(self, start: int, end: int) -> bool:
        """Whether that stretch of the normal text overlaps the value, not counting its unit."""
        return start < self.values[-1].end and self.start < end

    @property
    def unit(self) -> str:
        return self.values[0].unit

    @property
    def is_date(self) -> bool:
        return _is_calendar(self.values)


def same(one: Amount, other: Amount) -> bool:
    """Whether two amounts are equal; a date may leave out parts that the other has."""
    fewer, more = sorted((one.values, other.values), key=len)
    return all(
        any(matches(value, there) and (value.unit == "month") == (there.unit == "month") for there in more)
        for value in fewer
    )


@lru_cache(maxsize=1024)
def amounts(sentence: str) -> tuple[Amount, ...]:
    """The amounts in order, without number words that are as often not numbers and without numbers that only name a thing.

    None of a long list of figures, which states no single one.
    """
    reading = read(sentence)
    groups = _groups(reading)
    if len(groups) > AMOUNTS:
        return ()
    offsets = _offsets(sentence, reading.text) if groups else None
    return tuple(_amount(sentence, reading, group, offsets) for group in groups)


def written(text: str, plain: str, start: int, end: int) -> str:
    """The stretch of `plain`, the normal form of `text`, as it is written there, on one line."""
    offsets = _offsets(text, plain)
    there = text[offsets[start] : offsets[end - 1] + 1] if offsets and start < end else plain[start:end]
    return " ".join(there.split())


def _groups(reading: Reading) -> list[tuple[Value, ...]]:
    groups: list[list[Value]] = []
    for value in reading.values:
        if not value.sure or _identifies(reading.text, value) or _is_version(reading.text, value):
            continue
        if groups and _DATE_GAP.fullmatch(reading.text, groups[-1][-1].end, value.start):
            joined = (*groups[-1], value)
            if _is_calendar(joined) and len(joined) <= 3:
                groups[-1].append(value)
                continue
        groups.append([value])
    return [tuple(group) for group in groups]


def _identifies(text: str, value: Value) -> bool:
    """Whether the number only names a thing, by the word before it."""
    return _IDENTIFIES.search(text, max(0, value.start - NAMING_WORD_CHARS), value.start) is not None


def _is_version(text: str, value: Value) -> bool:
    """Whether a number is a part of one like 2.4.1."""
    return (
        bool(_DOTTED.match(text, value.end) or _DOTTED_BEFORE.search(text, max(0, value.start - 2), value.start))
        or text[value.start : value.end].count(".") > 1
    )


def _is_calendar(values: tuple[Value, ...]) -> bool:
    """A month with what belongs to it, or a year."""
    if len(values) == 1:
        (only,) = values
        low, high = YEARS
        whole = all(low <= reading < high and reading == int(reading) for reading in only.readings)
        return only.unit == "month" or (whole and only.unit in ("", "year") and only.end - only.start == 4)
    return any(value.unit == "month" for value in values) and all(
        value.unit in _CALENDAR or not value.unit for value in values
    )


def _amount(sentence: str, reading: Reading, group: tuple[Value, ...], offsets: list[int] | None) -> Amount:
    start, end = group[0].start, group[-1].end
    _, end = unit_after(reading.text, end)
    if not group[-1].unit and not _is_calendar(group) and (rest := _REST_OF_WORD.match(reading.text, end)):
        end = end + 1 if _HAN.match(reading.text, end) else rest.end()
    if reading.text.endswith(CURRENCY_SIGNS, 0, start):
        start -= 1
    text = sentence[offsets[start] : offsets[end - 1] + 1] if offsets else reading.text[start:end]
    row = stems(reading.text)
    first = bisect_right(row, start, key=lambda stem: stem.end)
    last = bisect_left(row, end, key=lambda stem: stem.start)
    before = [stem.stem for stem in row[max(0, first - AMOUNT_CONTEXT_WORDS) : first]]
    after = [stem.stem for stem in row[last : last + AMOUNT_CONTEXT_WORDS]]
    return Amount(group, " ".join(text.split()), start, end, (frozenset(before), frozenset(after)))


def _offsets(sentence: str, plain: str) -> list[int] | None:
    """For each character of the normal form its position in the sentence; None where that cannot be determined."""
    offsets: list[int] = []
    letters: list[str] = []
    for at, char in enumerate(sentence):
        made = normal(char)
        letters.append(made)
        offsets.extend([at] * len(made))
    return offsets if "".join(letters) == plain else None
