"""Mask personal data in what is shown: e-mail, phone, Korean resident number, payment cards.

A mask keeps the shape of what it hides (`***-****-5678`), so that people recognise their own data. Citation markers, years,
amounts and plain dates are left alone.
"""

import re
import unicodedata
from typing import Final

from index.languages.folding import INVISIBLE

_HIDDEN: Final = f"[{INVISIBLE}]*"
_SEPARATOR: Final = r"[ \u00a0\u202f.‐‑‒–—−-]"
_EMAIL = re.compile(
    rf"(?<![\w.+-])([\w.+%-]{{1,64}})(\s?{_HIDDEN}[@＠]{_HIDDEN}\s?)((?:[\w-]{{1,63}}\.)+[^\W\d_]{{2,24}})(?![\w-])"
)
# Six digits for the date of birth, then a seventh for century and sex.
_RESIDENT = re.compile(rf"(?<!\d)(\d{{2}}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))({_SEPARATOR}?)([0-9]\d{{6}})(?!\d)")
_CARD = re.compile(rf"(?<![\d.,])\d(?:{_SEPARATOR}?\d){{12,18}}(?![\d])")
_PHONE = re.compile(
    rf"(?<![\da-zA-Z.,/\[-])(?:\+\s?\d{{1,3}}{_SEPARATOR}?)?(?:\(\d{{1,4}}\){_SEPARATOR}?)?"
    rf"(?:\d{{1,5}}(?:{_SEPARATOR}\d{{2,4}}){{1,5}}|\d{{8,12}})(?![\da-zA-Z]|[.,]\d)"
)
_KEPT_DIGITS: Final = 4
_PHONE_DIGITS: Final = range(8, 16)


def mask(text: str) -> str:
    """`text` with its personal data masked; masking twice changes nothing."""
    text = _EMAIL.sub(lambda found: f"{found[1][0]}***{found[2].strip()}***.{found[3].rsplit('.', 1)[1]}", text)
    text = _RESIDENT.sub(lambda found: f"{'*' * 6}{found[2]}{'*' * 7}", text)
    text = _CARD.sub(lambda found: _stars(found[0]) if _is_card(found[0]) else found[0], text)
    return _PHONE.sub(lambda found: _stars(found[0]) if _is_phone(found[0]) else found[0], text)


def _stars(found: str) -> str:
    """Replace every digit but the last four with a star."""
    left = sum(map(str.isdecimal, found)) - _KEPT_DIGITS
    hidden: list[str] = []
    for char in found:
        if char.isdecimal() and left > 0:
            left -= 1
            hidden.append("*")
        else:
            hidden.append(char)
    return "".join(hidden)


def _digits(found: str) -> str:
    return "".join(str(unicodedata.decimal(char)) for char in found if char.isdecimal())


def _is_card(found: str) -> bool:
    """Luhn's check, for 13 to 19 digits that are not all the same."""
    digits = _digits(found)
    if len(set(digits)) == 1:
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _is_phone(found: str) -> bool:
    """A long number that begins like a phone number (+, an area code in brackets, or 0) or is written like 1588-1234."""
    digits = _digits(found)
    if len(digits) not in _PHONE_DIGITS:
        return False
    if found.lstrip().startswith(("+", "(")) or digits.startswith("0"):
        return True
    groups = re.split(_SEPARATOR, found)
    # 123-456-7890 and 1588-1234, but not 2019-2020 or 1 234 567.
    return ("-" in found and [len(group) for group in groups] in ([3, 3, 4], [3, 4, 4])) or bool(
        re.fullmatch(r"(?:15|16|18)\d\d-\d{4}", found)
    )
