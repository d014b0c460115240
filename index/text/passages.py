"""Cut a document into passages along its blocks: prose at sentence ends, with some overlap, lists and tables between items and
rows, and whole with what introduces them where they fit.

Sizes are counted in weights, not characters: a Chinese character carries about three times as much as a Latin letter, a Korean
syllable twice as much (from the lengths of the same texts in five languages).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

import msgspec

from index.languages import UNDETERMINED
from index.languages.characters import ARABIC_BLOCK, HAN_MORE, HANGUL, WIDE
from index.languages.detection import ScannedText, Table, members, surely, table_of
from index.model import Block, BlockKind, Document, Passage
from index.text.sentences import CELLS, split

#: Change this whenever documents would be cut or indexed differently, so that unchanged files are read again.
VERSION = "13"
#: A passage is closed at weight TARGET, never exceeds LIMIT, and is merged with its neighbour below LEAST.
TARGET, LIMIT, LEAST = 1100, 1600, 250
_OVERLAP = 200
#: The longest introduction that is kept before a block in its passage, and that is repeated where the passage begins later.
LONGEST_INTRO = 300
#: The kinds of running text, which show a language, and how many of their blocks are read.
_RUNNING = frozenset(("prose", "heading", "list_item", "quotation", "definition", "link"))
_LOOKED_AT = 400
#: Most rows are names and figures. They show a passage's language if they have nearly as many function words as prose has.
_ROWS, _RUNNING_ROWS = frozenset(("table_row",)), 0.8
#: The part of a row's beginning that is repeated in a passage with only a later part of the row.
_LONGEST_ROW_NAME = 120
_SEVERAL = frozenset(("list_item", "table_header", "table_row", "definition", "link"))

#: How much more than a Latin letter the characters of a script weigh.
_HEAVIER = ((2.0, WIDE + HAN_MORE), (1.0, HANGUL), (0.15, ARABIC_BLOCK))
_SPACE = re.compile(r"\s")


class Atom(NamedTuple):
    """A piece that is never cut. `kind` is that of its blocks, `anchor` that of its section."""

    start: int
    end: int
    weight: float
    kind: BlockKind
    headings: tuple[str, ...]
    anchor: str


def weigh(text: str) -> float:
    """The weight of `text`, in Latin letters."""
    return _Weighed(text).between(0, len(text))


class _Weighed:
    """A text with stretches to weigh: its heavier characters are counted once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._heavier = b"" if text.isascii() else members(text, _scripts())
        self._scripts = [(more, n) for n, (more, _) in enumerate(_HEAVIER, 1) if n in self._heavier]

    def between(self, start: int, end: int) -> float:
        weight = float(end - start)
        if self._scripts:
            weight += sum([more * self._heavier.count(n, start, end) for more, n in self._scripts])
        return weight


@cache
def _scripts() -> Table:
    return table_of(ranges for _, ranges in _HEAVIER)


def cut(document: Document, first: int, language: str = "") -> list[Passage]:
    """The passages of `document`, numbered from `first`; none for a document without a letter or digit.

    `language`: its `language_of`, where that is known already.
    """
    passages: list[Passage] = []
    language = language or language_of(document)
    for atoms in _group(list(_atoms(document))):
        start, end = atoms[0].start, atoms[-1].end
        text = document.text[start:end]
        if not any(map(str.isalnum, text)):
            continue
        blocks = _blocks_between(document, start, end)
        passages.append(
            Passage(
                number=first + len(passages),
                source_id=document.source_id,
                title=document.title,
                url=document.url,
                language=_language(text, blocks, start, language),
                text=text,
                char_start=start,
                char_end=end,
                page=_page(document, start),
                headings=tuple(heading for heading in atoms[0].headings if heading not in text[: len(heading) + 12]),
                blocks=blocks,
                intros=tuple(dict.fromkeys(_intros(document, blocks, start))),
                anchor=atoms[0].anchor,
                before=document.text[passages[-1].char_end if passages else 0 : start],
                pages=tuple(page for page in document.pages if start < page[0] < end),
                goes_on=_goes_on(document, start),
            )
        )
    if passages:
        passages[-1] = msgspec.structs.replace(passages[-1], after=document.text[passages[-1].char_end :])
    return passages


def language_of(document: Document) -> str:
    """The language of a document: the declared one, unless its running text is surely in another; else that of its text."""
    running = (block for block in document.blocks if block.kind in _RUNNING)
    text = "\n".join(document.text[block.start : block.end] for block in islice(running, _LOOKED_AT))
    if not any(map(str.isalpha, text)):
        text = document.text[:20_000]
    looked = ScannedText(text)
    result = looked.language()
    if document.language is None or result == UNDETERMINED:
        return document.language or result
    contradicted = looked.share_of(document.language) < 0.3 or looked.is_strongly(result)
    return result if contradicted else document.language


def _language(text: str, blocks: tuple[Block, ...], start: int, of_document: str) -> str:
    """The document's language, unless the passage's running text or its rows are surely in another."""
    if not blocks:
        return surely(text, of_document)
    for kinds, running in ((_RUNNING, 0.0), (_ROWS, _RUNNING_ROWS)):
        telling = [text[block.start - start : block.end - start] for block in blocks if block.kind in kinds]
        if telling and (result := surely("\n".join(telling), of_document, running)) != of_document:
            return result
    return of_document


