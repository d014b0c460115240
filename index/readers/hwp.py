"""HWP and HWPX, the formats of the Hangul word processor, by rhwp."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable, refused
from index.readers.front_matter import iso_date
from index.readers.html import read_fragment

if TYPE_CHECKING:
    from rhwp.ir.nodes import Block


def read_hwp(source: Source) -> Document:
    """Raises Unreadable."""
    try:
        import rhwp
    except ImportError as error:
        raise Unreadable("install groundwire[formats] to read it", failed=False) from error
    with refused("no readable HWP, or protected by a password", ValueError, OSError, RuntimeError):
        document = rhwp.Document.from_bytes(source.data).to_ir()
    builder = TextBuilder()
    _add(builder, document.body)
    for note in (*document.furniture.footnotes, *document.furniture.endnotes):
        builder.add(f"[{note.number}] {_text(note.blocks)}")
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    value = document.metadata
    return builder.finish(
        source.source_id,
        (value.title or "").strip() or source.title,
        metadata=Metadata(
            author=value.author or "",
            date=iso_date(value.modification_time or "") or iso_date(value.creation_time or ""),
        ),
    )


def _add(builder: TextBuilder, blocks: Iterable["Block"]) -> None:
    for block in blocks:
        if block.kind == "paragraph":
            builder.add(block.text)
        elif block.kind == "list_item":  # the library does not count: each item of a numbered list has the number 1
            builder.add(f"- {block.text.strip()}" if block.text.strip() else "", "list_item", block.level + 1)
        elif block.kind == "table":
            builder.add(block.caption or "")
            read_fragment(builder, block.html)
        elif block.kind == "picture":
            builder.add(block.description or "")
            if block.caption:
                _add(builder, block.caption.blocks)
        elif block.kind == "formula":
            builder.add(block.text_alt or block.script)
        elif block.kind == "field":
            builder.add(block.cached_value or "")


def _text(blocks: Iterable["Block"]) -> str:
    builder = TextBuilder()
    _add(builder, blocks)
    return " ".join(builder.finish("", "").text.split())


FORMATS = (
    Format(
        "Hangul word processor",
        (".hwp", ".hwpx"),
        read_hwp,
        "rhwp-python",
        "paragraphs, lists, tables with merged cells, captions, notes; title, author, date",
        "headings as such, numbers of list items, headers and footers, text boxes",
        extra="formats",
    ),
)
