"""Show an answer piece by piece while hiding what must not be shown.

A link may arrive in several pieces: text that could still become one is held back until it no longer can, or until it has been
made harmless. Code in a fence waits for its last line.
"""

import re
from collections.abc import Callable

from index.text.citations import masked, unclosed

#: Text at the end that the next piece could turn into something else, one alternative per line.
_OPEN = re.compile(
    r"""
    ^[ \t]*\[[^\]\d][^\]\n]*\]:[^\n]*\s*\Z                                      # a reference definition: to the line's end
    | !?\[(?:[^\[\]]|\[[^\[\]]*\])*(?:\]\s*(?:\((?:[^()]|\([^()]*\))*(?:\([^()]*)?\)?)?)?\S*\s*\Z  # a link or an image
    | <(?:[a-zA-Z/!?][^<>]*>?\S*\s*)?\Z                                        # a tag
    | &\#?\w{0,10}\Z                                                           # an entity
    | !\Z
    | \S*\s*\Z                                                                 # the word that is being written
    """,
    re.VERBOSE | re.MULTILINE,
)
_WHOLE = re.compile(
    r"^[ \t]*\[[^\]\d][^\]\n]*\]:[^\n]*|!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*\((?:[^()]|\([^()]*\))*\)\S*|<[^<>]*>\S*|\S+",
    re.MULTILINE,
)


class SafeStream:
    """`clean` makes a text safe to show; the pieces returned, put together, are a clean text."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._raw = ""
        self._shown = ""

    def feed(self, text: str) -> str:
        """The text that can be shown now; may be empty."""
        self._raw += text
        return self._take(self._settled())

    def finish(self) -> str:
        return self._take(len(self._raw))

    def _settled(self) -> int:
        raw = masked(self._raw, "x")
        match = _OPEN.search(raw)
        end = min(match.start() if match else len(self._raw), unclosed(self._raw))
        # Something complete must not be cut in two by something unfinished after it.
        return min([end, *(one.start() for one in _WHOLE.finditer(raw) if one.start() < end < one.end())])

    def _take(self, end: int) -> str:
        clean = self._clean(self._raw[:end])
        if not clean.startswith(self._shown):
            return ""  # text already shown turned out to be part of something to hide: show no more of it
        new = clean[len(self._shown) :]
        self._shown = clean
        # Backticks open a fence only at the beginning of a line, so they are read together with the text before them.
        same = clean == self._raw[:end] and not self._raw[end:].lstrip(" \t").startswith("`")
        if end and (self._raw[end - 1] == "\n" or same):
            self._raw, self._shown = self._raw[end:], ""  # nothing that follows can change it
        return new
