"""Find code in Markdown fences: lines between two lines of backticks, the second at least as long as the first."""

import re
from typing import Final, NamedTuple

TICKS: Final = "```"
_OPENING = re.compile(r"^ {0,3}(`{3,})[ \t]*[^\s`]*[ \t]*\n", re.MULTILINE)
_BEGUN = re.compile(r"^ {0,3}(?:(`{3,})[ \t]*[^\s`]*[ \t]*(?:\n|\Z)|`{1,2}\Z)", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]+(?<!`)\1(?!`)")


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
    ticks = _INLINE.sub(lambda code: " " * len(code[0]), closed).find("`")
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
    return _INLINE.sub(lambda code: " " * len(code[0]), masked(text, " ")) if "`" in text else text
