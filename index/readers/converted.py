"""Formats that kreuzberg turns into HTML, without a simpler reader."""

import re

from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable, refused
from index.readers.front_matter import iso_date
from index.readers.html import read_fragment

_TYPES = {
    ".rtf": "application/rtf",
    ".doc": "application/msword",
    ".ppt": "application/vnd.ms-powerpoint",
    ".msg": "application/vnd.ms-outlook",
    ".org": "text/org",
}
_NOTE = re.compile(r"\[\^(\w+)\]:?")


def read_converted(source: Source) -> Document:
    """Raises Unreadable."""
    try:
        import kreuzberg
    except ImportError as error:
        raise Unreadable("install groundwire[formats] to read it", failed=False) from error
    config = kreuzberg.ExtractionConfig(
        output_format="html", use_cache=False, tree_sitter=kreuzberg.TreeSitterConfig(enabled=False)
    )
    with refused("not readable", kreuzberg.KreuzbergError, ValueError, OSError, RuntimeError):
        result = kreuzberg.extract_bytes_sync(source.data, _TYPES[source.suffix], config=config)
    builder = TextBuilder()
    read_fragment(builder, _NOTE.sub(r"[\1]", result.content) if source.suffix == ".rtf" else result.content)
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    text = {name: value for name, value in dict(result.metadata or {}).items() if value}
    date = next(
        filter(None, (iso_date(str(text.get(name, ""))) for name in ("modified_at", "created_at", "directive_date"))),
        "",
    )
    authors = text.get("authors") or text.get("directive_author") or []
    title = text.get("title") or text.get("subject") or text.get("directive_title") or source.title
    return builder.finish(
        source.source_id,
        str(title),
        metadata=Metadata(
            author=authors if isinstance(authors, str) else ", ".join(map(str, authors)),
            date=date,
            saved=bool(date) and source.suffix in (".rtf", ".doc", ".ppt"),
        ),
    )


def _format(name: str, suffix: str, keeps: str, leaves: str) -> Format:
    return Format(name, (suffix,), read_converted, "kreuzberg", keeps, leaves, extra="formats")


FORMATS = (
    _format("Rich Text", ".rtf", "headings, tables, notes; title, author, date", "most list items as such"),
    _format("Word 97", ".doc", "headings, paragraphs; title, author, date", "lists and tables as such"),
    _format("PowerPoint 97", ".ppt", "headings, paragraphs; title, author", "tables, pages"),
    _format("Outlook message", ".msg", "sender, receivers, date, subject, text", "attachments, line breaks"),
    _format("Org", ".org", "headings, lists, tables, code, quotations, notes", "emphasis: its marks stay in the text"),
)
