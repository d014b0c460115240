"""The formats that are read: each declared as FORMATS, in a reader's module or by a plug-in, and found by its suffix."""

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import NamedTuple

from index.model import Document
from index.plugins import installed
from index.readers.introductions import introduced
from index.readers.unreadable import Unreadable


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
