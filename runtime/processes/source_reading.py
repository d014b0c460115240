"""The search process's answers about single documents: their text, and their list."""

import msgspec

from bus.powers.sources import (
    LONGEST,
    Found,
    ListAsked,
    ListedSource,
    NotServed,
    PageAsked,
    PieceAsked,
    Question,
    SourceList,
    SourceText,
    TextAsked,
    fits,
    no_such_source,
)
from bus.wire.fields import same_fields
from bus.wire.messages import About, Block
from index.documents.originals import has_own_file, media_type
from index.model import Entry
from index.search.searcher import Searcher
from index.source_paths import openable, original_path, source_path
from runtime.processes.source_files import OnIndex, SourceFiles

_NOT_WHOLE = (
    "this document was indexed before the text between its passages was kept, which is shown as line breaks;"
    " an index built into a new folder has it"
)


class Sources:
    """Answers questions about documents. `originals`: whether their own files may be opened."""

    def __init__(self, on_index: OnIndex, *, originals: bool) -> None:
        self._on_index = on_index
        self._originals = originals
        self._files = SourceFiles(on_index)

    async def find(self, question: Question) -> Found:
        """Raises NoSuchSource, NotServed, Unavailable."""
        match question:
            case TextAsked():
                text = await self._on_index(lambda searcher: text_of(searcher, question))
                return text if self._originals else msgspec.structs.replace(text, original="", media_type="")
            case ListAsked():
                return await self._on_index(lambda searcher: list_of(searcher, question))
            case _ if not self._originals:
                raise NotServed("files are not served here; the setting index.originals lets them be")
            case PieceAsked():
                return await self._files.piece(question)
            case PageAsked():
                return await self._files.page(question)


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
            detail="" if held.whole else _NOT_WHOLE,
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
