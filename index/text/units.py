"""Cut a text along its blocks into units that a person can read: a sentence, a list item, a row, code with its sentence.

A unit never runs over a block's edge, save that code takes in the sentence directly above that introduces it. Without blocks
every sentence is a unit, and the marks of Markdown and the look of a line tell what kind it is.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from index.languages import every, union
from index.text.citations import TICKS
from index.text.sentences import split

#: A longer item or definition is several units: its sentences.
LONGEST = 600
_SILENT = frozenset(("heading", "table_header", "link"))
#: The beginning of an item, of which a block that is a whole list has several; and the text before its first word.
_MARKED = re.compile(r"^[ \t]*(?:[-*+•–]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_MARKER = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)])?\s*")

#: What begins a line of Markdown, by kind; a table's header has a line of dashes below.
_BEGINS: Final = (
    ("heading", re.compile(r"#{1,6}\s")),
    ("table_row", re.compile(r"\|")),
    ("code", re.compile(TICKS)),
    ("list_item", re.compile(r"(?:[-*+•–]|\d{1,3}[.)])\s")),
)
_DASHES: Final = re.compile(r"[ \t]*\n[ \t]*\|?[ \t]*:?-{2,}")
#: What stands around a line that has a text below.
_LINE_BEGINS: Final = re.compile(r"(?<![^\n])[ \t]*\Z")
_LINE_ENDS: Final = re.compile(r"[ \t]*\n\s*\S")
_LAST_LETTERS = "".join(every(lambda language: language.noise.last_letters))
# Short, without a full stop, and not a row of a table or a list of facts.
_HEADING = re.compile(rf"^(?=.{{1,40}}$)[^|:：=\d]*[^|:：=\d.!?。！？؟…{_LAST_LETTERS}」”\"')]$")
_ARTICLE = re.compile(
    rf"^(?:\d+[.:]|{union(lambda language: language.noise.article_headings).pattern})[^.。]{{0,30}}[^.!?。！？؟…|]$"
)
_ASKS = re.compile(r"[?？؟]\s*$")


class BlockLike(Protocol):
    """A block of the index or of the bus."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def intro(self) -> tuple[int, int] | None: ...
    @property
    def syntax(self) -> str: ...


class Unit(NamedTuple):
    """`text[start:end]`. `kind` is its block's. A heading and a table's header are units that answer nothing.

    `intro`: the stretch that introduces it and is not in it; offsets of the text, below 0 when it precedes the text.
    `code`: where the code begins in a unit of code, after the sentence that introduces it.
    """

    start: int
    end: int
    kind: str = "prose"
    intro: tuple[int, int] | None = None
    code: int = 0
    syntax: str = ""

    @property
    def answers(self) -> bool:
        return self.kind not in _SILENT


def units(text: str, blocks: Sequence[BlockLike] = (), offset: int = 0) -> list[Unit]:
    """The units of `text` in order, without overlap. `offset`: where the text begins in the document that blocks count in."""
    return [*_units(text, tuple(blocks), offset)]


@lru_cache(maxsize=1024)
def _units(text: str, blocks: tuple[BlockLike, ...], offset: int) -> list[Unit]:
    if not blocks:
        return [Unit(start, end, _kind(text, start, end)) for start, end in split(text)]
    results: list[Unit] = []
    for block in blocks:
        start, end = max(0, block.start - offset), min(len(text), block.end - offset)
        if start < end:
            start, end = _trimmed(text, start, end, block.kind)
        if start >= end or (block.kind != "code" and not any(map(str.isalnum, text[start:end]))):
            continue
        intro = (block.intro[0] - offset, block.intro[1] - offset) if block.intro else None
        if block.kind == "code":
            results.append(_code(text, results, Unit(start, end, "code", intro, start, block.syntax)))
        else:
            results += [
                Unit(start + first, start + last, block.kind, intro)
                for first, last in _cut(text[start:end], block.kind)
            ]
    return results


def _kind(text: str, start: int, end: int) -> str:
    kind = next((kind for kind, begins in _BEGINS if begins.match(text, start)), "prose")
    if kind == "table_row" and _DASHES.match(text, end):
        return "table_header"
    is_line = _LINE_BEGINS.search(text, max(0, start - 3), start) and _LINE_ENDS.match(text, end)
    return "heading" if kind == "prose" and is_line and says_nothing(text[start:end]) else kind


#: What ends a sentence.
STOPS = (".", "!", "?", "。", "！", "？", "؟", "…")


def says_nothing(sentence: str) -> bool:
    """Whether the sentence is a heading or a question."""
    plain = sentence.strip("#*>-• \t\n")
    return bool(_HEADING.search(plain) or _ARTICLE.search(plain) or _ASKS.search(plain))


def introduced(found: Sequence[Unit], at: int) -> list[Unit]:
    """The units directly below that this one introduces; empty for most."""
    one = found[at]
    below: list[Unit] = []
    for unit in found[at + 1 :]:
        if unit.intro is None or not one.start < unit.intro[1] <= one.end:
            if unit.kind == "list_item" and below:  # an item of an item
                below.append(unit)
                continue
            break
        below.append(unit)
    return below


def _cut(text: str, kind: str) -> list[tuple[int, int]]:
    """The units of one block's text."""
    whole = [(0, len(text))]
    if kind in ("table_row", "table_header", "heading"):
        return whole
    if kind in ("list_item", "definition") and len(text) <= LONGEST and len(_MARKED.findall(text)) < 2:
        return whole
    sentences = split(text) or whole
    if kind == "definition" and len(sentences) > 1:  # the term means nothing without its definition
        return [(sentences[0][0], sentences[1][1]), *sentences[2:]]
    return sentences


def _code(text: str, found: list[Unit], unit: Unit) -> Unit:
    """The code with the sentence that introduces it, if that is directly above; it is then no unit of its own."""
    if unit.intro is None or not found:
        return unit
    start, end = unit.intro
    above = found[-1]
    if not (above.answers and above.kind != "code" and above.start < end <= above.end):
        return unit
    if text[end : unit.start].strip() or not text[start:end].strip():
        return unit
    while above.start > start and len(found) > 1 and found[-2].kind == above.kind and found[-2].end > start:
        found.pop()  # the introduction has more than one sentence
        above = found[-1]
    found.pop()
    start = max(start, above.start)
    before = text[above.start : start]
    if not _MARKER.fullmatch(before):
        found.append(above._replace(end=above.start + len(before.rstrip())))
    else:
        start = above.start
    return unit._replace(start=start, intro=above.intro)


def _trimmed(text: str, start: int, end: int, kind: str) -> tuple[int, int]:
    """The stretch without white space at its ends; code keeps the indentation of its first line."""
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip("\n" if kind == "code" else None)), start + len(stretch.rstrip())
