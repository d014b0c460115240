"""The search process's answers about single documents: their text and their list, their files, a chunk at a time, and the pages of
PDFs as pictures.
"""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import msgspec
from groundwire.wire import About, Block, ListedSource
from msgspec.structs import replace

from bus.powers.sources import (
    LONGEST,
    PIECE,
    WIDTH,
    Found,
    ListAsked,
    NotServed,
    PageAsked,
    PageView,
    Piece,
    PieceAsked,
    Question,
    SourceList,
    SourceText,
    TextAsked,
    fits,
    no_such_source,
)
from bus.wire.errors import Unavailable
from bus.wire.messages import same_fields
from index.documents.originals import NoOriginal, Original, Originals, has_own_file, media_type
from index.documents.pdf_view import Drawn, NotDrawn, Order, drawn_in_child
from index.model import Entry
from index.search.searcher import Searcher
from index.snapshot.roots import Root
from index.source_paths import openable, original_path, source_path
from index.text.document_text import Stretch

#: How many pages are drawn at a time, how many may wait, and how many pictures are kept.
AT_ONCE, WAITING, KEPT = 2, 16, 32
_PDF = "application/pdf"


class OnIndex(Protocol):
    """Runs a function in a thread that may read the index. Raises Unavailable."""

    async def __call__[T](self, work: Callable[[Searcher], T]) -> T: ...


class Sources:
    """Answers questions about documents, each for its caller; pictures are kept by the file's digest.

    `originals`: whether their own files may be opened.
    """

    def __init__(self, on_index: OnIndex, *, originals: bool) -> None:
        self._on_index = on_index
        self._opens = originals
        self._originals = Originals()
        self._threads = ThreadPoolExecutor(AT_ONCE, "drawing")
        self._pages: OrderedDict[Order, asyncio.Future[Drawn]] = OrderedDict()

    async def find(self, question: Question) -> Found:
        """Raises NoSuchSource, NotServed, Unavailable."""
        match question:
            case TextAsked():
                text = await self._on_index(lambda searcher: text_of(searcher, question))
                return text if self._opens else msgspec.structs.replace(text, original="", media_type="")
            case ListAsked():
                return await self._on_index(lambda searcher: list_of(searcher, question))
            case _ if not self._opens:
                raise NotServed("files are not served here; the setting index.originals lets them be")
            case PieceAsked():
                return await self._piece(question)
            case PageAsked():
                return await self._page(question)

    async def _piece(self, asked: PieceAsked) -> Piece:
        """Raises NoSuchSource, NotServed, Unavailable."""
        entry, roots = await self._entry(asked.source_id, asked.groups)

        def read(file: Original) -> Piece:
            data = os.pread(file.file.fileno(), PIECE, asked.offset)
            return Piece(data=data, size=file.size, version=file.digest, name=file.name, media_type=file.media_type)

        if asked.page is None:
            return await asyncio.to_thread(self._with_file, entry, roots, read)
        digest, drawn = await self._draw(entry, roots, Order(page=asked.page, width=asked.width))
        return Piece(
            data=drawn.picture[asked.offset : asked.offset + PIECE],
            size=len(drawn.picture),
            version=f"{digest[:32]}-{asked.page}-{asked.width}-{len(drawn.picture)}",
            name=f"{Path(entry.source_id).name}-{asked.page}.webp",
            media_type="image/webp",
        )

    async def _page(self, asked: PageAsked) -> PageView:
        """Raises NoSuchSource, NotServed, Unavailable."""
        entry, roots = await self._entry(asked.source_id, asked.groups)
        words, near = await self._on_index(lambda searcher: _cited(searcher, asked))
        _, drawn = await self._draw(entry, roots, Order(page=asked.page, width=WIDTH, words=words, near=near))
        return PageView(pages=drawn.pages, width=drawn.width, height=drawn.height, marks=drawn.marks)

    async def _entry(self, source_id: str, groups: tuple[str, ...] | None) -> tuple[Entry, tuple[Root, ...]]:
        """Raises NoSuchSource, Unavailable."""
        entry, roots = await self._on_index(lambda searcher: (searcher.source(source_id, groups), searcher.roots))
        if entry is None:
            raise no_such_source(source_id)
        return entry, roots

    def _with_file[T](self, entry: Entry, roots: tuple[Root, ...], work: Callable[[Original], T]) -> T:
        """Blocks. Raises NotServed."""
        try:
            with self._originals.opened(entry, roots) as file:
                return work(file)
        except (NoOriginal, NotDrawn) as reason:
            raise NotServed(str(reason)) from None

    async def _draw(self, entry: Entry, roots: tuple[Root, ...], order: Order) -> tuple[str, Drawn]:
        """The digest of the file, and the page. Raises NotServed, Unavailable."""
        digest, media_type = await asyncio.to_thread(
            self._with_file, entry, roots, lambda file: (file.digest, file.media_type)
        )
        if media_type != _PDF:
            raise NotServed("only the pages of PDFs are drawn")
        order = replace(order, digest=digest)
        if order not in self._pages:
            if sum(not page.done() for page in self._pages.values()) >= WAITING:
                raise Unavailable("too many pages wait to be drawn; try again in a moment")

            def draw(file: Original) -> Drawn:
                return drawn_in_child(file.file, order)

            page = asyncio.get_running_loop().run_in_executor(self._threads, self._with_file, entry, roots, draw)
            page.add_done_callback(lambda done: done.exception() and self._pages.pop(order, None))
            self._pages[order] = page
            self._pages.setdefault(replace(order, words="", near=0.0), page)  # the same picture
            while len(self._pages) > KEPT and next(iter(self._pages.values())).done():
                self._pages.popitem(last=False)
        return digest, await asyncio.shield(self._pages[order])


