"""Blocks out of the lines of a PDF page: paragraphs, headings, list items, code, tables."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from index.languages import union
from index.languages.characters import HAN_MORE, HANGUL, WIDE
from index.model import BlockKind
from index.readers.pdf_grids import with_grids, with_tables
from index.readers.pdf_lines import Line, regions
from index.readers.pdf_page import Page, Run, Table
from index.readers.text import LABEL

_ARTICLE = union(lambda language: language.headings.numbered_line).pattern
_BULLET = re.compile(r"[-–—*•·▪●○□■◆◇※‣⁃∙◦➢➤►✓✔❖\uf000-\uf0ff]\s+|[•▪●○■◆‣⁃◦➢➤►❖\uf000-\uf0ff]|o\s+(?=[A-Z])")
_NUMBER = re.compile(r"(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|(?:\d{1,2}\.){2,4}|[①-⑳])(?=\s|[①-⑳])\s*")
_ARTICLE_LINE = re.compile(rf"{_ARTICLE}")
_ENDS = re.compile(r"[.!?…。！？؟:：;；|]['\"”’»›)\]）」』]*[\d⁰¹²³⁴⁵⁶⁷⁸⁹]*$")
_NOTE = re.compile(r"(?:[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d{1,3}\b(?![.)])|[*†‡§]+)\s?\S")
#: The dots that lead to a page number in a table of contents.
_LEADERS = re.compile(r"\s*(?:\.\s?){5,}(?=[\divxlc]{1,6}$)|\s*…{2,}(?=\s?\d{1,4}$)")
_UNCASED = re.compile(f"[{WIDE}{HANGUL}{HAN_MORE}]")
_WIDE = re.compile(f"[{WIDE}]")
LONGEST_HEADING = 160


class Body(NamedTuple):
    """How the document's prose is set."""

    size: float
    bold: bool


@dataclass
class Part:
    """A block before the whole document is known. `texts`: its lines. `open`: its last line is full and ends no sentence."""

    kind: BlockKind
    texts: list[str]
    size: float
    bold: bool
    level: int = 0
    table: Table | None = None
    open: bool = False
    note: bool = False
    #: Whether it is the first of its column.
    top: bool = False
    #: Page numbers, each with the place in `texts` where the page begins.
    pages: list[tuple[int, int]] = field(default_factory=list)

    @property
    def style(self) -> tuple[float, bool]:
        return round(self.size * 2) / 2, self.bold


def parts_of(page: Page, runs: Sequence[Run], body: Body) -> list[Part]:
    """The blocks of a page in reading order, its footnotes at the end."""
    parts: list[Part] = []
    for lines in regions(with_grids(runs, page.rules)):
        first = len(parts)
        for fragment in with_tables(lines, page.rules):
            if isinstance(fragment, Table):
                if fragment.title:
                    parts.append(Part("prose", [fragment.title], body.size, False))
                parts.append(Part("table_row", [], body.size, False, table=fragment))
                continue
            for chunk in _chunks(fragment):
                parts.extend(_paragraphs(chunk, body))
        for part in parts[first : first + 1]:
            part.top = True
    if page.aside:
        parts.append(Part("prose", [page.aside], body.size, False))
    _set_depths(parts)
    notes = _footnotes(parts, body)
    parts = [part for part in parts if part not in notes] + notes if notes else parts
    for part in parts:
        part.pages = [(0, page.number)]
    return parts


def _chunks(lines: list[Line]) -> Iterator[list[Line]]:
    """Lines of one size that follow each other at the usual distance."""
    pitches = [
        after.top - before.top
        for before, after in pairwise(lines)
        if abs(after.size - before.size) < 0.1 * before.size and after.top - before.top < 3 * before.size
    ]
    usual = median(pitches) if len(pitches) > 2 else 0
    chunk: list[Line] = []
    for line in lines:
        if chunk:
            before = chunk[-1]
            least = 1.5 if usual or _ENDS.search(before.text) else 1.9
            pitch = max(1.2 * min(usual, 2.2 * line.size), least * line.size)
            resized = abs(line.size - before.size) > 0.1 * before.size
            apart = (resized or line.top - before.top > pitch) and not line.fixed
            if apart or line.fixed != before.fixed:
                yield chunk
                chunk = []
        chunk.append(line)
    if chunk:
        yield chunk


def _paragraphs(chunk: list[Line], body: Body) -> Iterator[Part]:
    first = chunk[0]
    if first.fixed and (len(chunk) > 1 or len(first.text) > 3):
        yield Part("code", list(_code(chunk)), first.size, first.bold)
        return
    edge = max(line.end for line in chunk)
    starts = Counter(round(line.start) for line in chunk)
    usual = max(sorted(starts), key=lambda start: starts[start])
    group: list[Line] = []
    for line in chunk:
        if group and _begins(group, line, edge, usual):
            yield _part(group, edge, body)
            group = []
        group.append(line)
    yield _part(group, edge, body)


