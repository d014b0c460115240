"""What readers share: their declaration, the document that they build block by block, and why a file was skipped.

Each format is declared as FORMATS, in a reader's module or by a plug-in, and found by its suffix. What no person would see is not
added to a document; visible text is in one of the blocks. A document that was read gets what introduces each list, table and code:
the sentence before it, and for a nested item the item above it.
"""

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import NamedTuple

import msgspec

from index.model import Block, BlockKind, Document, Metadata
from index.plugins import installed
from index.text.passages import LONGEST_INTRO
from index.text.sentences import CELLS, split


class Unreadable(Exception):
    """The reason, for the report. `failed` False: nothing is wrong with the file, but it holds nothing to index."""

    def __init__(self, reason: str, *, failed: bool = True) -> None:
        super().__init__(reason)
        self.failed = failed


@contextmanager
def refused(what: str, *known: type[Exception]) -> Iterator[None]:
    """Makes Unreadable, with what the library said, of the known exceptions of a library for a damaged file and of its panics.

    What a panic raises is no Exception and has no name to catch it by.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, known) and type(error).__name__ != "PanicException":
            raise
        raise Unreadable(f"{what} ({' '.join(str(error).split())[:160]})") from error


_COLONS = (":", "：", "؛")
#: The longest sentence that introduces what follows it without ending in a colon, in characters.
_SHORT = 200
#: A sentence of so few words and characters means nothing without the one before it.
_FEW_WORDS = 2
_TINY = 16
#: The longest paragraph that is a label of the list below it.
_LABEL = 60
_ITEMS = ("list_item", "link")
_SEVERAL = frozenset((*_ITEMS, "table_header", "table_row", "definition"))


def introduced(document: Document) -> Document:
    """The document with `intro` set on its blocks, where a reader has not set it."""
    blocks: list[Block] = []
    leads: dict[str, tuple[int, int] | None] = {}  # of the list, the table and the definitions that may go on
    parents: list[Block] = []
    before: Block | None = None
    for block in document.blocks:
        result = block.intro
        goes_on = block.kind == "prose" and block.intro is not None  # a paragraph of an item, after its code or table
        if block.kind not in (*_ITEMS, "code") and not goes_on:
            parents.clear()
        if block.kind in _SEVERAL:
            family = "list" if block.kind in _ITEMS else block.kind.partition("_")[0]
            if family not in leads or (family == "table" and before is not None and before.kind == "code"):
                leads[family] = _introduction(document.text, before, block)
            lead = leads[family]
            if block.kind in _ITEMS:
                parents = [parent for parent in parents if parent.level < block.level]
                result = result or ((parents[-1].start, parents[-1].end) if parents else lead)
                parents.append(block)
            result = result or lead
        elif block.kind == "code":
            result = result or _introduction(document.text, before, block)
        elif not goes_on:
            leads.clear()
        blocks.append(block if result == block.intro else msgspec.structs.replace(block, intro=result))
        before = before if goes_on else block
    return msgspec.structs.replace(document, blocks=tuple(blocks))


def _introduction(text: str, before: Block | None, block: Block) -> tuple[int, int] | None:
    """The last sentence of the block before, if it introduces this one; with the one before it where it is but "For example:"."""
    if before is None or before.kind not in ("prose", "list_item", "definition"):
        return None
    if before.kind != "prose" and block.kind != "code":
        return None
    sentences = split(text[before.start : before.end])
    if not sentences:
        return None
    start, end = (before.start + at for at in sentences[-1])
    announces = text[start:end].endswith(_COLONS) or (len(sentences) == 1 and _is_label(text[start:end]))
    if not announces and (block.kind == "list_item" or end - start > _SHORT):
        return None
    if len(sentences) > 1 and len(text[start:end].split()) <= _FEW_WORDS and end - start <= _TINY:
        earlier = before.start + sentences[-2][0]
        start = earlier if end - earlier <= LONGEST_INTRO else start
    return start, end


def _is_label(sentence: str) -> bool:
    """Whether a paragraph only names what follows: a few words that do not end as a sentence."""
    return len(sentence) <= _LABEL and "\n" not in sentence and (sentence[-1].isalnum() or sentence[-1] in ")）")


class Source(NamedTuple):
    """One file's bytes. `title` is what the document is called if it has no title of its own; `suffix` is lower case, `.pdf`."""

    data: bytes
    source_id: str
    title: str
    suffix: str


