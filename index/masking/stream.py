"""Mask a text that arrives in pieces: what could still become personal data waits until it no longer can."""

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from index.languages import every
from index.languages.tables.numbers import phrases_in
from index.masking.digits import REACH
from index.masking.text import mask

#: What parts two words so that no address or number goes across.
_PARTING: Final = "\n。！？；：，、"
_GAP = re.compile(rf"[\s{_PARTING}]+")
_WORD_CLOSED = re.compile(r"[.!?:;,\"'”’»)…]\Z")
_MARKER_CLOSED = re.compile(r"\d[\]］】〕][.!?:;,)]*\Z")
_CAPITALS_ONLY = re.compile(r"[A-ZＡ-Ｚ]{1,4}\Z")
_WORDLESS = re.compile(r"[^\w]+\Z")
#: What waits and is longer than this is looked at again only when it has grown by a share of itself: a look reads all of it.
_LONG: Final = 256
_GROWN: Final = 1.125


class MaskStream:
    """The pieces returned, put together, are the masked text, wherever it was cut."""

    def __init__(self, known: Collection[str] = (), *, active: bool = True) -> None:
        """A stream that is not active shows every piece as it is."""
        self._known = known
        self.before = ""  # what was shown before the first piece
        self._active = active
        self._waiting = ""
        self._look_at = 0.0  # the length from which it is looked at again

    def feed(self, piece: str) -> str:
        """What can be shown now; may be empty."""
        if not self._active:
            return piece
        self._waiting += piece
        if len(self._waiting) < self._look_at:
            return ""
        safe = self._take(certain(self._waiting))
        self._look_at = _GROWN * len(self._waiting) if len(self._waiting) > _LONG else 0.0
        return safe

    def finish(self) -> str:
        return self._take(len(self._waiting))

    def _take(self, end: int) -> str:
        now, self._waiting = self._waiting[:end], self._waiting[end:]
        safe = mask(now, self.before, self._known)
        self.before = (self.before + now)[-2 * REACH :]
        return safe


def certain(text: str) -> int:
    """The part of `text` that stays as masked for any continuation."""
    gaps = [match.span() for match in _GAP.finditer(text)]
    start = gaps[-1][1] if gaps else 0  # of the last word, which is being written
    right, complete = text[start:], False
    for at in range(len(gaps) - 1, -1, -1):
        left = text[gaps[at - 1][1] if at else 0 : gaps[at][0]]
        if not _joins(left, text[slice(*gaps[at])], right, complete=complete):
            return start if start == len(text) else len(text[:start].rstrip())
        start, right, complete = (gaps[at - 1][1] if at else 0), left, True
    return 0


def _joins(left: str, gap: str, right: str, *, complete: bool) -> bool:
    """Whether an address or a number may go from the word `left` on to `right`, which may still grow unless `complete`."""
    if not left or any(char in _PARTING for char in gap) or _MARKER_CLOSED.search(left):
        return False
    if _is_sign(left, complete=True) or left.endswith(("@", "＠", "%40")):
        return True
    if _is_sign(right, complete=complete):
        return not _WORD_CLOSED.search(left) or left.endswith((")", "]"))
    if any(map(str.isdecimal, left)) or _WORDLESS.match(left) or _CAPITALS_ONLY.match(left):
        return not complete or _goes_on(right)
    return False


def _goes_on(word: str) -> bool:
    """Whether a word may be a further part of a number or of an address."""
    return any(map(str.isdecimal, word)) or bool(_WORDLESS.match(word) or _CAPITALS_ONLY.match(word))


def _is_sign(word: str, *, complete: bool) -> bool:
    """Whether a word may be the at sign or the dot of an address that is spelled out."""
    if not word or word[0] in "@＠﹫%[({<.（［":
        return True
    return word.lower() in _signs() if complete else any(sign.startswith(word.lower()) for sign in _signs())


@cache
def _signs() -> frozenset[str]:
    return frozenset(every(lambda tables: phrases_in(f"{tables.privacy.at} {tables.privacy.dot}")))
