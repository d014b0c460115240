"""The numbers of a text as comparable values: 1,234.5 = 1 234,5 = １２３４.５; 3만 5천 = 35,000 = thirty-five thousand.

Text must be in the gate's normal form. A comma or point that may group digits or start decimals gives a value more than one
reading.
"""

import re
from bisect import bisect_right
from typing import Final

import msgspec

from actors.facts.numbers.units import MONTHS, Glued, glued, unit_after, unit_before, unit_of
from index.languages import LANGUAGES, every, of, union
from index.languages.numerals import any_of, written
from index.languages.tables.numbers import phrases_in, worth_of

_DIGITS = re.compile(
    r"(?<!\^)(?:\d{1,3}(?:(?P<group>[ ,.'،])\d{3})(?:(?P=group)\d{3})*(?:[.,]\d+)?(?!\d)|\d+(?:[.,،]\d+)?)"
)
_PLAIN_DIGITS = re.compile(r"\d+")
_NUMBERS: Final = [of(language).numbers for language in LANGUAGES]
# Words that multiply the number before them.
_SCALES: Final = {word: value for numbers in _NUMBERS for word, value in worth_of(numbers.scales).items()}
_ATTACHED: Final = {word: value for numbers in _NUMBERS for word, value in worth_of(numbers.attached_scales).items()}
_SCALE = re.compile(rf"[ -]?(?:(?P<word>{any_of(_SCALES)})(?![^\W\d_])|(?P<attached>[{''.join(_ATTACHED)}]+))")
_MONTH = re.compile(rf"(?<![^\W\d_]){any_of(MONTHS)}(?![^\W\d_])")
_DOUBTFUL_MONTHS: Final = frozenset(every(lambda language: phrases_in(language.numbers.dates.doubtful_months)))

_OPENERS: Final = any_of(every(lambda language: phrases_in(language.numbers.ranges.openers)))
_OPENED_JOINS: Final = frozenset(every(lambda language: phrases_in(language.numbers.ranges.opened_joins)))
_JOINS: Final = any_of([*every(lambda language: phrases_in(language.numbers.ranges.joins)), *_OPENED_JOINS])
_ARTICLES: Final = any_of(every(lambda language: language.numbers.ranges.articles.split()))
_PREFIXES: Final = any_of(every(lambda language: language.numbers.ranges.prefixes.split()))
_JOINED = re.compile(rf"\s?(?:-{{1,2}}|~|〜|{_JOINS})\s?{_PREFIXES}?")
_OPENED = re.compile(rf"{_OPENERS}(?: {_ARTICLES})?\s*\Z")

# "3 pm" is 15 o'clock as well.
_PM_BEFORE = re.compile(rf"{any_of(every(lambda language: language.numbers.afternoon.before.split()))} ?\Z")
_HOURS: Final = any_of(every(lambda language: language.numbers.afternoon.hours.split()))
_PM_AFTER = re.compile(rf" ?{_HOURS}? ?(?:{union(lambda language: language.numbers.afternoon.after).pattern})")
_QUARTER: Final = union(lambda language: language.numbers.afternoon.quarter).pattern
_HALF: Final = union(lambda language: language.numbers.afternoon.half).pattern
_PART_AFTER = re.compile(rf" ?(?:(?P<quarter>{_QUARTER})|(?P<half>{_HALF}))")
_PART_BEFORE = re.compile(rf"(?:(?P<quarter>{_QUARTER})|(?P<half>{_HALF})) \Z")
_HOUR: Final = ("hour", "clock")
#: What stands between an hour and its minutes.
_BEFORE_MINUTES: Final = frozenset({"", " ", *(f" {join} " for join in _OPENED_JOINS)})
_PART = re.compile(r" ?(\d+(?:\.\d+)?)")


class Value(msgspec.Struct, frozen=True):
    """One number in a text.

    `readings` are its possible values; `span` is how far it reaches above them (a decade covers its years); `sure` is
    False for a word that is as often not a number; `bound` marks one end of a range; `name` is what it is part of.
    """

    start: int
    end: int
    readings: frozenset[float]
    unit: str
    sure: bool = True
    span: float = 0.0
    bound: bool = False
    name: Glued | None = None


