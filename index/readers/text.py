"""Plain text: the document's text is the file's own, so every offset is an offset into the file."""

import re
from collections.abc import Iterator

from index.languages import every, union
from index.model import Block, Document
from index.readers.decoding import decode
from index.readers.formats import Format, Source

_PART = union(lambda language: language.headings.part).pattern
_CHAPTER = union(lambda language: language.headings.chapter).pattern
_SECTION = union(lambda language: language.headings.section).pattern
_HEADING = re.compile(
    rf"^[ \t]*(?:(?P<part>{_PART})|(?P<chapter>{_CHAPTER})|(?P<section>{_SECTION}))[^\n.。!?]{{0,60}}$", re.MULTILINE
)

_LETTERS = "".join(sorted(set("".join(every(lambda language: language.sentences.enumerators.split())))))
_ITEM = re.compile(
    rf"^(?P<indent>[ \t]*)(?P<mark>(?:[-*+•‣▪●○◦–]|\(?\d{{1,3}}[.)]|[{_LETTERS or '.'}][.)])[ \t]+(?=\S)|[①-⑳][ \t]*(?=\S))",
    re.MULTILINE,
)
_PARAGRAPH = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<syntax>[\w+#.-]*)[^\n`]*\n(?:.*\n)*?[ \t]*(?P=fence)[ \t]*$"
    r"|^.*\S.*(?:\n(?!(?:```|~~~)).*\S.*)*",
    re.MULTILINE,
)
_INDENTED = re.compile(r"(?:(?: {4}|\t).*\n?)+")
_COLONS = ":："
_STOPS = ".!?。！？؟" + _COLONS


def read_text(source: Source) -> Document:
    text = decode(source.data)
    return Document(source_id=source.source_id, title=source.title, text=text, blocks=chapters(text))


def chapters(text: str) -> tuple[Block, ...]:
    """Blocks of a plain text: lines such as `Chapter 3` are headings, everything between them paragraphs, items and code."""
    blocks: list[Block] = []
    at = 0
    for match in _HEADING.finditer(text):
        blocks += _paragraphs(text, at, match.start())
        level = 1 if match["part"] else 2 if match["chapter"] else 3
        blocks.append(Block(match.start(), match.end(), "heading", level))
        at = match.end()
    blocks += _paragraphs(text, at, len(text))
    return tuple(blocks)


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    """What empty lines part; a fence keeps those inside it."""
    announced = False
    for match in _PARAGRAPH.finditer(text, start, end):
        begin, stop = match.start(), match.start() + len(match[0].rstrip())
        begin += len(match[0]) - len(match[0].lstrip("\n"))
        if match["fence"] or (announced and _INDENTED.fullmatch(text, begin, stop)):
            yield Block(begin, stop, "code", syntax=match["syntax"] or "" if match["fence"] else "")
        else:
            yield from _items(text, begin, stop)
        announced = text[stop - 1] in _COLONS


def _items(text: str, start: int, end: int) -> Iterator[Block]:
    """A paragraph, or the items in it: from the first line that begins one, each to the next."""
    marks = list(_ITEM.finditer(text, start, end))
    while marks and not _begins(text, start, marks):
        marks.pop(0)
    edges = [*(mark.start("mark") for mark in marks), end]
    if edges[0] > start and (before := text[start : edges[0]].strip()):
        begin = text.index(before[0], start)
        yield Block(begin, begin + len(before))
    indents: list[int] = []
    for mark, stop in zip(marks, edges[1:], strict=True):
        indent = len(mark["indent"].expandtabs(4))
        indents = [outer for outer in indents if outer < indent] + [indent]
        begin = mark.start("mark")
        yield Block(begin, begin + len(text[begin:stop].rstrip()), "list_item", len(indents))


def _begins(text: str, start: int, marks: list[re.Match[str]]) -> bool:
    """Whether the first mark begins a list and is no dash or number that a line was broken at."""
    before = text[start : marks[0].start()].rstrip()
    return not before or before[-1] in _COLONS or (len(marks) > 1 and before[-1] in _STOPS)


FORMATS = (
    Format(
        "Plain text",
        (".txt", ".text", ".log"),
        read_text,
        "charset-normalizer",
        "lines such as `Chapter 3` as headings, paragraphs, lists, code",
    ),
)