def _page(document: Document, offset: int) -> int | None:
    at = bisect_right(document.pages, offset, key=itemgetter(0))
    return document.pages[at - 1][1] if at else None


def _blocks_between(document: Document, start: int, end: int) -> tuple[Block, ...]:
    """The blocks of a stretch of the document; a longer block is cut there."""
    first = bisect_right(document.blocks, start, key=lambda block: block.end)
    inside: list[Block] = []
    for at in range(first, len(document.blocks)):
        block = document.blocks[at]
        if block.start >= end:
            break
        if block.start < start or block.end > end:
            block = msgspec.structs.replace(block, start=max(block.start, start), end=min(block.end, end))
        inside.append(block)
    return tuple(inside)


def _goes_on(document: Document, start: int) -> bool:
    at = bisect_right(document.blocks, start, key=lambda block: block.end)
    return at < len(document.blocks) and document.blocks[at].start < start


def _intros(document: Document, blocks: tuple[Block, ...], start: int) -> Iterator[str]:
    """The text before `start` that introduces these blocks, and the first cells of a row that began before it."""
    for block in blocks:
        if block.intro is not None and block.intro[0] < start:
            yield document.text[block.intro[0] : block.intro[1]][:LONGEST_INTRO]
    if blocks and blocks[0].kind == "table_row":
        whole = document.blocks[bisect_right(document.blocks, start, key=lambda block: block.end)]
        cells = document.text[whole.start : min(start, whole.start + _LONGEST_ROW_NAME)]
        if cells:
            yield cells.rpartition(CELLS)[0] or cells


def _atoms(document: Document) -> Iterator[Atom]:
    weighed = _Weighed(document.text)
    text = document.text
    path: list[tuple[int, str, str]] = []
    for run in _runs(document.blocks or (Block(0, len(text)),), weighed):
        headings = tuple(title for _, title, _ in path)
        anchor = next((anchor for _, _, anchor in reversed(path) if anchor), "")
        first, start, end = run[0], run[0].start, run[-1].end
        if first.kind == "heading":
            title = text[start:end].lstrip("# \t\n")[:200]
            path = [above for above in path if above[0] < first.level]
            headings = tuple(name for _, name, _ in path)
            path.append((first.level, title, first.anchor))
            yield Atom(start, end, weighed.between(start, end), "heading", headings, first.anchor or anchor)
        elif first.kind == "prose" and len(run) == 1:
            for begin, stop in split(text[start:end]):
                yield from _fitting(weighed, Atom(start + begin, start + stop, 0, "prose", headings, anchor))
        elif weighed.between(start, end) <= LIMIT:
            yield Atom(start, end, weighed.between(start, end), run[-1].kind, headings, anchor)
        else:
            for block in run:
                yield from _lines(weighed, Atom(block.start, block.end, 0, block.kind, headings, anchor))


def _runs(blocks: tuple[Block, ...], weighed: _Weighed) -> Iterator[list[Block]]:
    """Blocks that are kept in one passage if they fit: a list, a table, code, each with a short text that introduces it."""
    run: list[Block] = []
    for block in blocks:
        if run and not _belongs(run[-1], block, weighed):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _belongs(before: Block, block: Block, weighed: _Weighed) -> bool:
    """Whether a block goes on with the one before it: as an item or row of the same, or as what it introduces."""
    if before.kind == "heading" or block.kind in ("heading", "prose"):
        return False
    if block.intro is not None and before.start <= block.intro[0] < before.end:
        return weighed.between(before.start, before.end) < LONGEST_INTRO
    return before.kind in _SEVERAL and block.kind in _SEVERAL


def _lines(weighed: _Weighed, atom: Atom) -> Iterator[Atom]:
    """One block of a run that is too long for one passage, line by line when the block alone is too long."""
    if weighed.between(atom.start, atom.end) <= LIMIT:
        yield from _fitting(weighed, atom)
        return
    start = atom.start
    for line in weighed.text[atom.start : atom.end].splitlines(keepends=True):
        if line.strip():
            begin = start + len(line) - len(line.lstrip())
            yield from _fitting(weighed, atom._replace(start=begin, end=start + len(line.rstrip())))
        start += len(line)


def _fitting(weighed: _Weighed, atom: Atom) -> Iterator[Atom]:
    """The atom weighed, or several, cut between cells, at white space, or anywhere, when it alone exceeds the limit."""
    text, start, end = weighed.text, atom.start, atom.end
    weight = weighed.between(start, end)
    if weight <= LIMIT:
        yield Atom(start, end, weight, *atom[3:])  # much quicker than to replace what changes
        return
    size = max(1, int((end - start) * TARGET / weight))
    while start < end:
        stop = min(end, start + size)
        if stop < end:
            bar = text.rfind(CELLS, start + size // 2, stop) if atom.kind == "table_row" else -1
            spaces = (at for at in range(stop, start + size // 2, -1) if _SPACE.match(text, at))
            stop = bar + len(" |") if bar > 0 else next(spaces, stop)
        yield Atom(start, stop, weighed.between(start, stop), *atom[3:])
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
        if atom.kind != "prose" or following.kind != "prose" or weight > _OVERLAP:
            break
        taken.insert(0, atom)
    return taken