class NumberRange(msgspec.Struct, frozen=True):
    """A range as written: it contains everything from `low` to `high`."""

    low: float
    high: float
    unit: str


def values(text: str) -> tuple[tuple[Value, ...], tuple[NumberRange, ...]]:
    """The numbers of a normal text in order, and the ranges formed by two of them."""
    result = _digit_values(text)
    result.extend(_months(text, result))
    # A unit is no number: eight cents are not eight hundred.
    taken = [(value.start, unit_after(text, value.end)[1]) for value in result]
    # Where the numbers of two languages overlap, the longer one is meant: vingt-six contains "six".
    for numeral in sorted(written(text), key=lambda numeral: numeral.start - numeral.end):
        if not any(start < numeral.end and numeral.start < end for start, end in taken):
            unit, end = unit_after(text, numeral.end)
            unit = unit_before(text, numeral.start) or unit or unit_of(text[numeral.start : numeral.end])
            result.append(Value(numeral.start, numeral.end, frozenset({numeral.value}), unit, numeral.sure))
            taken.append((numeral.start, end))
    result.sort(key=lambda value: value.start)
    return _with_ranges(text, _times(text, result))


def _digit_values(text: str) -> list[Value]:
    result: list[Value] = []
    at = 0
    names = glued(text)
    starts = [one.start for one in names]
    while match := _DIGITS.search(text, at):
        last = bisect_right(starts, match.start()) - 1
        name = names[last] if last >= 0 and match.start() < names[last].end else None
        if name is not None:
            # What follows a name is not its unit.
            digits = _PLAIN_DIGITS.match(text, match.start())
            at = digits.end() if digits else match.end()
            result.append(Value(match.start(), at, frozenset({float(text[match.start() : at])}), "", name=name))
            continue
        readings, end = _scaled(text, match)
        unit, at = unit_after(text, end)
        unit = unit_before(text, match.start()) or unit
        covers = unit == "decade" and all(reading % 10 == 0 for reading in readings)
        result.append(Value(match.start(), end, frozenset(readings), unit, span=9.0 if covers else 0.0))
    return result


def _times(text: str, numbers: list[Value]) -> list[Value]:
    """The numbers, where an hour with its minutes is one: 14:30 = 14 h 30 = 2.30 pm; afternoons are read both ways."""
    result: list[Value] = []
    for value in numbers:
        if result and _are_hour_and_minutes(text, result[-1], value):
            hour = result.pop()
            readings = frozenset(round(h + m / 60, 6) for h in hour.readings for m in value.readings)
            result.append(Value(hour.start, value.end, readings, hour.unit or "clock"))
        else:
            result.append(value)
    return [_in_afternoon(text, value) for value in result]


def _are_hour_and_minutes(text: str, hour: Value, minutes: Value) -> bool:
    in_digits = text[minutes.start : minutes.end].isdecimal() and minutes.end - minutes.start == 2
    if max(minutes.readings) >= 60 or max(hour.readings) % 1 or hour.name or minutes.name:
        return False
    if text[hour.end : minutes.start] == ":":
        return in_digits and max(hour.readings) <= 24 and minutes.unit in ("", "minute", *_HOUR)
    if hour.unit not in _HOUR:
        return False
    between = text[unit_after(text, hour.end)[1] : minutes.start]
    return between in _BEFORE_MINUTES and (
        minutes.unit == "minute" or (in_digits and not minutes.unit and len(between) < 2)
    )


def _in_afternoon(text: str, value: Value) -> Value:
    """The value with the half or quarter of an hour beside it, and also twelve hours later if it is one after noon."""
    if value.unit not in ("", *_HOUR) or value.name or max(value.readings) >= 24:
        return value
    after = unit_after(text, value.end)[1]
    part = _PART_AFTER.match(text, after) or _PART_BEFORE.search(text, max(0, value.start - 14), value.start)
    minutes = (0.5 if part["half"] else 0.25) if part else 0.0
    end = max(value.end, part.end()) if part else value.end
    readings = frozenset(reading + minutes for reading in value.readings)
    if max(value.readings) < 12 and (
        _PM_BEFORE.search(text, max(0, value.start - 4), value.start) or _PM_AFTER.match(text, end)
    ):
        readings |= {reading + 12 for reading in readings}
    return msgspec.structs.replace(value, end=end, readings=readings) if readings != value.readings else value


