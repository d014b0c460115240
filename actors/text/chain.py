"""Filters that a text passes one after another, delta by delta."""

from collections.abc import Callable
from typing import Protocol

from index.text.citations import markers


class TextFilter(Protocol):
    """Takes a text in deltas and returns the filtered text in deltas, wherever the text was cut."""

    def feed(self, text: str, /) -> str:
        """The part of the filtered text that is certain by now; may be empty."""

    def finish(self) -> str:
        """The rest."""


class Chain:
    """Filters in order, used as one."""

    def __init__(self, *filters: TextFilter) -> None:
        self._filters = filters

    def feed(self, text: str) -> str:
        for each in self._filters:
            text = each.feed(text)
        return text

    def finish(self) -> str:
        rest = ""
        for each in self._filters:
            rest = (each.feed(rest) if rest else "") + each.finish()
        return rest


class Each:
    """Applies a function to every delta by itself."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self.feed = change

    def finish(self) -> str:
        return ""


class CitationHold:
    """Keeps sentences back until one cites a source. A text without a citation never leaves."""

    def __init__(self, *, active: bool) -> None:
        self.active = active
        self._text = ""

    def feed(self, sentence: str) -> str:
        self._text += sentence
        if self.active and not markers(sentence):
            return ""
        self.active = False
        released, self._text = self._text, ""
        return released

    def finish(self) -> str:
        return ""
