"""Numbers with letters in them, or with check digits: bank accounts (IBAN), passports and national identity numbers.

A passport is only known by its label; so is an identity number with wrong check digits.
"""

import re
from typing import Final, Protocol

from stdnum import iban
from stdnum.cn import ric
from stdnum.es import dni, nie
from stdnum.exceptions import ValidationError
from stdnum.fr import nir

from index.masking.digits import all_but_last, label_of

_SHORTEST_IBAN: Final = 15
_EDGE: Final = r"(?<![A-Za-z0-9])(?<!\d[.,])"
#: As _EDGE, after the first character: a search by its first character is several times faster.
_BEGIN: Final = r"(?<![A-Za-z0-9].)(?<!\d[.,].)"
_IBAN = re.compile(rf"[A-Z]{_BEGIN}[A-Z]\d{{2}}(?:[ -]?[A-Z0-9]){{11,30}}+")
#: In small letters only glued, or with digits alone: words may follow. Its length is then checked too.
_SMALL_IBAN = re.compile(rf"[a-z]{_BEGIN}[a-z]\d{{2}}(?:[a-z0-9]{{11,30}}+|(?: ?\d){{11,30}}+)(?![A-Za-z0-9])")
_DNI = re.compile(rf"\d{_BEGIN}(?:\d{{7}}|\d?\.\d{{3}}\.\d{{3}})(?:[ -]?[A-Z]|[a-z])(?![A-Za-z0-9])")
_NIE = re.compile(rf"[XYZxyz]{_BEGIN}(?:(?<=[XYZ])[ -])?\d{{7}}(?:[ -]?[A-Z]|[a-z])(?![A-Za-z0-9])")
_NIR = re.compile(rf"[12]{_BEGIN} ?\d\d ?\d\d ?(?:\d\d|2[ABab]) ?\d{{3}} ?\d{{3}} ?\d\d(?!\d)")
_RIC = re.compile(rf"\d{_BEGIN}\d{{5}} ?(?:19|20)\d\d ?\d{{4}} ?\d{{3}}[\dXx](?![A-Za-z0-9])")
#: As the states number their passports: letters before, in or without the digits.
_PASSPORT = re.compile(
    rf"{_EDGE}(?:(?:[A-Z]{{1,3}}[ -]?|[A-Za-z]{{1,3}})\d{{6,9}}|[A-Za-z]\d{{3}}[A-Za-z]\d{{4}}|\d\d[A-Za-z]{{2}}\d{{5}}|\d{{8,9}})"
    rf"(?![A-Za-z0-9])"
)
#: What a label of identity may precede, besides digits alone: a CURP, a licence, a national insurance number.
_LABELLED = re.compile(
    rf"{_EDGE}(?:[A-Z]{{2}} ?\d\d ?\d\d ?\d\d ?[A-D]|(?=[A-Za-z]{{0,4}}\d)(?=\d*[A-Za-z])[A-Za-z0-9]{{6,20}})(?![A-Za-z0-9])"
)


class Checked(Protocol):
    """A module of python-stdnum."""

    def validate(self, number: str, /) -> str: ...


def hidden(text: str) -> set[int]:
    """The places to mask in `text`, which is plain: all but the last four letters and digits of each number."""
    results: set[int] = set()
    for match in _IBAN.finditer(text):
        if end := _iban_end(text, match.start(), match.end()):
            results.update(all_but_last(text, match.start(), end))
    for match in _SMALL_IBAN.finditer(text):
        if iban.is_valid(match[0]):
            results.update(all_but_last(text, *match.span()))
    for pattern, module in ((_DNI, dni), (_NIE, nie), (_NIR, nir), (_RIC, ric)):
        for match in pattern.finditer(text):
            if _is_valid(module, match[0]) or label_of(text, match.start()) == "identity":
                results.update(all_but_last(text, *match.span()))
    for pattern, label in ((_PASSPORT, "passport"), (_LABELLED, "identity")):
        for match in pattern.finditer(text):
            if label_of(text, match.start()) == label:
                results.update(all_but_last(text, *match.span()))
    return results


def _is_valid(module: Checked, text: str) -> bool:
    try:
        module.validate(text)
    except ValidationError:
        return False
    return True


def _iban_end(text: str, start: int, end: int) -> int:
    """Where the account number ends that begins at `start`; 0 where none is valid. Words in capitals may follow it."""
    positions = [at for at in range(start, end) if text[at].isalnum()]
    number = "".join(text[at] for at in positions)
    for length in range(len(number), _SHORTEST_IBAN - 1, -1):
        if iban.is_valid(number[:length], check_country=False):
            return positions[length - 1] + 1
    return 0
