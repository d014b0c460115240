"""The files of documents, a piece at a time, and the pages of PDFs as pictures, each drawn in a process of its own."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from bus.powers.sources import PIECE, WIDTH, NotServed, PageAsked, PageView, Piece, PieceAsked, no_such_source
from bus.wire.errors import Unavailable
from index.documents import pdf_view
from index.documents.originals import NoOriginal, Original, Originals
from index.documents.pdf_view import Drawn, Order
from index.model import Entry
from index.search.searcher import Searcher
from index.snapshot.roots import Root
from index.text.document_text import Stretch

PROGRAM = (sys.executable, "-m", "index.documents.pdf_view")
#: How long drawing a page may take, in seconds; how many are drawn at a time; and what is kept of them, in bytes.
DRAW_S, AT_ONCE, KEPT_BYTES = 20.0, 2, 48 * 1024 * 1024
#: How many pages may wait to be drawn: no more than are drawn before whoever asks has given up.
WAITING = 16
_PDF = "application/pdf"


class OnIndex(Protocol):
    """Runs what it is given in a thread that may read the index. Raises Unavailable."""

    async def __call__[T](self, work: Callable[[Searcher], T]) -> T: ...


class SourceFiles:
    """Each question is answered for who asks it: what was found out before is kept by the file's bytes."""

    def __init__(self, on_index: OnIndex) -> None:
        self._on_index = on_index
        self._originals = Originals()
        self._drawing = asyncio.Semaphore(AT_ONCE)
        self._drawn = _Kept(KEPT_BYTES)
        self._under_way: dict[Order, asyncio.Task[Drawn]] = {}

    async def piece(self, asked: PieceAsked) -> Piece:
        """Raises NoSuchSource, NotServed, Unavailable."""
        entry, roots = await self._entry(asked.source_id, asked.groups)
        if asked.page is not None:
            digest, drawn = await self._draw(entry, roots, Order(page=asked.page, width=asked.width))
            part = drawn.picture[asked.offset : asked.offset + PIECE]
            name = f"{Path(entry.source_id).name}-{asked.page}.webp"
            version = f"{digest[:32]}-{asked.page}-{asked.width}-{len(drawn.picture)}"
            return Piece(data=part, size=len(drawn.picture), version=version, name=name, media_type="image/webp")
        return await asyncio.to_thread(self._read, entry, roots, asked.offset)

    async def page(self, asked: PageAsked) -> PageView:
        """Raises NoSuchSource, NotServed, Unavailable."""
        entry, roots = await self._entry(asked.source_id, asked.groups)
        found = await self._on_index(lambda searcher: _cited(searcher, asked))
        words, near = found if found else ("", 0.0)
        _, drawn = await self._draw(entry, roots, Order(page=asked.page, width=WIDTH, words=words, near=near))
        return PageView(pages=drawn.pages, width=drawn.width, height=drawn.height, marks=drawn.marks)

    async def _entry(self, source_id: str, groups: tuple[str, ...] | None) -> tuple[Entry, tuple[Root, ...]]:
        """Raises NoSuchSource, Unavailable."""
        found = await self._on_index(lambda searcher: (searcher.source(source_id, groups), searcher.roots))
        if found[0] is None:
            raise no_such_source(source_id)
        return found[0], found[1]

    def _read(self, entry: Entry, roots: tuple[Root, ...], offset: int) -> Piece:
        """Raises NotServed."""
        try:
            with self._originals.opened(entry, roots) as file:
                data = os.pread(file.file.fileno(), PIECE, offset)
                return Piece(data=data, size=file.size, version=file.digest, name=file.name, media_type=file.media_type)
        except NoOriginal as reason:
            raise NotServed(str(reason)) from None

    async def _draw(self, entry: Entry, roots: tuple[Root, ...], order: Order) -> tuple[str, Drawn]:
        """The digest of the file's bytes, and the page. Raises NotServed, Unavailable."""
        duplicate = await asyncio.to_thread(self._opened, entry, roots)
        order = msgspec.structs.replace(order, digest=duplicate.digest)
        try:
            if (drawn := self._drawn.get(order)) is not None:
                return order.digest, drawn
            if order not in self._under_way:
                if len(self._under_way) >= WAITING:
                    raise Unavailable("too many pages wait to be drawn; try again in a moment")
                task = asyncio.create_task(self._drawn_now(duplicate, order))
                self._under_way[order] = task
                task.add_done_callback(lambda _: self._under_way.pop(order, None))
            drawn = await asyncio.shield(self._under_way[order])
        finally:
            duplicate.file.close()
        self._drawn.put(order, drawn)
        self._drawn.put(msgspec.structs.replace(order, words="", near=0.0), drawn)
        return order.digest, drawn

    def _opened(self, entry: Entry, roots: tuple[Root, ...]) -> Original:
        """The file, for a process of its own to read. Raises NotServed."""
        try:
            with self._originals.opened(entry, roots) as file:
                if file.media_type != _PDF:
                    raise NotServed("only the pages of PDFs are drawn")
                return file._replace(file=open(os.dup(file.file.fileno()), "rb"))
        except NoOriginal as reason:
            raise NotServed(str(reason)) from None

    async def _drawn_now(self, original: Original, order: Order) -> Drawn:
        """Raises NotServed for a page that is not there, or takes too much."""
        async with self._drawing:
            process = await asyncio.create_subprocess_exec(
                *PROGRAM,
                str(original.file.fileno()),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                pass_fds=(original.file.fileno(),),
                cwd=Path(pdf_view.__file__).parent.parent,
            )
            try:
                async with asyncio.timeout(DRAW_S):
                    said, _ = await process.communicate(msgspec.json.encode(order))
            except TimeoutError:
                raise NotServed(f"drawing the page takes longer than {DRAW_S:g} s") from None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode == pdf_view.NO_PAGE:
            raise NotServed(f"the document has no page {order.page}")
        if process.returncode:
            raise NotServed("the page cannot be drawn: the file is damaged, or drawing it takes too much")
        return msgspec.msgpack.decode(said, type=Drawn)


class _Kept:
    """The pages drawn last, as many as their pictures fit."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._pages: OrderedDict[Order, Drawn] = OrderedDict()

    def get(self, key: Order) -> Drawn | None:
        if (found := self._pages.get(key)) is not None:
            self._pages.move_to_end(key)
        return found

    def put(self, key: Order, drawn: Drawn) -> None:
        if key not in self._pages:
            self._size += _size(key, drawn)
        self._pages[key] = drawn
        while self._size > self._most:
            self._size -= _size(*self._pages.popitem(last=False))


def _size(key: Order, drawn: Drawn) -> int:
    """In bytes, of the words too: a page of little to see may hold much to look for."""
    return len(drawn.picture) + 4 * len(key.words)


def _cited(searcher: Searcher, asked: PageAsked) -> tuple[str, float] | None:
    """The cited words that stand on the page, and how far down its text. Raises IndexProblem."""
    whole = searcher.stretch(asked.source_id, 0, 2**40, asked.groups, page=asked.page)
    if whole is None:
        return None
    page: Stretch = whole[1]
    start, end = max(asked.start, page.start), min(asked.end, page.end)
    if start >= end:
        return None
    near = (start - page.start) / max(1, page.end - page.start)
    return page.text[start - page.start : end - page.start], near
