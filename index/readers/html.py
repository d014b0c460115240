"""HTML by lxml: what a reader of the page sees, without scripts, menus and the foot of the page."""

import msgspec

from index.groups import narrowed
from index.model import Document, Metadata
from index.readers.building import TextBuilder
from index.readers.decoding import decode_declared
from index.readers.formats import Format, Source, Unreadable
from index.readers.front_matter import split_before_page
from index.readers.html_metadata import about
from index.readers.html_shown import parse
from index.readers.html_walk import Walk


def read_html(source: Source) -> Document:
    """Raises Unreadable for a page without text."""
    builder = TextBuilder()
    front, text = split_before_page(decode_declared(source.data))
    root = parse(text)
    if root is not None:
        Walk(builder).walk(root)
        if not builder:  # a page with all its text in its menus
            Walk(builder, everything=True).walk(root)
    if root is None or not builder:
        raise Unreadable("the page has no text", failed=False)
    page = about(root)
    return builder.finish(
        source.source_id,
        front.title or page.title or source.title,
        front.url or page.url,
        front.language or page.language,
        _both(front.metadata, page.metadata),
    )


def _both(front: Metadata, page: Metadata) -> Metadata:
    """The metadata of the front matter, else of the page. Raises Unreadable when they agree on no group."""
    groups = narrowed((front.groups or None, page.groups or None))
    if groups == ():
        raise Unreadable("its front matter and its head name groups and agree on none")
    text = {name: value for name, value in msgspec.structs.asdict(front).items() if value}
    return msgspec.structs.replace(page, **text | {"groups": groups or ()})


def read_fragment(builder: TextBuilder, html: str) -> None:
    """Add the blocks of an HTML fragment, inside another format; one without visible text adds nothing."""
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
        "title, author, dates, keywords, language and groups of the head or of front matter",
        "menus, search fields, the foot of the page, scripts, drawings, elements that a style sheet hides",
    ),
)
