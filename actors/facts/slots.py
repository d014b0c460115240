"""Numbers with the words around them, and how similar two such places are."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

import msgspec

from actors.facts.numbers.values import Value
from actors.facts.reading import read
from actors.facts.thresholds import CONTEXT_WEIGHTS, MOVED_WEIGHT, NEAR_SLOTS, NEAREST_WORDS

_COMPARABLE_UNITS: Final = (
    {"month", "months"}, {"hour", "clock"}, {"decade", "year", "century"}, {"gbp", "pound"}, {"m", "minute"},
)  # fmt: skip
#: Units of one kind, each with its size.
_SIZES: Final[tuple[dict[str, float], ...]] = (
    {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800},
    {"months": 1, "year": 12},
    {"mg": 1, "g": 1_000, "kg": 1_000_000, "tonne": 1_000_000_000},
    {"mm": 1, "cm": 10, "m": 1_000, "km": 1_000_000},
    {"ml": 1, "litre": 1_000},
    # Cents of any of these; one Chinese word is a minute and a hundredth of money.
    *({small: 1.0, large: 100.0} for small in ("cent", "minute") for large in ("eur", "usd", "cny")),
    {"pence": 1, "gbp": 100},
)
_TIMES: Final = frozenset(_SIZES[0]) | frozenset(_SIZES[1])


class NumberSlot(msgspec.Struct, frozen=True):
    """A number with the words around it, nearest first."""

    value: Value
    before: tuple[str, ...]
    after: tuple[str, ...]


class SlotIndex(msgspec.Struct, frozen=True):
    """The numbers of one text, found by value and by the words next to them; of those that repeat with all around them, the first.

    `amounts` are the different values.
    """

    slots: tuple[NumberSlot, ...]
    by_value: dict[float, tuple[NumberSlot, ...]]
    by_word: dict[tuple[bool, str], tuple[NumberSlot, ...]]
    spanning: tuple[NumberSlot, ...]
    amounts: tuple[Value, ...]

    def same(self, value: Value) -> Iterator[NumberSlot]:
        """The numbers that support `value`; one with two readings may come twice."""
        readings = {*value.readings, *(reading for _, reading in converted(value))}
        near = self.slots if value.span else [*self.spanning, *_all(self.by_value, readings)]
        return (slot for slot in near if matches(value, slot.value))

    def near(self, slot: NumberSlot) -> set[NumberSlot]:
        """The numbers that share one of the nearest words with `slot`, on the same side; at most NEAR_SLOTS."""
        groups = sorted((self.by_word.get(key, ()) for key in _nearest(slot)), key=len)
        return set(islice((one for group in groups for one in group), NEAR_SLOTS))


@lru_cache(maxsize=512)
def slots(text: str) -> tuple[NumberSlot, ...]:
    reading = read(text)
    starts = [word.start for word in reading.words]
    result: list[NumberSlot] = []
    for value in reading.values:
        first = bisect_left(starts, value.start)
        last = bisect_left(starts, value.end)
        before = tuple(word.text for word in reversed(reading.words[max(0, first - len(CONTEXT_WEIGHTS)) : first]))
        after = tuple(word.text for word in reading.words[last : last + len(CONTEXT_WEIGHTS)])
        result.append(NumberSlot(value, before, after))
    return tuple(result)


@lru_cache(maxsize=512)
def slot_index(text: str) -> SlotIndex:
    distinct: dict[tuple[object, ...], NumberSlot] = {}
    for slot in slots(text):
        distinct.setdefault(signature(slot), slot)
    all_slots = tuple(distinct.values())
    amounts = {(slot.value.readings, slot.value.unit): slot.value for slot in reversed(all_slots)}
    by_value: dict[float, list[NumberSlot]] = {}
    by_word: dict[tuple[bool, str], list[NumberSlot]] = {}
    for slot in all_slots:
        for reading in slot.value.readings:
            by_value.setdefault(reading, []).append(slot)
        for key in _nearest(slot):
            by_word.setdefault(key, []).append(slot)
    return SlotIndex(
        all_slots,
        {value: tuple(some) for value, some in by_value.items()},
        {key: tuple(some) for key, some in by_word.items()},
        tuple(slot for slot in all_slots if slot.value.span),
        tuple(amounts.values()),
    )


def signature(slot: NumberSlot) -> tuple[object, ...]:
    """All of a number but its place: two with the same are compared alike."""
    value = slot.value
    return value.readings, value.unit, value.sure, value.span, value.bound, value.name, slot.before, slot.after


def _nearest(slot: NumberSlot) -> set[tuple[bool, str]]:
    return {(True, word) for word in slot.before[:NEAREST_WORDS]} | {
        (False, word) for word in slot.after[:NEAREST_WORDS]
    }


def _all[Key](index: dict[Key, tuple[NumberSlot, ...]], keys: Iterable[Key]) -> Iterator[NumberSlot]:
    for key in keys:
        yield from index.get(key, ())


def matches(value: Value, other: Value) -> bool:
    """Whether `other` in the evidence supports `value` in the sentence."""
    if not units_agree(value.unit, other.unit):
        return any(unit == other.unit and reading in other.readings for unit, reading in converted(value))
    for mine in value.readings:
        for theirs in other.readings:
            if mine == theirs or mine <= theirs <= mine + value.span:
                return True
            if value.unit != "decade" and theirs <= mine <= theirs + other.span:
                return True
            if value.span and mine < 100 and mine <= theirs % 100 <= mine + 9 and theirs >= 1000:
                return True
    return False


def converted(value: Value) -> Iterator[tuple[str, float]]:
    """The same amount in the other units of its kind: two weeks are 14 days."""
    for sizes in _SIZES:
        if size := sizes.get(value.unit):
            for unit, other in sizes.items():
                yield from ((unit, round(reading * size / other, 6)) for reading in value.readings)


def are_times(unit: str, other: str) -> bool:
    """Whether both units measure a length of time."""
    return unit in _TIMES and other in _TIMES


def units_agree(unit: str, other: str) -> bool:
    return not unit or not other or unit == other or any({unit, other} <= group for group in _COMPARABLE_UNITS)


def likeness(slot: NumberSlot, other: NumberSlot) -> float:
    """Share (0..1) of the words around `slot` that also surround `other` on the same side; nearer words count more."""
    shared = total = 0.0
    for mine, theirs in ((slot.before, other.before), (slot.after, other.after)):
        for distance, (weight, word) in enumerate(zip(CONTEXT_WEIGHTS, mine, strict=False)):
            total += weight
            if distance < len(theirs) and theirs[distance] == word:
                shared += weight
            elif word in theirs:
                shared += weight * MOVED_WEIGHT
    return shared / total if total else 0.0