def _code(chunk: list[Line]) -> Iterator[str]:
    """The lines as they are indented on the page, with the empty lines between them."""
    left = min(line.start for line in chunk)
    longest = max(chunk, key=lambda line: len(line.text))
    width = (longest.end - longest.start) / len(longest.text)
    for before, line in pairwise([chunk[0], *chunk]):
        if line.top - before.top > 1.8 * line.size:
            yield ""
        yield " " * round((line.start - left) / width) + line.text


def _begins(group: list[Line], line: Line, edge: float, usual: float) -> bool:
    """Whether a line begins another paragraph than that of the lines before it."""
    before, text = group[-1], line.text
    ended = _ENDS.search(before.text) is not None
    broken = ended or _had_room(before, line, edge)
    if _BULLET.match(text) or (_ARTICLE and _ARTICLE_LINE.match(text)) or _LEADERS.search(before.text):
        return True
    if _NUMBER.match(text):
        return broken or (_marker(group[0].text) is not None and abs(line.start - group[0].start) < 0.5 * line.size)
    if text[:1].islower() and not ended and not (LABEL.match(text) and _had_room(before, line, edge)):
        return False
    if _marker(group[0].text) and line.start > group[0].start + 0.5 * line.size:
        return broken and ended and _had_room(before, line, edge)
    moved = line.start - usual if abs(before.start - usual) < 0.4 * line.size else 0.0
    indented = abs(moved) > 0.8 * line.size or (before.start - line.start > 0.8 * line.size and line.start < usual)
    return _had_room(before, line, edge) or (broken and (indented or before.bold != line.bold))


def _had_room(before: Line, line: Line, edge: float) -> bool:
    """Whether the next line's first word would still have fitted on the line before."""
    text = line.text
    letter = (line.end - line.start) / max(1, len(text))
    first = 1 if _WIDE.match(text) else len(text.split(maxsplit=1)[0]) + 1
    return edge - before.end > first * letter + 0.3 * line.size


def _marker(text: str) -> re.Match[str] | None:
    return _BULLET.match(text) or _NUMBER.match(text)


def _part(group: list[Line], edge: float, body: Body) -> Part:
    first, last = group[0], group[-1]
    texts = [line.text for line in group]
    bold = all(line.bold for line in group)
    length = sum(map(len, texts))
    larger = first.size >= 1.15 * body.size and not (length > 60 and texts[-1].endswith("."))
    stands_out = bold and not body.bold and first.size > 0.95 * body.size and not _ENDS.search(texts[-1])
    if _LEADERS.search(texts[-1]):
        return Part("prose", [*texts[:-1], _LEADERS.sub(" … ", texts[-1])], first.size, bold)
    titled = length <= LONGEST_HEADING and any(map(str.isalpha, texts[0])) and not _BULLET.match(texts[0])
    if titled and (larger or stands_out):
        return Part("heading", texts, first.size, bold)
    if result := _marker(texts[0]):
        bullet = _BULLET.match(texts[0]) is not None
        rest = texts[0][result.end() :].strip()
        marker = "-" if bullet else result[0].strip()
        if rest or len(texts) > 1:
            # The level holds the place of the marker until all items of the page are known.
            item = Part("list_item", [f"{marker} {rest}".strip(), *texts[1:]], first.size, bold, round(first.start))
            item.open = last.end > edge - 3 * last.size and not _ENDS.search(texts[-1])
            return item
    full = last.end > edge - 3 * last.size and (len(group) > 1 or not _UNCASED.search(texts[-1][-1:]))
    return Part("prose", texts, first.size, bold, open=full and not _ENDS.search(texts[-1]))


def _set_depths(parts: list[Part]) -> None:
    """An item's level is the number of different places of markers above it that it is indented from."""
    positions: list[int] = []
    for part in parts:
        if part.kind == "list_item":
            while positions and positions[-1] > part.level + 3:
                positions.pop()
            if not positions or part.level > positions[-1] + 3:
                positions.append(part.level)
            part.level = len(positions)
        elif part.kind != "code":
            positions.clear()


def _footnotes(parts: list[Part], body: Body) -> list[Part]:
    """The small paragraphs with a footnote's mark, and the small ones that follow them, below all else in their column."""
    notes: list[Part] = []
    for before, part in zip([None, *parts], parts, strict=False):
        small = part.size < 0.93 * body.size and part.kind in ("prose", "list_item")
        if small and (_NOTE.match(part.texts[0]) or (before is not None and before.note)):
            part.note = True
            part.kind, part.level = "prose", 0
            notes.append(part)
    return notes
