"""Number the markers of an answer 1, 2, 3 in the order in which they are read.

A model cites the evidence by the evidence's numbers, and the gate checks those. A person sees other numbers: an answer that cites
[4] first shows [1]. A number without evidence is not shown.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import Final

from index.text.citations import Marker, inline_begun, markers, unclosed

#: Text at the end that may still become a marker. No marker is longer.
_OPEN = re.compile(r"[\[［【〔][\s^\d,،、，;；–—~〜～‐‑−-]{0,200}\Z")
_RANGE = re.compile(r"\d\s?([–—~〜～‐‑−-])\s?\d")
_SEPARATOR = re.compile(r"[,،、，;；]\s?")
#: In place of the words at the beginning of a line, after which no fence opens.
_WORD: Final = "w"
_SPACES: Final = " \t\u00a0\u202f"


def renumbered(text: str, number: Callable[[int], int | None], *, end: int | None = None, start: int = 0) -> str:
    """`text[start:end]` with each number of its markers replaced, or left out where there is none; an empty marker goes."""
    parts: list[str] = []
    at = start
    for marker in markers(text):
        if marker.start >= start and (end is None or marker.end <= end):
            written = _rewritten(text[marker.start : marker.end], marker, number)
            before = text[at : marker.start]
            parts += [before if written else before.rstrip(_SPACES), written]
            at = marker.end
    return "".join([*parts, text[at:end]])


def _rewritten(written: str, marker: Marker, number: Callable[[int], int | None]) -> str:
    """The marker in its own notation, with other numbers."""
    now = [new for old in marker.numbers if (new := number(old)) is not None]
    if tuple(now) == marker.numbers:
        return written
    if not now:
        return ""
    now = sorted(set(now))
    first = next(at for at, char in enumerate(written) if char.isdecimal())
    zero = ord(written[first]) - unicodedata.decimal(written[first])
    digits = ["".join(chr(zero + int(digit)) for digit in str(n)) for n in now]
    range_sign, separator = _RANGE.search(written), _SEPARATOR.search(written)
    if range_sign and len(now) > 2 and now == list(range(now[0], now[-1] + 1)):
        inside = digits[0] + range_sign[1] + digits[-1]
    else:
        inside = (separator[0] if separator else ", ").join(digits)
    return written[:first] + inside + written[-1]


class Numbering:
    """Numbers a text that arrives in pieces; the pieces returned, put together, are the whole text numbered.

    `cited`: the evidence's number for each number given so far, which is its place in this list.
    """

    def __init__(self, evidence: Collection[int], cited: Sequence[int] = (), *, active: bool = True) -> None:
        """`cited`: the numbers of an earlier part of the same text. Without `active` the text stays as it is."""
        self.cited = list(cited)
        self._evidence = evidence
        self._active = active
        self._line = ""  # the current line from its beginning, which decides what belongs to code
        self._done = 0  # the part of it that was returned

    def feed(self, text: str) -> str:
        """The text that can be shown now; may be empty."""
        if not self._active:
            return text
        self._line += text
        return self._take(self._settled())

    def finish(self) -> str:
        return self._take(len(self._line))

    def _settled(self) -> int:
        marker = _OPEN.search(self._line, self._done)
        end = marker.start() if marker else len(self._line)
        return max(self._done, min(end, unclosed(self._line), inline_begun(self._line)))

    def _take(self, end: int) -> str:
        text = renumbered(self._line, self._number, start=self._done, end=end)
        self._done = end
        if line := self._line.rfind("\n", 0, end) + 1:
            self._line, self._done = self._line[line:], end - line
        before = self._line[: self._done]
        if "`" not in before and before.strip():
            self._line, self._done = _WORD + self._line[self._done :], len(_WORD)  # the rest of it does not matter
        return text

    def _number(self, n: int) -> int | None:
        if n not in self._evidence:
            return None
        if n not in self.cited:
            self.cited.append(n)
        return self.cited.index(n) + 1


def numbered(text: str, evidence: Collection[int], *, active: bool = True) -> tuple[str, tuple[int, ...]]:
    """A whole text numbered, and the evidence's number for each number in it."""
    numbering = Numbering(evidence, active=active)
    return numbering.feed(text) + (numbering.finish() if active else ""), tuple(numbering.cited)


def as_evidence(text: str, cited: Sequence[int]) -> str:
    """A numbered text in the numbers of the evidence again; numbers that were never given stay."""
    return renumbered(text, lambda n: cited[n - 1] if 0 < n <= len(cited) else n)
