"""Phone numbers: what the numbering plans of the languages' regions know, or the digits that are written and labelled as one."""

from functools import cache
from typing import Final

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber, PhoneNumberType

from index.languages import every
from index.languages.tables.kinds import words_in
from index.masking.digits import Number

_POSSIBLE: Final = range(7, 16)
#: Forms of a number that begins with no zero: 212-555-1234, 138-1234-5678, 612 34 56 78.
_WITHOUT_ZERO: Final = frozenset({(3, 3, 4), (1, 3, 3, 4), (3, 4, 4), (3, 2, 2, 2)})
#: Special numbers of two groups, 1588-1234; two years look the same.
_PAIR: Final = (4, 4)
_MOBILE: Final = frozenset({PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE, PhoneNumberType.VOIP})
_SPECIAL: Final = frozenset(
    {PhoneNumberType.UAN, PhoneNumberType.SHARED_COST, PhoneNumberType.TOLL_FREE, PhoneNumberType.PREMIUM_RATE}
)
_LAST_YEAR: Final = 2100
_LONGEST_GROUP: Final = 5
_LONGEST_LABELLED: Final = 8
_SHORTEST_GROUP: Final = 2
_LONG_MOBILE: Final = 11
#: Ranges and products have these signs too.
_SIGNS_OF_OTHERS: Final = frozenset("~*")


@cache
def regions() -> tuple[str, ...]:
    return tuple(sorted(frozenset(every(lambda tables: words_in(tables.privacy.regions)))))


def is_phone(number: Number) -> bool:
    if len(number.digits) not in _POSSIBLE or number.mixed or _is_book(number):
        return False
    if number.plus:
        return (parsed := _parsed(f"+{number.digits}", None)) is not None and phonenumbers.is_possible_number(parsed)
    if number.label == "phone" and (number.bare or max(number.sizes) <= _LONGEST_LABELLED):
        return True
    if number.digits.startswith("00"):
        return _is_abroad(number)
    if number.bare or number.spelled:
        # Digits alone are a phone's where they begin with the zero of a plan, or are as long as only one plan's are.
        long = len(number.digits) == _LONG_MOBILE and number.digits.startswith("1")
        return number.label != "other" and (number.digits.startswith("0") or long) and _known(number.digits, _MOBILE)
    begins = number.digits.startswith("0") or not number.signs & _SIGNS_OF_OTHERS
    return begins and not number.crowded and not _has_odd_groups(number) and _is_national(number)


def _is_abroad(number: Number) -> bool:
    """0082-10-1234-5678; such digits alone may be an article's number."""
    parsed = _parsed(f"+{number.digits[2:]}", None)
    return not number.bare and parsed is not None and phonenumbers.is_valid_number(parsed)


def _has_odd_groups(number: Number) -> bool:
    """Single digits, but for a first one (1-800-…, 0 800 …): what lists and decimal numbers look like."""
    first, *rest = number.sizes
    return min(rest) < _SHORTEST_GROUP or (first < _SHORTEST_GROUP and bool(number.signs - {" ", "-"}))


def _is_national(number: Number) -> bool:
    if number.digits.startswith("0"):
        return _begins_with_zero(number)
    if number.sizes == _PAIR:
        return number.digits[0] == "1" and not _are_years(number) and _known(number.digits, _SPECIAL)
    return number.sizes in _WITHOUT_ZERO and _known(number.digits)


def _is_book(number: Number) -> bool:
    """ISBN 0-306-40615-2 and ISSN 0028-0836."""
    parts = len(number.sizes)
    return (parts == 4 and number.sizes[-1] == 1) or (number.sizes == _PAIR and number.label == "other")


def _begins_with_zero(number: Number) -> bool:
    """A national number: known to a plan, or written with a hyphen as such numbers are anywhere."""
    first, *rest = number.sizes
    written = number.signs == {"-"} and _SHORTEST_GROUP <= first <= _LONGEST_GROUP and len(rest) == 2 and min(rest) >= 3
    return written or _known(number.digits)


def _are_years(number: Number) -> bool:
    first, second = int(number.digits[:4]), int(number.digits[4:])
    return first <= second <= _LAST_YEAR


def _known(digits: str, kinds: frozenset[int] | None = None) -> bool:
    """Whether a region's numbering plan has this number, as one of these kinds."""
    for region in regions():
        number = _parsed(digits, region)
        if number is None or not phonenumbers.is_valid_number_for_region(number, region):
            continue
        if kinds is None or phonenumbers.number_type(number) in kinds:
            return True
    return False


def _parsed(digits: str, region: str | None) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(digits, region)
    except NumberParseException:
        return None
