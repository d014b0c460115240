"""Citation markers in every notation, and the code in which there are none.

Markers are [1], [1, 2], [1-3], [1][3], full-width brackets, Arabic-Indic digits. Code is in Markdown fences: lines between two
lines of backticks, the second at least as long as the first.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from index.languages.characters import visible

TICKS: Final = "```"
_OPENING = re.compile(r"^ {0,3}(`{3,})[ \t]*[^\s`]*[ \t]*\n", re.MULTILINE)
_BEGUN = re.compile(r"^ {0,3}(?:(`{3,})[ \t]*[^\s`]*[ \t]*(?:\n|\Z)|`{1,2}\Z)", re.MULTILINE)
#: Code between backticks within a line.
INLINE_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]+(?<!`)\1(?!`)")


class Fence(NamedTuple):
    """`text[start:end]` with its two lines of backticks; the code is `text[code:code_end]`."""

    start: int
    end: int
    code: int
    code_end: int


def fences(text: str) -> list[Fence]:
    """The closed fences of `text`, in order."""
    results: list[Fence] = []
    at = 0
    while TICKS in text and (opening := _OPENING.search(text, at)):
        closing = closing_of(text, opening.end() - 1, len(opening[1]))
        if closing is None:
            break
        results.append(Fence(opening.start(), closing.end(), opening.end(), max(opening.end(), closing.start())))
        at = closing.end()
    return results


def unclosed(text: str) -> int:
    """Where a fence begins that is not closed yet, or could still begin at the end; the text's length when there is none."""
    at = 0
    while "`" in text and (opening := _BEGUN.search(text, at)):
        closing = (
            closing_of(text, opening.end() - 1, len(opening[1]))
            if opening[1] and text[opening.end() - 1] == "\n"
            else None
        )
        if closing is None or closing.end() == len(text):
            return opening.start()
        at = closing.end()
    return len(text)


def inline_begun(text: str) -> int:
    """Where code between backticks begins that its line has not closed yet; the text's length when there is none."""
    last = text.rfind("\n") + 1
    if "`" not in text[last:]:
        return len(text)
    closed = text[last:].rstrip("`")  # ticks at the end may become more, which close something else
    ticks = INLINE_CODE.sub(lambda code: " " * len(code[0]), closed).find("`")
    ended = len(text) if closed == text[last:] else last + len(closed)
    return last + ticks if ticks >= 0 else ended


def closing_of(text: str, after: int, ticks: int) -> re.Match[str] | None:
    """The line that closes a fence of that many backticks, from its line break to its end."""
    return re.compile(rf"\n {{0,3}}`{{{ticks},}}[ \t]*(?=\n|\Z)").search(text, after)


def masked(text: str, filler: str) -> str:
    """`text` with `filler`, one character, in place of every character of a closed fence."""
    for fence in fences(text):
        text = text[: fence.start] + filler * (fence.end - fence.start) + text[fence.end :]
    return text


def without_code(text: str) -> str:
    """`text` with spaces in place of code in fences and between backticks, so that offsets stay."""
    return INLINE_CODE.sub(lambda code: " " * len(code[0]), masked(text, " ")) if "`" in text else text


_DIGITS: Final = r"\d{1,3}"
_JOIN: Final = r"\s?[,،、，;；–—~〜～‐‑−-]\s?"
_MARKER = re.compile(rf"[\[［【〔]\s?\^?({_DIGITS}(?:{_JOIN}{_DIGITS})*)\s?[\]］】〕]")
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
    if text.isascii() or visible(text) == text:
        return tuple(Marker(match.start(), match.end(), _numbers(match[1])) for match in _MARKER.finditer(text))
    kept = [at for at, char in enumerate(text) if visible(char)]
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
