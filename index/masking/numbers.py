"""Numbers of digits alone: phones, cards, resident registration numbers, and what a label names.

Every run of digits and what may join them is read once; in it, groups of digits that could be one number are looked at, each
beginning and end where the run allows one. The work grows with the text's length alone.
"""

import re
from typing import Final

from stdnum import ean, luhn
from stdnum.kr import rrn
from stdnum.us import ssn

from index.masking import phones
from index.masking.digits import KEPT, MASK, Number, all_but_last

#: Digits with at most three characters between them, and marks of bold text; a point or comma with a space ends a number.
_RUN = re.compile(r"\d(?:(?:[ ()/·_~*-]{1,3}|\*\*[ ._-]\*\*|[.,])?\d)*+")
_GROUP = re.compile(r"\d+")
#: Longer numbers than these, in digits and in groups, are not personal.
_MOST_DIGITS: Final = 20
_MOST_GROUPS: Final = 8
_FEWEST_DIGITS: Final = 7
_MOST_WRITTEN: Final = 40
#: A mask of a number up to where the digits begin that it has left.
_BETWEEN: Final = r"(?:[ ()./,·_~*-]{0,3}|\*\*[ ._-]\*\*)"
_MASKED = re.compile(rf"{MASK}(?:{_BETWEEN}{MASK}){{3,}}{_BETWEEN}(?:\d{_BETWEEN})*\Z")
_MONTH_DAY: Final = r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_RESIDENT = re.compile(rf"\d\d{_MONTH_DAY}[1-8]\d{{6}}")
_YEAR: Final = r"(?:1[5-9]|20)\d\d"
_DATE = re.compile(
    rf"{_YEAR}\D{{0,2}}{_MONTH_DAY}|{_YEAR}\D{{1,2}}\d\d?\D{{1,2}}\d\d?|\d\d?\D{{1,2}}\d\d?\D{{1,2}}{_YEAR}|{_MONTH_DAY}{_YEAR}"
)
_AMOUNT = re.compile(r"\d{1,3}(?:([,.' ])\d{3})(?:\1\d{3})+")
_CURRENCY: Final = frozenset("$€£¥₩%°#№￥￦")
#: First digits and lengths of the cards of the great networks.
_CARD = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7]|35|60|62|64|65|81|9\d)\d{14}|3[47]\d{13}|3[0689]\d{12}|(?:5[06-9]|6\d)\d{15,17}"
)
_USUAL_CARD: Final = 16
_SOCIAL: Final = (3, 2, 4)
_LICENCE: Final = (2, 2, 6, 2)
_LABELLED_DIGITS: Final = {"account": range(8, 21), "identity": range(6, 21)}


def hidden(text: str, found: set[int]) -> set[int]:
    """The places to mask in `text`, which is plain, with those `found` already, with numbers that are not searched again."""
    for run in _RUN.finditer(text):
        groups = [group.span() for group in _GROUP.finditer(text, *run.span()) if group.start() not in found]
        if sum(end - start for start, end in groups) >= _FEWEST_DIGITS:
            found |= _in_run(text, groups)
    return found


def _in_run(text: str, groups: list[tuple[int, int]]) -> set[int]:
    results: set[int] = set()
    at = 0
    if all(end - start == 1 for start, end in groups):  # every digit by itself: one number or none
        windows = [len(groups)] if len(groups) <= _MOST_DIGITS else []
    else:
        windows = list(range(_MOST_GROUPS, 0, -1))
    while at < len(groups):
        for size in windows:
            if at + size > len(groups):
                continue
            kept = _kept(text, groups, at, at + size)
            if kept is not None:
                results.update(all_but_last(text, groups[at][0], groups[at + size - 1][1], kept))
                at += size - 1
                break
        at += 1
    return results


def _kept(text: str, groups: list[tuple[int, int]], first: int, last: int) -> int | None:
    """How many digits to leave of the number that `groups[first:last]` are; None when they are not a personal number."""
    digits = sum(end - start for start, end in groups[first:last])
    if not _FEWEST_DIGITS <= digits <= _MOST_DIGITS:
        return None
    number = Number.of(text, groups, first, last)
    if number is None or _is_rest(text, number.start):
        return None
    if _is_resident(number):
        return 0
    return KEPT if _is_private(number) else None


def _is_private(number: Number) -> bool:
    written = number.text[number.start : number.end]
    if number.mixed or _DATE.fullmatch(written) or ({number.before, number.after} & _CURRENCY):
        return False
    if len(number.digits) in _LABELLED_DIGITS.get(number.label or "", ()) and not _AMOUNT.fullmatch(written):
        return True
    return (
        _is_card(number)
        or (number.sizes == _SOCIAL and number.signs == {"-"} and bool(ssn.is_valid(number.digits)))
        or (number.sizes == _LICENCE and number.signs == {"-"} and "11" <= number.digits[:2] <= "28")
        or phones.is_phone(number)
    )


def _is_resident(number: Number) -> bool:
    """A Korean resident number: six digits for the date of birth, one for century and sex, six more."""
    if not _RESIDENT.fullmatch(number.digits):
        return False
    if len(number.sizes) > 1:
        return number.sizes == (6, 7) or set(number.sizes) == {1}
    if number.label == "other":
        return False
    return number.label == "identity" or bool(rrn.is_valid(number.digits)) or not ean.is_valid(number.digits)


def _is_card(number: Number) -> bool:
    digits = number.digits
    return (
        len(number.signs) <= 1
        and number.label != "other"
        and (min(number.sizes) > 1 or (number.spelled and len(digits) == _USUAL_CARD))
        and _CARD.fullmatch(digits) is not None
        and len(set(digits)) > 1
        and bool(luhn.is_valid(digits))
    )


def _is_rest(text: str, start: int) -> bool:
    """Whether the digits at `start` are what a mask has left of a number."""
    before = text[max(0, start - _MOST_WRITTEN) : start]
    masked = _MASKED.search(before)
    return masked is not None and sum(map(str.isdecimal, masked[0])) < KEPT
