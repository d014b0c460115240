"""numbers.toml: numbers, dates and amounts, as the gate reads them in a text of any language.

All words are in the gate's normal form: lower case, without invisible characters, Arabic without hamza and with final he.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from index.languages.tables.kinds import Pattern, Words

#: Words, where `_` is a space inside one.
Phrases = str
#: The words for each number; the number is written in digits, with `_` between them as in code.
Worth = dict[Annotated[str, Meta(pattern=r"^\d[\d_]*$")], Phrases]
#: What a number counts. Only units that exclude each other have a name.
Unit = Literal[
    "percent", "eur", "usd", "gbp", "krw", "cny", "jpy", "cent", "pence", "year", "month", "months", "week", "day",
    "hour", "clock", "minute", "second", "km", "m", "cm", "mm", "mile", "foot", "kg", "g", "mg", "tonne", "pound",
    "litre", "ml", "celsius", "fahrenheit", "km2", "m2", "century", "decade",
]  # fmt: skip


class _System(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="composition"):
    unsure: Phrases  # as often not a number: it can support one, but its absence proves nothing
    only_here: Phrases  # a different word in other languages: a number only in a text of this language


class Additive(_System, frozen=True, tag="additive"):
    """Words of decreasing value are added, and a scale multiplies what comes before it: trente-cinq mille, 스물다섯."""

    place: Pattern  # where it may be; `{number}` is the number, `{counters}` the words below
    gap: Pattern  # the text between two of its words
    counters: Words  # the counted noun
    cardinals: Worth  # and other words with a number's value: dozen, twice
    ordinals: Worth
    scales: Worth


class Run(_System, frozen=True, tag="run"):
    """A run of words, each with its particles, in any order: values below a scale are added, a scale multiplies."""

    particles: Words  # written in one word with the number; tried in this order
    cardinals: Worth
    scales: Worth  # from 1,000 on; hundreds are cardinals
    ordinals: Worth  # alone, and as often adjectives: never sure
    duals: Worth  # dual forms of counted nouns; used alone


class Characters(_System, frozen=True, tag="characters"):
    """A character for each digit and each scale: 一百二十, 삼천오백; digits alone as in 二〇一五."""

    #: The group `number` is it; `{digits}` and `{scales}` are the characters, `{counters}` the words below.
    place: Pattern
    counters: Words
    digits: Worth
    scales: Worth


class Ranges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How two numbers make a range."""

    joins: Phrases  # "5 to 10"
    openers: Phrases  # "between 5 and 10"
    opened_joins: Phrases  # joins that only count after an opener
    articles: Words  # may precede a number of a range, after a space
    prefixes: Words  # the same, in one word with it


class Bounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What makes a number a bound of another, or a rounding of it."""

    more_before: Pattern
    less_before: Pattern
    about_before: Pattern
    more_after: Pattern
    less_after: Pattern
    about_after: Pattern


class Afternoon(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What turns 3 o'clock into 15, or into half past 3."""

    before: Words
    after: Pattern
    hours: Words  # may separate the number from the words after it
    quarter: Pattern  # before or after an hour: 15 minutes of it
    half: Pattern  # the same for 30


class Dates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a date is written."""

    months: Annotated[tuple[Phrases, ...], Meta(min_length=12, max_length=12)]
    doubtful_months: Phrases  # as often another word: a month only next to a number
    gap: Words  # may separate day, month and year


class NumberNaming(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a number names a thing instead of counting."""

    words: Words  # "room 5": the word ends before the number, with or without a point
    marks: Words  # n°5, 제5: in one with the number
    works: Phrases  # "(2008 film)": the kind of work in a title's qualifier


class Numbers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of numbers.toml."""

    numerals: tuple[Additive | Run | Characters, ...]
    scales: Worth  # words that multiply the digits before them: 1.2 million
    attached_scales: Worth  # characters that do, several in a row and with a smaller part behind: 3만 5천, 1亿2000万
    units: dict[Unit, Phrases]  # after a number, with or without a space
    attached_units: dict[Unit, Phrases]  # after a number, without a space
    units_before: dict[Unit, Phrases]  # a last `_` where a space must precede the number
    ranges: Ranges
    bounds: Bounds
    afternoon: Afternoon
    dates: Dates
    naming: NumberNaming


def phrases_in(phrases: Phrases) -> tuple[str, ...]:
    return tuple(phrase.replace("_", " ") for phrase in phrases.split())


def worth_of(table: Worth) -> dict[str, int]:
    return {phrase: int(number) for number, phrases in table.items() for phrase in phrases_in(phrases)}


class Labels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words before a number that name its kind; folded. `other`: numbers that are nobody's own, such as an order's."""

    phone: Phrases
    account: Phrases
    passport: Phrases
    identity: Phrases
    other: Phrases


class Privacy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """privacy.toml: the words next to personal data, and the regions of its phone numbers."""

    #: ISO 3166 codes of the regions with phone numbers that are known without a label.
    regions: Annotated[Words, Meta(min_length=2)]
    at: Phrases  # how a mail address is spelled out: kim (at) example (dot) com
    dot: Phrases
    secrets: Phrases  # words before a password, a token or a key
    streets: Pattern  # a regular expression: a street with its number
    digits: Phrases = ""  # the letters for 0 to 9 in a number that is read out: 공일공-구팔칠육-오사삼이
    labels: Labels
