"""HTML by lxml: what a reader of the page sees, without scripts, menus and the foot of the page."""

from index.model import Document
from index.readers.building import TextBuilder
from index.readers.decoding import decode_declared
from index.readers.formats import Format, Source
from index.readers.html_metadata import about
from index.readers.html_parse import parse
from index.readers.html_walk import Walk
from index.readers.unreadable import Unreadable


def read_html(source: Source) -> Document:
    """Raises Unreadable for a page without text."""
    builder = TextBuilder()
    root = parse(decode_declared(source.data))
    if root is not None:
        Walk(builder).walk(root)
        if not builder:  # a page whose whole text stands in its menus
            Walk(builder, everything=True).walk(root)
    if root is None or not builder:
        raise Unreadable("the page has no text", failed=False)
    page = about(root)
    return builder.finish(source.source_id, page.title or source.title, page.url, page.language, page.metadata)


def read_fragment(builder: TextBuilder, html: str) -> None:
    """Add the blocks of a piece of HTML, as it stands inside another format; a piece without visible text adds nothing."""
    root = parse(html)
    if root is not None:
        Walk(builder).walk(root)


FORMATS = (
    Format(
        "HTML",
        (".html", ".htm", ".xhtml"),
        read_html,
        "lxml",
        "headings with their anchors, lists, tables with merged cells, code, quotations, definitions, footnotes, templates; "
        "title, author, dates, keywords and language of the head",
        "menus, search fields, the foot of the page, scripts, drawings, what a style sheet hides",
    ),
)
