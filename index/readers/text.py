"""Plain text: the document's text is the file's own, so every offset is an offset into the file."""

import re

from index.languages import union
from index.model import Block, Document
from index.readers.decoding import decode
from index.readers.formats import Format, Source

_PART = union(lambda language: language.headings.part).pattern
_CHAPTER = union(lambda language: language.headings.chapter).pattern
_SECTION = union(lambda language: language.headings.section).pattern
_HEADING = re.compile(
    rf"^[ \t]*(?:(?P<part>{_PART})|(?P<chapter>{_CHAPTER})|(?P<section>{_SECTION}))[^\n.。!?]{{0,60}}$", re.MULTILINE
)


def read_text(source: Source) -> Document:
    text = decode(source.data)
    return Document(source_id=source.source_id, title=source.title, text=text, blocks=chapters(text))


def chapters(text: str) -> tuple[Block, ...]:
    """Blocks of a plain text: lines such as `Chapter 3` are headings, everything between them is text."""
    blocks: list[Block] = []
    at = 0
    for found in _HEADING.finditer(text):
        if found.start() > at:
            blocks.append(Block(at, found.start()))
        level = 1 if found["part"] else 2 if found["chapter"] else 3
        blocks.append(Block(found.start(), found.end(), "heading", level))
        at = found.end()
    if at < len(text):
        blocks.append(Block(at, len(text)))
    return tuple(blocks)


FORMATS = (
    Format(
        "Plain text",
        (".txt", ".text", ".log"),
        read_text,
        "charset-normalizer",
        "lines such as `Chapter 3` as headings",
    ),
)
