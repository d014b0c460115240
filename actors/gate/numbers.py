"""Check that the evidence has each number of a sentence, and in the same place.

A number is fabricated when the evidence does not contain it, and also when the evidence has it only elsewhere and another number
of the same unit between the words that surround it in the sentence. A value inside a range of the evidence is fine, unless the
sentence has its own range.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, permutations
from math import floor, inf, log10
from typing import Final

import msgspec

from actors.facts.numbers.units import renamed
from actors.facts.numbers.values import NumberRange, Value
from actors.facts.reading import read
from actors.facts.slots import (
    NumberSlot,
    are_times,
    converted,
    likeness,
    matches,
    signature,
    slot_index,
    slots,
    units_agree,
)
from actors.facts.stems import Stem, stems
from actors.gate.places import ClosestPart, closest_part
from actors.gate.thresholds import (
    BARE_NUMBER,
    BOUND_AFTER_CHARS,
    BOUND_BEFORE_CHARS,
    BOUND_FACTOR,
    CLOSEST_SENTENCE_SHARE,
    COMPARED_NUMBERS,
    COUNTED_NUMBER,
    CUT_NUMBER_SHARE,
    NUMBER_PLACE_MARGIN,
    NUMBER_PLACE_SHARE,
    NUMBER_RIVAL_MARGIN,
    NUMBER_SPARE_WORDS,
    YEARS,
)
from index.languages import every, union
from index.languages.numerals import any_of
from index.languages.tables.numbers import Bounds, phrases_in

# "2. Second step": the answer numbers its own items.
_ENUMERATOR = re.compile(r"[\s#>*_•-]*\(?\d{1,2}[.)]\s+(?=\S)")
# "Two steps:\n1." before the first item: the number belongs to what follows.
_NEXT_ENUMERATOR = re.compile(r"[:\n]\s*\(?\d{1,2}[.)]\s*\Z")
#: A mark inside a number, as re.escape writes it.
_MARKED: Final = re.compile(r"(?<=\d)\\?[.,](?=\d)")
_WORKS: Final = any_of(every(lambda language: phrases_in(language.numbers.naming.works)))
_QUALIFIER = re.compile(rf"[( ]{{0,2}}\d{{4}} (?:\w+ )?{_WORKS} ?\)")


class WrongNumber(msgspec.Struct, frozen=True):
    """A number of the sentence that the evidence does not support; `instead`: the number in its place, or ""; `sure`: nothing
    speaks for it, see `_is_sure`. `new`: neither the evidence nor the question has it, and it is not computed;
    `computed`: it is, and is no date.
    """

    words: str
    instead: str
    evidence: int | None
    sure: bool = True
    new: bool = False
    computed: bool = False


def wrong_numbers(sentence: str, evidence: Sequence[str], asked: str = "") -> Iterator[WrongNumber]:
    """The numbers of `sentence` that `evidence` lacks, or has only in another place, in order; none of those that the evidence
    lacks is sure if `asked`, a question, has it, or if it is computed.
    """
    own, own_text = slots(sentence), read(sentence).text
    intervals = [interval for text in evidence for interval in read(text).intervals]
    listed, next_item = _ENUMERATOR.match(own_text), _NEXT_ENUMERATOR.search(own_text)
    different = tuple({signature(slot): slot for slot in reversed(own)}.values())[::-1][:COMPARED_NUMBERS]
    taken: dict[object, tuple[int, NumberSlot] | None] = {}
    named: set[str] = set()
    for slot in own:
        value = slot.value
        if (listed and value.end <= listed.end()) or (next_item and value.start >= next_item.start()):
            continue
        if value.name is not None:
            if value.name.name not in named:
                named.add(value.name.name)
                yield from _renamed(value, own_text, evidence)
            continue
        words = own_text[value.start : value.end]
        same = [other for text in evidence for other in islice(slot_index(text).same(value), COMPARED_NUMBERS)]
        if not same and _is_spaced(words, evidence):
            continue
        inside = any(_inside(value, interval) for interval in intervals)
        instead = None
        if len(taken) < COMPARED_NUMBERS and not _cut(own_text, slot, evidence):
            key = signature(slot)
            if key not in taken:
                taken[key] = _taken_place(slot, different, same, evidence, inside=inside)
            instead = taken[key]
        if instead is not None:
            index, other = instead
            text = read(evidence[index]).text
            yield WrongNumber(words, text[other.value.start : other.value.end], index)
        elif not same and not value.unit and _is_of_ratio(words, evidence):
            continue
        elif not same and _counts_another(own_text, value, evidence):
            yield WrongNumber(words, "", None, sure=False)
        elif not same and _tells(own_text, value) and not _cut(own_text, slot, evidence):
            fits = not value.bound and (inside or _bounds_another(own_text, value, evidence))
            if not fits:
                computed = _is_computed(value, own, evidence)
                known = computed or any(matches(value, each) for each in read(asked).values)
                sure = not known and _is_sure(own_text, value, evidence)
                yield WrongNumber(words, "", None, sure=sure, new=not known, computed=computed and not _is_date(value))


def _renamed(value: Value, own_text: str, evidence: Sequence[str]) -> Iterator[WrongNumber]:
    """A name that the evidence has only with another number; a name that it does not have is no number at all."""
    assert value.name is not None
    names = [renamed(value.name, read(text).text) for text in evidence]
    other = next((index for index, name in enumerate(names) if name), None)
    if other is not None and "" not in names:
        yield WrongNumber(own_text[value.name.start : value.name.end], names[other] or "", other)


def _bounds_another(text: str, value: Value, evidence: Sequence[str]) -> bool:
    """Whether the number bounds or rounds one of the evidence; a bound bounds no other: "at most 600" is not "at most 700"."""
    bound = bound_of(text, value)
    return bool(bound) and any(
        units_agree(value.unit, other.unit) and bears_out(bound, value, other) and not _same_side(bound, item, other)
        for item in evidence
        for other in slot_index(item).amounts
    )


def _same_side(bound: "Bound", text: str, other: Value) -> bool:
    there = bound_of(read(text).text, other)
    return (bound.more and there.more) or (bound.less and there.less)


def _tells(text: str, value: Value) -> bool:
    """Whether the absence of this number from the evidence means anything.

    It does not for a small number in words that counts things ("two films"), since the evidence may list them, nor for
    the year in a title's qualifier ("(2008 film)").
    """
    if not value.sure or _QUALIFIER.match(text, max(0, value.start - 2)):
        return False
    in_words = not any(map(str.isdigit, text[value.start : value.end]))
    return not in_words or value.unit != "" or min(value.readings) > COUNTED_NUMBER


def _counts_another(text: str, value: Value, evidence: Sequence[str]) -> bool:
    """Whether the number is a small one in words, and the evidence has only other numbers of the same thing."""
    if _tells(text, value) or not value.sure:
        return False
    thing = _next_stem(text, value.end)
    return bool(thing) and any(
        _next_stem(read(item).text, other.end) == thing for item in evidence for other in slot_index(item).amounts
    )


def _next_stem(text: str, at: int) -> str:
    return next((stem.stem for stem in stems(text) if stem.start >= at), "")


def _is_computed(value: Value, own: Sequence[NumberSlot], evidence: Sequence[str]) -> bool:
    """Whether the number is half or twice one that both evidence and sentence have, or the sum, difference, product, ratio or
    percentage of two numbers of the evidence.
    """
    given, results = _computed(tuple(evidence))
    if not given.isdisjoint(value.readings):  # the same number with another unit
        return False
    mine = {reading for slot in own for reading in slot.value.readings} & given
    halves = {_digits(result) for one in mine for result in (one / 2, one * 2)}
    # A quarter of an hour between two times of day is 15 minutes.
    lengths = (reading for unit, reading in converted(value) if are_times(unit, "hour"))
    return any(_digits(reading) in results or _digits(reading) in halves for reading in (*value.readings, *lengths))


@lru_cache(maxsize=64)
def _computed(evidence: tuple[str, ...]) -> tuple[frozenset[float], frozenset[str]]:
    """The numbers of the evidence, and what two of them make, to six digits."""
    there = [each for text in evidence for each in slot_index(text).amounts][:COMPARED_NUMBERS]
    given = frozenset(reading for each in there for reading in each.readings if 0 < reading < inf)
    pairs = permutations(given, 2)
    results = chain.from_iterable((a + b, a - b, a * b, a / b, a * b / 100) for a, b in pairs)
    return given, frozenset(map(_digits, results))


def _digits(number: float) -> str:
    return f"{number:.6g}"


def _is_sure(text: str, value: Value, evidence: Sequence[str]) -> bool:
    """Whether a number that the evidence lacks is wrong: the sentence is else the same, or little of it is there.

    A retelling may take the number from elsewhere. So may any sentence a date or a bare digit where the evidence gives none.
    """
    there, new = _retold(text, tuple(evidence))
    if there is None:
        return True
    kind = next((kind for kind in (_is_date, _is_bare) if kind(value)), None)
    if kind is not None and not any(map(kind, read(there.text).values)):
        return False
    # A unit stands beside the number.
    apart = [stem for stem in new if stem.end < value.start - 1 or stem.start > value.end + 1]
    return there.coverage <= CLOSEST_SENTENCE_SHARE or len(apart) <= NUMBER_SPARE_WORDS


@lru_cache(maxsize=64)
def _retold(text: str, evidence: tuple[str, ...]) -> tuple[ClosestPart | None, tuple[Stem, ...]]:
    """The part of the evidence that the sentence is about, and the words that neither it nor its like in other texts has."""
    parts = [part for item in evidence if (part := closest_part(text, [item])) is not None]
    known = {stem.stem for part in parts for stem in stems(part.text)}
    new = (stem for stem in stems(text) if stem.stem not in known and not any(map(str.isdigit, stem.stem)))
    return max(parts, key=lambda part: part.coverage, default=None), tuple(new)


def _is_date(value: Value) -> bool:
    low, high = YEARS
    year = value.unit in ("", "year") and len(value.readings) == 1 and low <= min(value.readings) <= high
    return year or value.unit == "month"


def _is_bare(value: Value) -> bool:
    return not value.unit and max(value.readings) <= BARE_NUMBER


def _is_spaced(number: str, evidence: Sequence[str]) -> bool:
    """Whether the evidence has the number with a space after its marks, as split texts do: "1, 200"."""
    if not _MARKED.search(number):
        return False
    spaced = re.compile(rf"(?<![\d.,]){_MARKED.sub('[.,] ', re.escape(number))}(?![\d.,]*\d)")
    return any(spaced.search(read(text).text) for text in evidence)


def _is_of_ratio(number: str, evidence: Sequence[str]) -> bool:
    """Whether the number is on a side of "1:10" in the evidence, or is written so and both sides are numbers of the evidence."""
    first, _, second = number.partition(":")
    if second:
        bare = {
            reading
            for text in evidence
            for each in slot_index(text).amounts
            if not each.unit
            for reading in each.readings
        }
        return second != "00" and {float(first), float(second)} <= bare
    side = re.compile(rf"(?<![\d:.,]){re.escape(number)}:\d|\d:{re.escape(number)}(?![\d:])")
    return number.isdecimal() and any(side.search(read(text).text) for text in evidence)


def _cut(text: str, slot: NumberSlot, evidence: Sequence[str]) -> bool:
    """Whether the sentence was cut in the middle of this decimal number ("… at 28." of "28.5°")."""
    value = slot.value
    last = len(text.rstrip(" .")) <= value.end < len(text)
    if not last and value.start > 0:
        return False
    digits = text[value.start : value.end].split(" ", maxsplit=1)[0]
    for item in evidence:
        whole = read(item).text
        for other in slot_index(item).slots:
            number = whole[other.value.start : other.value.end]
            cut = (last and number.startswith(digits + ".")) or (value.start == 0 and number.endswith("." + digits))
            if cut and likeness(slot, other) >= CUT_NUMBER_SHARE:
                return True
    return False


def _comparable(value: Value, other: Value) -> bool:
    if matches(value, other) or (value.unit == "month") != (other.unit == "month"):
        return False
    return value.unit == other.unit or not value.unit or not other.unit or are_times(value.unit, other.unit)


def _inside(value: Value, interval: NumberRange) -> bool:
    agree = units_agree(value.unit, interval.unit)
    return agree and any(interval.low <= reading <= interval.high for reading in value.readings)


def _taken_place(
    slot: NumberSlot, own: Sequence[NumberSlot], same: Sequence[NumberSlot], evidence: Sequence[str], *, inside: bool
) -> tuple[int, NumberSlot] | None:
    """The number of the evidence in the place that `slot` has in the sentence, if it is a different number."""
    best_same = max((likeness(slot, other) for other in same), default=0.0)
    if best_same > 1.0 - NUMBER_PLACE_MARGIN:
        return None
    margin = NUMBER_PLACE_MARGIN if best_same < NUMBER_PLACE_SHARE else NUMBER_RIVAL_MARGIN
    best, rival = max(NUMBER_PLACE_SHARE, best_same + margin), None
    for index, text in enumerate(evidence):
        for other in slot_index(text).near(slot):
            # A value inside a range is fine: the ends of the range do not replace it.
            if inside and other.value.bound and not slot.value.bound:
                continue
            alike = likeness(slot, other)
            if alike < best or not _comparable(slot.value, other.value) or _told_elsewhere(other, alike, slot, own):
                continue
            if rival is None or alike > best or other.value.start < rival[1].value.start:
                best, rival = alike, (index, other)
    return rival


def _told_elsewhere(other: NumberSlot, alike: float, slot: NumberSlot, own: Sequence[NumberSlot]) -> bool:
    """Whether another number of the sentence equals `other`, in a place at least as similar."""
    return any(mine is not slot and matches(mine.value, other.value) and likeness(mine, other) >= alike for mine in own)


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
