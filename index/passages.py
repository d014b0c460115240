"""Cut a document into passages: at sentence ends and headings, with some overlap, keeping tables and lists whole.

Sizes are counted in weights, not characters: a Chinese character says about three times as much as a Latin letter, a Korean
syllable twice as much (from the lengths of the same texts in five languages).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from index.languages import UNDETERMINED
from index.languages.detection import detect, share_of
from index.languages.scripts import ARABIC_BLOCK, HAN_MORE, HANGUL, WIDE
from index.model import Block, Document, Passage
from index.sentences import split

#: Change this whenever documents would be cut differently, so that unchanged files are read again.
VERSION = "1"
#: A passage is closed at weight TARGET, never exceeds LIMIT, and is merged with its neighbour below LEAST.
TARGET, LIMIT, LEAST = 1100, 1600, 250
_OVERLAP = 200

_HAN = re.compile(f"[{WIDE}{HAN_MORE}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_ARABIC = re.compile(f"[{ARABIC_BLOCK}]")
_SPACE = re.compile(r"\s")


class Atom(NamedTuple):
    """A piece that is never cut. `kind` is its block's; `header` is a table's first row, for rows cut off from it."""

    start: int
    end: int
    weight: float
    kind: str
    headings: tuple[str, ...]
    header: str = ""


def weigh(text: str) -> float:
    """The weight of `text`, in Latin letters."""
    weight = float(len(text))
    if not text.isascii():
        weight += 2.0 * len(_HAN.findall(text)) + len(_HANGUL.findall(text)) + 0.15 * len(_ARABIC.findall(text))
    return weight


def cut(document: Document, first: int) -> list[Passage]:
    """The passages of `document`, numbered from `first`; none for a document without a letter or digit."""
    passages: list[Passage] = []
    for atoms in _group(list(_atoms(document))):
        start, end = atoms[0].start, atoms[-1].end
        text = document.text[start:end]
        if not any(map(str.isalnum, text)):
            continue
        headings = tuple(heading for heading in (*atoms[0].headings, atoms[0].header) if heading)
        passages.append(
            Passage(
                number=first + len(passages),
                source_id=document.source_id,
                title=document.title,
                url=document.url,
                language=_language(text, document),
                text=text,
                char_start=start,
                char_end=end,
                page=_page(document, start),
                headings=tuple(heading for heading in headings if heading not in text[: len(heading) + 12]),
            )
        )
    return passages


def _language(text: str, document: Document) -> str:
    """The language of the text; a declared language is trusted unless hardly a letter of the text is in its script."""
    if document.language is not None and share_of(text, document.language) >= 0.3:
        return document.language
    found = detect(text)
    return document.language or UNDETERMINED if found == UNDETERMINED else found


def _page(document: Document, offset: int) -> int | None:
    page = None
    for start, number in document.pages:
        if start > offset:
            break
        page = number
    return page


def _atoms(document: Document) -> Iterator[Atom]:
    text = document.text
    path: list[tuple[int, str]] = []
    for block in document.blocks or (Block(0, len(text)),):
        headings = tuple(title for _, title in path)
        piece = text[block.start : block.end]
        if block.kind == "heading":
            title = re.sub(r"^[#\s]+|[#\s=-]+$", "", piece)[:200]
            path = [(level, name) for level, name in path if level < block.level]
            headings = tuple(name for _, name in path)
            path.append((block.level, title))
            yield Atom(block.start, block.end, weigh(piece), "heading", headings)
        elif block.kind == "text":
            for start, end in split(piece):
                yield from _fitting(text, block.start + start, block.start + end, "text", headings)
        elif weigh(piece) <= LIMIT:
            yield Atom(block.start, block.end, weigh(piece), block.kind, headings)
        else:
            yield from _lines(text, block, headings)


def _lines(text: str, block: Block, headings: tuple[str, ...]) -> Iterator[Atom]:
    """A table, list or code block too long for one passage, line by line; later parts of a table keep its header."""
    start = block.start
    header = ""
    for number, line in enumerate(text[block.start : block.end].splitlines(keepends=True)):
        stripped = line.strip()
        if number == 0 and block.kind == "table":
            header = stripped[:300]
        if stripped:
            begin = start + len(line) - len(line.lstrip())
            for atom in _fitting(text, begin, start + len(line.rstrip()), block.kind, headings):
                yield atom._replace(header=header if number else "")
        start += len(line)


def _fitting(text: str, start: int, end: int, kind: str, headings: tuple[str, ...]) -> Iterator[Atom]:
    """One atom, or several cut at white space (anywhere, if there is none) when it alone exceeds the limit."""
    weight = weigh(text[start:end])
    if weight <= LIMIT:
        yield Atom(start, end, weight, kind, headings)
        return
    size = max(1, int((end - start) * TARGET / weight))
    while start < end:
        stop = min(end, start + size)
        if stop < end:
            space = next((at for at in range(stop, start + size // 2, -1) if _SPACE.match(text, at)), stop)
            stop = space
        yield Atom(start, stop, weigh(text[start:stop]), kind, headings)
        start = stop
        while start < end and text[start].isspace():
            start += 1


def _group(atoms: list[Atom]) -> Iterator[list[Atom]]:
    group: list[Atom] = []
    weight = 0.0
    for atom in atoms:
        begins_section = atom.kind == "heading" and weight >= LEAST
        full = weight + atom.weight > LIMIT or weight >= TARGET
        if group and (begins_section or full) and not all(one.kind == "heading" for one in group):
            # A heading must not end a passage: it stays with the text below it.
            carried: list[Atom] = []
            while group[-1].kind == "heading":
                carried.insert(0, group.pop())
            yield group
            if not begins_section and not carried:
                carried = _overlap(group, atom)
            group = carried
            weight = sum(one.weight for one in group)
            if weight + atom.weight > LIMIT and not any(one.kind == "heading" for one in group):
                group, weight = [], 0.0
        group.append(atom)
        weight += atom.weight
    if group:
        yield group


def _overlap(group: list[Atom], following: Atom) -> list[Atom]:
    """The last sentences of a passage, to begin the next one of the same section; never part of a table or list."""
    taken: list[Atom] = []
    weight = 0.0
    for atom in reversed(group[1:]):
        weight += atom.weight
        if atom.kind != "text" or following.kind != "text" or weight > _OVERLAP:
            break
        taken.insert(0, atom)
    return taken