def _scaled(text: str, match: re.Match[str]) -> tuple[set[float], int]:
    """The readings of a number in digits with the scale words after it (`3만 5천`, `1.2 million`), and its end."""
    readings, end = _readings(match[0]), match.end()
    scale = _SCALE.match(text, end)
    if not scale:
        return readings, end
    factor, end = _factor(scale), scale.end()
    total = {round(reading * factor, 6) for reading in readings}
    # A smaller part may follow an attached scale: 3만 5천, 1亿2000万, 2천500.
    while scale["attached"] and (part := _PART.match(text, end)):
        scale = _SCALE.match(text, part.end())
        smaller = _factor(scale) if scale and scale["attached"] else 1.0
        if smaller >= factor or (smaller == 1.0 and (part[0].startswith(" ") or float(part[1]) >= factor)):
            break
        total = {round(base + float(part[1]) * smaller, 6) for base in total}
        factor, end = smaller, scale.end() if scale and smaller > 1.0 else part.end()
        if scale is None:
            break
    return total, end


def _factor(scale: re.Match[str]) -> float:
    if scale["word"]:
        return float(_SCALES[scale["word"]])
    factor = 1.0
    for char in scale["attached"]:
        factor *= _ATTACHED[char]
    return factor


def _readings(digits: str) -> set[float]:
    """The possible values of a number in digits: `1.234` is over a thousand, or one and a fraction."""
    plain = digits.replace("،", ",").replace("'", " ")
    if " " in plain:
        return {float(plain.replace(" ", "").replace(",", "."))}
    marks = {char for char in plain if char in ",."}
    if not marks:
        return {float(plain)}
    grouped = float(re.sub("[,.]", "", plain))
    last = max(plain.rfind(","), plain.rfind("."))
    divided = float(re.sub("[,.]", "", plain[:last]) + "." + plain[last + 1 :])
    if len(marks) == 2:
        return {divided}
    if plain.count(plain[last]) > 1:
        return {grouped}
    return {grouped, divided} if len(plain) - last == 4 and plain[0] != "0" else {divided}


def _months(text: str, numbers: list[Value]) -> list[Value]:
    beside = {value.start for value in numbers} | {value.end for value in numbers}
    result: list[Value] = []
    for match in _MONTH.finditer(text):
        near = any(at in beside for at in range(match.start() - 4, match.start() + 1)) or any(
            at in beside for at in range(match.end(), match.end() + 4)
        )
        if match[0] in _DOUBTFUL_MONTHS and not near:
            continue
        number = float(MONTHS[match[0]])
        result.append(Value(match.start(), match.end(), frozenset({number}), "month"))
    return result


def _with_ranges(text: str, numbers: list[Value]) -> tuple[tuple[Value, ...], tuple[NumberRange, ...]]:
    intervals: list[NumberRange] = []
    marked = list(numbers)
    for index in range(len(numbers) - 1):
        left, right = marked[index], numbers[index + 1]
        if not _joined(text, left, right):
            continue
        scale = _SCALE.search(text, right.start, right.end)
        if scale and max(left.readings) < 1000 <= _factor(scale):
            # "5 to 10 million": the scale applies to both.
            scaled = {round(reading * _factor(scale), 6) for reading in left.readings}
            left = msgspec.structs.replace(left, readings=left.readings | scaled)
        marked[index] = msgspec.structs.replace(left, bound=True)
        marked[index + 1] = msgspec.structs.replace(right, bound=True)
        low, high = max(left.readings), max(right.readings)
        if low < high:
            intervals.append(NumberRange(low, high, right.unit or left.unit))
    return tuple(marked), tuple(intervals)


def _joined(text: str, left: Value, right: Value) -> bool:
    _, after_unit = unit_after(text, left.end)
    for begin in {left.end, after_unit}:
        join = _JOINED.fullmatch(text, begin, right.start)
        if join and (join[0].strip() not in _OPENED_JOINS or _OPENED.search(text, max(0, left.start - 24), left.start)):
            return True
    return False