def _cited(searcher: Searcher, asked: PageAsked) -> tuple[str, float]:
    """The cited words on the page, and their position in its text, from 0 to 1. Raises IndexProblem."""
    whole = searcher.stretch(asked.source_id, 0, 2**40, asked.groups, page=asked.page)
    if whole is None:
        return "", 0.0
    page: Stretch = whole[1]
    start, end = max(asked.start, page.start), min(asked.end, page.end)
    if start >= end:
        return "", 0.0
    near = (start - page.start) / max(1, page.end - page.start)
    return page.text[start - page.start : end - page.start], near


def text_of(searcher: Searcher, asked: TextAsked) -> SourceText:
    """Raises NoSuchSource, IndexProblem."""
    length = min(max(0, asked.end - asked.start), LONGEST)
    while True:
        found = searcher.stretch(asked.source_id, asked.start, asked.start + length, asked.groups, page=asked.page)
        if found is None:
            raise no_such_source(asked.source_id)
        entry, held, snapshot = found
        text = SourceText(
            **msgspec.structs.asdict(_listed(entry)),
            snapshot=snapshot,
            start=held.start,
            end=held.end,
            text=held.text,
            blocks=tuple(Block(**msgspec.structs.asdict(block)) for block in held.blocks),
            pages=held.last_page,
            page_starts=held.pages,
            original=original_path(entry.source_id) if has_own_file(entry) else "",
            media_type=media_type(entry.origin) if has_own_file(entry) else "",
        )
        if length <= 1 or fits(text):
            return text
        length //= 2


def list_of(searcher: Searcher, asked: ListAsked) -> SourceList:
    """Raises IndexProblem."""
    most = asked.most
    while True:
        entries, count, snapshot = searcher.sources(asked.after, most + 1, asked.groups)
        items = tuple(map(_listed, entries[:most]))
        more = items[-1].source_id if len(entries) > most else ""
        listed = SourceList(items=items, count=count, snapshot=snapshot, next=more)
        if most == 1 or fits(listed):
            return listed
        most //= 2


def _listed(entry: Entry) -> ListedSource:
    own = {
        "url": openable(entry.url) or source_path(entry.source_id),
        "passages": entry.count,
        "about": msgspec.convert(entry.metadata, About, from_attributes=True),
    }
    return ListedSource(**(same_fields(entry, ListedSource) | own))
