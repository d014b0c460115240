"""The text of an indexed document, put together again from its passages, a stretch at a time.

Passages overlap, and the text between two of them is kept with the second.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from index.model import Block, Entry, Passage

#: The passages of a document from its `start`th, at most `count` (backend.py).
type Read = Callable[[Entry, int, int], Sequence[Passage]]

_BATCH = 8


class Stretch(NamedTuple):
    """The characters `start..end` of a document, which has `last_page` pages with text, if it has pages.

    `blocks` are cut at both ends; `pages` holds (offset, page number) where a page starts, the first at `start`.
    """

    start: int
    end: int
    text: str
    blocks: tuple[Block, ...]
    pages: tuple[tuple[int, int], ...]
    last_page: int | None


def stretch(read: Read, entry: Entry, start: int, end: int) -> Stretch:
    """The stretch that is asked for, as far as there is one. Raises IndexProblem."""
    end = max(0, min(end, entry.characters))
    start = max(0, min(start, end))
    passages = list(_between(read, entry, start, end))
    starts = [page for page in _page_starts(passages) if page[0] < end]
    before = [number for offset, number in starts if offset <= start]
    pages = [(start, before[-1])] if before else []
    last = read(entry, entry.count - 1, 1) if entry.count else []
    return Stretch(
        start,
        end,
        _joined(passages, entry, start, end),
        tuple(_cut(_merged(passages), start, end)),
        (*pages, *(page for page in starts if page[0] > start)),
        next(reversed([number for _, number in _page_starts(last)]), None),
    )


def page_stretch(read: Read, entry: Entry, page: int) -> tuple[int, int]:
    """Where the text of this page begins and ends; empty for a page without. Raises IndexProblem."""
    at = bisect_left(range(entry.count), page, key=lambda place: _at(read, entry, place).page or 0)
    start: int | None = None
    for offset, number in _page_starts(_from(read, entry, max(0, at - 1))):
        if number > page:
            return (offset if start is None else start), offset
        if number == page:
            start = offset
    return (entry.characters if start is None else start), entry.characters


def _between(read: Read, entry: Entry, start: int, end: int) -> Iterator[Passage]:
    """The passages that hold something of the stretch, and one more on each side."""
    at = max(0, bisect_right(range(entry.count), start, key=lambda place: _at(read, entry, place).char_start) - 1)
    while at and _at(read, entry, at - 1).char_end >= start:
        at -= 1
    for passage in _from(read, entry, at):
        yield passage
        if passage.char_start >= end:
            return


def _at(read: Read, entry: Entry, place: int) -> Passage:
    (passage,) = read(entry, place, 1)
    return passage


def _from(read: Read, entry: Entry, place: int) -> Iterator[Passage]:
    for start in range(place, entry.count, _BATCH):
        yield from read(entry, start, _BATCH)


def _joined(passages: list[Passage], entry: Entry, start: int, end: int) -> str:
    parts: list[str] = []
    at = start

    def add(begin: int, piece: str) -> None:
        """Add the new text within the stretch of a text that begins at `begin`."""
        nonlocal at
        taken = piece[max(0, at - begin) : max(0, end - begin)]
        parts.append(taken)
        at += len(taken)

    for passage in passages:
        if (before := passage.char_start - len(passage.before)) <= at:
            add(before, passage.before)
        add(passage.char_start, passage.text)
    if passages and passages[-1].number == entry.first + entry.count - 1:
        add(passages[-1].char_end, passages[-1].after)
    return "".join(parts)


def _merged(passages: Iterable[Passage]) -> Iterator[Block]:
    """The blocks of these passages, each once and whole again where it was cut in two."""
    last: Block | None = None
    for passage in passages:
        for position, block in enumerate(passage.blocks):
            if last is not None and (block.start < last.end or (position == 0 and passage.goes_on)):
                last = msgspec.structs.replace(last, end=max(last.end, block.end))
                continue
            if last is not None:
                yield last
            last = block
    if last is not None:
        yield last


def _cut(blocks: Iterable[Block], start: int, end: int) -> Iterator[Block]:
    for block in blocks:
        if block.start < end and block.end > start:
            yield msgspec.structs.replace(block, start=max(block.start, start), end=min(block.end, end))


def _page_starts(passages: Iterable[Passage]) -> Iterator[tuple[int, int]]:
    """Ascending; a passage's own start counts as one where its page is not the one before."""
    last = 0
    for passage in passages:
        own = [(passage.char_start, passage.page)] if passage.page is not None else []
        for offset, number in (*own, *passage.pages):
            if number > last:
                yield offset, number
                last = number
