"""Citation markers in every notation: [1], [1, 2], [1-3], [1][3], full-width brackets, Arabic-Indic digits."""

import re
from functools import lru_cache
from typing import Final

import msgspec

from index.languages.folding import INVISIBLE
from index.text.fences import without_code

_DIGITS: Final = r"\d{1,3}"
_JOIN: Final = r"\s?[,،、，;；–—~〜～‐‑−-]\s?"
_MARKER = re.compile(rf"[\[［【〔]\s?\^?({_DIGITS}(?:{_JOIN}{_DIGITS})*)\s?[\]］】〕]")
_HIDDEN = re.compile(f"[{INVISIBLE}]")
_RANGE_SIGNS: Final = "–—~〜～‐‑−-"
# A range wider than this is not a citation; expanding it would only cost memory.
_WIDEST_RANGE: Final = 50


class Marker(msgspec.Struct, frozen=True):
    """One bracket: its position in the text, and the numbers it names in their own order, without repeats."""

    start: int
    end: int
    numbers: tuple[int, ...]


@lru_cache(maxsize=1024)
def markers(text: str) -> tuple[Marker, ...]:
    """The citation markers of `text`, in order; `a[1]` in code is none. Invisible characters do not hide one."""
    text = without_code(text)
    if text.isascii() or not _HIDDEN.search(text):
        return tuple(Marker(match.start(), match.end(), _numbers(match[1])) for match in _MARKER.finditer(text))
    kept = [at for at, char in enumerate(text) if not _HIDDEN.match(char)]
    plain = "".join(text[at] for at in kept)
    return tuple(
        Marker(kept[match.start()], kept[match.end() - 1] + 1, _numbers(match[1])) for match in _MARKER.finditer(plain)
    )


def strip_markers(text: str) -> str:
    """`text` without its citation markers and the space before each."""
    parts: list[str] = []
    at = 0
    for marker in markers(text):
        parts.append(text[at : marker.start].rstrip(" \t\u00a0\u202f"))
        at = marker.end
    return "".join([*parts, text[at:]])


def _numbers(inside: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for part in re.split(r"[,،、，;；]", inside):
        bounds = [
            int("".join(filter(str.isdecimal, fragment))) for fragment in re.split(f"[{re.escape(_RANGE_SIGNS)}]", part)
        ]
        low, high = bounds[0], bounds[-1]
        if not low <= high <= low + _WIDEST_RANGE:
            numbers.extend(bounds)
        else:
            numbers.extend(range(low, high + 1))
    return tuple(dict.fromkeys(numbers))
