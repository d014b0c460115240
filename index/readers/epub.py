"""EPUB: its pages in reading order, each read as HTML, and the metadata of its package."""

import io
import posixpath
import zipfile
from urllib.parse import unquote

from lxml import etree

from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.front_matter import iso_date
from index.readers.html import primary_language
from index.readers.html_inline import squeezed
from index.readers.html_shown import parse
from index.readers.html_walk import Walk
from index.readers.packages import opened
from index.readers.text import decode_declared
from index.readers.xml import parsed

_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(source: Source) -> Document:
    """Raises Unreadable."""
    builder = TextBuilder()
    with opened(source.data, "EPUB"), zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        rootfile = parsed(archive.read("META-INF/container.xml"), "EPUB").find(".//{*}rootfile")
        if rootfile is None:
            raise Unreadable("no readable EPUB (its container names no package)")
        package = parsed(archive.read(rootfile.get("full-path", "")), "EPUB")
        names = set(archive.namelist())
        protected = archive.read("META-INF/encryption.xml") if "META-INF/encryption.xml" in names else b""
        for page in _pages(package, posixpath.dirname(rootfile.get("full-path", ""))):
            if page.encode() in protected:
                raise Unreadable("protected against copying; only its owner's programs read it")
            root = parse(decode_declared(archive.read(page))) if page in names else None
            if root is not None:
                Walk(builder).walk(root)
    if not builder:
        raise Unreadable("the book has no text", failed=False)
    return builder.finish(
        source.source_id,
        next(iter(_said(package, "title")), "") or source.title,
        language=primary_language(next(iter(_said(package, "language")), "")),
        metadata=Metadata(
            author=", ".join(_said(package, "creator")),
            date=next(filter(None, map(iso_date, _said(package, "date"))), ""),
            tags=tuple(_said(package, "subject")),
        ),
    )


def _pages(package: etree._Element, folder: str) -> list[str]:
    """The names of the pages in the archive, in reading order, without the table of contents."""
    items = {item.get("id"): item for item in package.findall(".//{*}manifest/{*}item")}
    order = [items.get(reference.get("idref")) for reference in package.findall(".//{*}spine/{*}itemref")]
    return [
        posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "").partition("#")[0])))
        for item in order
        if item is not None and item.get("media-type") in _PAGES and "nav" not in item.get("properties", "").split()
    ]


def _said(package: etree._Element, name: str) -> list[str]:
    result = (squeezed("".join(one.itertext())).strip() for one in package.iterfind(f".//{{*}}metadata//{{*}}{name}"))
    return list(dict.fromkeys(filter(None, result)))


FORMATS = (
    Format(
        "EPUB",
        (".epub",),
        read_epub,
        "lxml",
        "as HTML, page by page in reading order; title, authors, date, subjects, language",
        "the table of contents, pictures",
    ),
)
