"""The statements of a span, with what they are compared by: their words, their amounts and dates, and for whom they hold.

A statement is a sentence, item or row that claims something. An amount is one value with its unit and the words around it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

import msgspec

from actors.evidence import thresholds
from actors.evidence.spans import share_held
from actors.facts.numbers.units import CURRENCY_SIGNS, unit_after
from actors.facts.numbers.values import Value
from actors.facts.reading import TOKEN, Reading, read
from actors.facts.slots import matches
from actors.facts.stems import stems, stems_in
from bus.wire.parts import Span
from index.languages import LANGUAGES, every, of, union
from index.languages.characters import HAN, is_han, is_hangul, normal
from index.languages.numerals import any_of
from index.text.units import units

_CALENDAR: Final = frozenset({"year", "month", "day"})
_DATE_GAP = re.compile(rf"(?:[ ,./-]|{any_of(every(lambda language: language.numbers.dates.gap.split()))}){{0,3}}")
_DOTTED, _DOTTED_BEFORE = re.compile(r"\.\d+\.?\d*"), re.compile(r"\d\.\Z")
_REST_OF_WORD = re.compile(r"[^\W\d_]+| [^\W\d_]+")
_HAN = re.compile(f"[{HAN}]")
#: What only an address has, how far from its number, and what may stand between them: a name with its small words.
_STREET: Final = union(lambda language: language.questions.things.address)
_STREET_CHARS: Final = 30
_NAME_ONLY = re.compile(r"\.?(?: (?:del?|l[aeo]s?|du|des|d['’]))*(?: [^\W\d_]+)?,? ?")
_NAMES: Final = any_of(every(lambda language: language.numbers.naming.words.split()))
_MARKS: Final = any_of(["#", *every(lambda language: language.numbers.naming.marks.split())])
_NAME_BEFORE = re.compile(r"[^\W\d_]-\Z")
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
    if len(groups) > thresholds.AMOUNTS:
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
        if (
            not value.sure
            or value.name is not None
            or _identifies(reading.text, value)
            or _is_version(reading.text, value)
        ):
            continue
        if groups and _DATE_GAP.fullmatch(reading.text, groups[-1][-1].end, value.start):
            joined = (*groups[-1], value)
            if _is_calendar(joined) and len(joined) <= 3:
                groups[-1].append(value)
                continue
        groups.append([value])
    return [
        tuple(group)
        for group in groups
        if not _ends_name(reading.text, group[0]) and not _is_of_house(reading.text, group[0])
    ]


def _ends_name(text: str, value: Value) -> bool:
    """Whether the number is the end of a name, as in "Figure-2"."""
    return _NAME_BEFORE.search(text, max(0, value.start - 2), value.start) is not None


def _is_of_house(text: str, value: Value) -> bool:
    """Whether a number without a unit stands before or behind the name of a street, in a script with spaces."""
    before, behind = (
        text[max(0, value.start - _STREET_CHARS) : value.start],
        text[value.end :][:_STREET_CHARS].lstrip(" ,"),
    )
    if value.unit or any(is_han(letter) or is_hangul(letter) for letter in (before[-2:] + behind[:1])):
        return False
    named = max((found.end() for found in _STREET.finditer(before)), default=0)
    return bool(_STREET.match(behind)) or bool(named and _NAME_ONLY.fullmatch(before, named))


def _identifies(text: str, value: Value) -> bool:
    """Whether the number only names a thing, by the word before it."""
    return _IDENTIFIES.search(text, max(0, value.start - thresholds.NAMING_WORD_CHARS), value.start) is not None


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
        low, high = thresholds.YEARS
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
    before = [stem.stem for stem in row[max(0, first - thresholds.AMOUNT_CONTEXT_WORDS) : first]]
    after = [stem.stem for stem in row[last : last + thresholds.AMOUNT_CONTEXT_WORDS]]
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


class StatedScope(msgspec.Struct, frozen=True):
    """`everybody`, else only some. `text` is the stretch that states it, as written."""

    everybody: bool
    text: str


def audience_of(sentence: str, language: str) -> StatedScope | None:
    """The scope that a sentence states; None when it states none, or both."""
    if language not in LANGUAGES:
        return None
    every, only = (pattern.search(sentence) for pattern in _patterns(language))
    match = every or only
    if match is None or (every and only):
        return None
    return StatedScope(every is not None, _stretch(sentence, match.start(), match.end()))


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    table = of(language).terms.audience
    return re.compile(table.everybody, re.I), re.compile(table.only_some, re.I)


def _stretch(sentence: str, start: int, end: int) -> str:
    """Whole words around that position, within the clause."""
    left = re.split(r"[,;:，；：、،]", sentence[max(0, start - thresholds.SCOPE_CHARS) : start])[-1]
    right = re.split(r"[.,;:。，；：、،!?؟]", sentence[end : end + thresholds.SCOPE_CHARS])[0]
    if start > thresholds.SCOPE_CHARS and len(left) == thresholds.SCOPE_CHARS and " " in left:
        left = left.partition(" ")[2]
    if len(right) == thresholds.SCOPE_CHARS and " " in right:
        right = right.rpartition(" ")[0]
    return (left + sentence[start:end] + right).strip()


#: A question or an introduction states nothing.
_STATES_NOTHING: Final = (":", "：", "?", "？", "؟")
_LIST_SIGN = re.compile(r"^[\s#>*•·–—-]*(?:\d{1,3}[.)]\s+)?")


class Statement(msgspec.Struct, frozen=True):
    """A sentence, item or row. `start` and `end` are offsets into the span. `words` are its words without the values.

    `around`: the words of the whole span; `about`: those of title and headings; `beside`: the other sentences of the span.
    `ends`: its first and its last word.
    """

    n: int
    start: int
    end: int
    source_id: str
    title: str
    headings: tuple[str, ...]
    language: str
    text: str
    words: frozenset[str]
    around: frozenset[str]
    about: frozenset[str]
    beside: frozenset[str]
    ends: tuple[str, str]
    amounts: tuple[Amount, ...]
    scope: StatedScope | None


@lru_cache(maxsize=256)
def all_statements(span: Span) -> tuple[Statement, ...]:
    """The statements in order, kept: each span of the evidence is read more than once."""
    return tuple(statements(span))


def statements(span: Span, *, like: Sequence[str] = ()) -> Iterator[Statement]:
    """The statements in order; with `like`, only those that share rough terms with one of these texts, a quick test."""
    stating = [unit for unit in units(span.text, span.blocks, span.source_start) if unit.answers]
    texts = [_LIST_SIGN.sub("", span.text[unit.start : unit.end]).strip() for unit in stating]
    for unit, text in zip(stating, texts, strict=True):
        if like and not any(share_held(text, other) >= thresholds.ROUGHLY_ALIKE_SHARE for other in like):
            continue
        stated = amounts(text)
        words = [
            stem for stem in stems(read(text).text) if not any(one.overlaps(stem.start, stem.end) for one in stated)
        ]
        if unit.kind == "code" or text.endswith(_STATES_NOTHING) or len(words) < thresholds.STATEMENT_WORDS:
            continue
        tokens = [match[0] for match in TOKEN.finditer(read(text).text)]
        yield Statement(
            n=span.n,
            start=unit.start,
            end=unit.end,
            source_id=span.source_id,
            title=span.title,
            headings=span.headings,
            language=span.language,
            text=text,
            words=frozenset(stem.stem for stem in words),
            around=stems_in(f"{span.title}\n{span.text}"),
            about=stems_in("\n".join((span.title, *span.headings))),
            beside=frozenset(other for other in texts if other != text),
            ends=(tokens[0], tokens[-1]),
            amounts=stated,
            scope=audience_of(text, span.language),
        )
