"""A text as every check reads it: in normal form without markers, with its words and numbers, computed once and cached."""

import re
from functools import lru_cache

import msgspec

from actors.facts.numbers.values import NumberRange, Value, values
from actors.facts.thresholds import READ_TEXTS
from index.languages.characters import HAN, normal
from index.text.citations import strip_markers

# Chinese is read by character, everything else by word, with digits separate from letters.
TOKEN = re.compile(rf"[{HAN}]|\d+(?:[.,]\d+)*|[^\W\d_{HAN}]+|[%€$£¥°]")


class ReadWord(msgspec.Struct, frozen=True):
    start: int
    end: int
    text: str


class Reading(msgspec.Struct, frozen=True):
    """`text` is in normal form without citation markers; all offsets are into it."""

    text: str
    words: tuple[ReadWord, ...]
    values: tuple[Value, ...]
    intervals: tuple[NumberRange, ...]


@lru_cache(maxsize=READ_TEXTS)
def read(text: str) -> Reading:
    plain = normal(strip_markers(text))
    numbers, intervals = values(plain)
    words = tuple(ReadWord(match.start(), match.end(), match[0]) for match in TOKEN.finditer(plain))
    return Reading(plain, words, numbers, intervals)
