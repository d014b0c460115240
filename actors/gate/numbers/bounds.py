"""Numbers that only bound or round another: "more than 100,000" of 110,400; "about 800" of 798."""

import re
from math import floor, log10
from typing import Final

from actors.gate.numbers.values import Value

_MORE_BEFORE = re.compile(
    r"(?:more than|over|at least|above|exceeding|upwards of|plus de|au moins|minimum|au-delà de|dépass\w+|超过|多于|至少|不少于|逾"
    r"|اكثر من|علي الاقل|ما لا يقل عن|يزيد عن|يفوق|최소|적어도)\s*(?:\$|€|£)?\Z"
)
_LESS_BEFORE = re.compile(
    r"(?:less than|fewer than|under|below|at most|nearly|almost|moins de|au plus|presque|不到|少于|至多|不超过|低于|近"
    r"|اقل من|علي الاكثر|ما يقارب|거의)\s*(?:\$|€|£)?\Z"
)
_ABOUT_BEFORE = re.compile(
    r"(?:about|around|roughly|approximately|some|circa|environ|près de|à peu près|autour de"
    r"|约|大约|大概|左右|حوالي|نحو|قرابه|약|대략)\s*(?:\$|€|£)?\Z"
)
_MORE_AFTER = re.compile(r"\s?[^\s\d.,]{0,6}\s?(?:이상|넘|초과|多|以上|余|or more|ou plus|فاكثر)")
_LESS_AFTER = re.compile(r"\s?[^\s\d.,]{0,6}\s?(?:미만|이하|가까|以下|以内|or less|ou moins)")
_ABOUT_AFTER = re.compile(r"\s?[^\s\d.,]{0,6}\s?(?:정도|쯤|가량|안팎|左右|上下)")
# "More than ten" says nothing of ten thousand.
_WITHIN: Final = 10.0


def bears_out(text: str, value: Value, other: Value) -> bool:
    """Whether `other`, a number of the evidence, is one that `value` of the sentence `text` bounds or rounds."""
    before, after = text[max(0, value.start - 24) : value.start], text[value.end : value.end + 16]
    for mine in value.readings:
        for theirs in other.readings:
            if mine <= 0 or theirs <= 0:
                continue
            if _either(_MORE_BEFORE, _MORE_AFTER, before, after) and mine <= theirs <= mine * _WITHIN:
                return True
            if _either(_LESS_BEFORE, _LESS_AFTER, before, after) and theirs <= mine <= theirs * _WITHIN:
                return True
            if _either(_ABOUT_BEFORE, _ABOUT_AFTER, before, after) and _rounds(mine, theirs):
                return True
    return False


def _either(before: re.Pattern[str], after: re.Pattern[str], head: str, tail: str) -> bool:
    return before.search(head) is not None or after.match(tail) is not None


def _rounds(mine: float, theirs: float) -> bool:
    """Whether `mine` is `theirs` written with fewer digits: 800 of 798, never 798 of 800."""
    digits = len(f"{mine:.10g}".rstrip("0").replace(".", "").lstrip("0")) or 1
    scale = 10.0 ** (digits - 1 - floor(log10(theirs)))
    return mine != theirs and round(round(theirs * scale) / scale, 6) == mine