class Format(NamedTuple):
    """A row of the table of formats in the docs. `read` raises Unreadable; it imports its library when called, not before.

    `keeps` and `leaves` say what of the format becomes blocks and what does not. `extra`: what has to be installed for it.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source], Document]
    library: str
    keeps: str
    leaves: str = ""
    extra: str = ""


#: Formats that are known and not read, with what to do about a file of theirs.
KNOWN_UNREAD: dict[str, str] = {
    ".adoc": "AsciiDoc; convert it to HTML with asciidoctor",
    ".asciidoc": "AsciiDoc; convert it to HTML with asciidoctor",
    ".pages": "Apple Pages; export it as .docx",
    ".key": "Apple Keynote; export it as .pptx",
    ".numbers": "Apple Numbers; export it as .xlsx",
    ".tex": "LaTeX; index the PDF that it makes",
    ".ps": "PostScript; convert it to PDF with ps2pdf",
    ".djvu": "DjVu; convert it to PDF with ddjvu",
    ".mobi": "a Kindle book; convert it to .epub with Calibre",
    ".azw3": "a Kindle book; convert it to .epub with Calibre",
    ".chm": "compiled HTML help; unpack it to HTML with 7-Zip",
    ".one": "OneNote; export it as PDF",
    ".dbk": "DocBook; convert it to HTML with pandoc",
    ".docbook": "DocBook; convert it to HTML with pandoc",
    ".dita": "DITA; publish it as HTML with the DITA Open Toolkit",
    ".nxml": "JATS; convert it to HTML with pandoc",
    ".tei": "TEI; convert it to HTML with TEI's stylesheets",
    ".fb2": "FictionBook; convert it to .epub with Calibre",
    ".opml": "OPML; convert it to HTML with pandoc",
    ".vsdx": "Visio; export it as PDF",
    ".xps": "XPS; print it as PDF",
}


@cache
def all_formats() -> tuple[Format, ...]:
    """Every format, in the order of their names."""
    package = __name__.rpartition(".")[0]
    modules = [name for _, name, _ in pkgutil.iter_modules(import_module(package).__path__)]
    declared = [getattr(import_module(f"{package}.{name}"), "FORMATS", ()) for name in modules]
    declared += [plugin.load() for plugin in installed("formats").values()]
    return tuple(sorted((one for some in declared for one in some), key=lambda one: one.name))


@cache
def by_suffix() -> dict[str, Format]:
    return {suffix: one for one in all_formats() for suffix in one.suffixes}


def read(source: Source) -> Document:
    """The document in a file of a known suffix. Raises Unreadable."""
    try:
        document = by_suffix()[source.suffix].read(source)
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # libraries fail in their own ways on odd files: that costs the document, nothing else
        raise Unreadable(f"its reader failed ({type(error).__name__}: {str(error)[:120]})") from error
    if not any(map(str.isalnum, document.text)):
        raise Unreadable("no text in it", failed=False)
    return introduced(document)


_NO_METADATA = Metadata()
#: Kinds that follow each other without an empty line.
_LINES = frozenset(("list_item", "table_header", "table_row"))


class TextBuilder:
    """Separates blocks by an empty line, so that no sentence runs from one into the next; items and rows by a line break."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pages: list[tuple[int, int]] = []

    def page(self, number: int, back: int = 0) -> None:
        """A page begins with the next block, or that many characters before the end of the last one."""
        self._pages.append((self._length - back, number))

    def add(
        self,
        text: str,
        kind: BlockKind = "prose",
        level: int = 0,
        *,
        anchor: str = "",
        syntax: str = "",
        intro: tuple[int, int] | None = None,
    ) -> tuple[int, int] | None:
        """The block's range. Code keeps its indentation; a text without a visible character adds nothing."""
        text = text.strip("\n").rstrip() if kind == "code" else text.strip()
        if not text.strip():
            return None
        if self._blocks:
            close = kind in _LINES and self._blocks[-1].kind in _LINES
            gap = "\n" if close else "\n\n"
            self._parts.append(gap)
            self._length += len(gap)
            if self._pages and self._pages[-1][0] == self._length - len(gap):
                self._pages[-1] = (self._length, self._pages[-1][1])
        start, end = self._length, self._length + len(text)
        self._blocks.append(Block(start, end, kind, level, intro, anchor, syntax))
        self._parts.append(text)
        self._length = end
        return start, end

    def table(self, rows: Iterable[Sequence[str]], columns: Sequence[str] = ()) -> None:
        """A table's header and rows. Without names of columns each row is its cells."""
        self.add(row(columns), "table_header")
        for cells in rows:
            self.add(row(cells, columns), "table_row")

    def __bool__(self) -> bool:
        return bool(self._parts)

    def finish(
        self,
        source_id: str,
        title: str,
        url: str = "",
        language: str | None = None,
        metadata: Metadata = _NO_METADATA,
    ) -> Document:
        return Document(
            source_id=source_id,
            title=title,
            text="".join(self._parts),
            url=url,
            language=language,
            blocks=tuple(self._blocks),
            pages=tuple(self._pages),
            metadata=metadata,
        )


def row(cells: Sequence[str], columns: Sequence[str] = ()) -> str:
    """One table row, each cell with its column's name; empty cells are left out where names distinguish the others."""
    cleaned = [" ".join(cell.split()) for cell in cells]
    names = [" ".join(name.split()) for name in columns]
    if any(names):
        names += [""] * (len(cleaned) - len(names))
        named = zip(names, cleaned, strict=False)
        return CELLS.join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
    while cleaned and not cleaned[-1]:
        cleaned.pop()
    return CELLS.join(cleaned)


def roman(number: int) -> str:
    """In small letters."""
    values = (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")
    text = ""
    for worth, sign in (*values, (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
        text += sign * (number // worth)
        number %= worth
    return text
