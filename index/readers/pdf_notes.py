"""The marks of footnotes in a PDF: a raised number is written as `[1]` where a note with that number is found."""

import re
from collections.abc import Iterable

from index.readers.pdf_blocks import Part

_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_PLAIN = str.maketrans(_DIGITS, "0123456789")
_RAISED_FIRST, _FIRST = re.compile(rf"([{_DIGITS}]+)(?=\s?\S)"), re.compile(r"(\d{1,3})(?=\s)")
#: The end of a sentence bears no exponent; nor does a word of three letters or more, in contrast to m² and x³.
_AFTER_END = re.compile(rf"(?<=[.,;:!?…。，！？；：”»’]) ?[{_DIGITS}]+")
_AFTER_WORD = re.compile(rf"(?<=[^\W\d_]{{3}})[{_DIGITS}]+|(?<=[^\W\d_a-zA-Z])[{_DIGITS}]+|(?<=\))[{_DIGITS}]+")


def mark_notes(parts: Iterable[Part]) -> None:
    """A raised number after a word is a mark only where a note with that number is found."""
    parts = [part for part in parts if part.texts and part.kind != "code"]
    noted: set[str] = set()
    for part in parts:
        first = _RAISED_FIRST.match(part.texts[0]) or (_FIRST.match(part.texts[0]) if part.note else None)
        if first:
            noted.add(_marked(first[0]))
            part.texts[0] = _marked(first[0]) + " " + part.texts[0][first.end() :].lstrip()
    for part in parts:
        part.texts = [_AFTER_END.sub(lambda found: _marked(found[0]), text) for text in part.texts]
        part.texts = [
            _AFTER_WORD.sub(lambda found: _marked(found[0]) if _marked(found[0]) in noted else found[0], text)
            for text in part.texts
        ]


def _marked(number: str) -> str:
    return f"[{number.strip().translate(_PLAIN)}]"
