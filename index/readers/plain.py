"""Plain text, Markdown and CSV: the document's text is the file's own, so every offset is an offset into the file."""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from index.languages import union
from index.model import Block, BlockKind, Document

_PART = union(lambda language: language.headings.part).pattern
_CHAPTER = union(lambda language: language.headings.chapter).pattern
_SECTION = union(lambda language: language.headings.section).pattern
_HEADING = re.compile(
    rf"^[ \t]*(?:(?P<part>{_PART})|(?P<chapter>{_CHAPTER})|(?P<section>{_SECTION}))[^\n.。!?]{{0,60}}$", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_FIELD = re.compile(r"^(title|url|language)[ \t]*:[ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE)
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "fence": "code",
    "code_block": "code",
}
_markdown = MarkdownIt("commonmark").enable("table")


def read_text(text: str, source_id: str, title: str) -> Document:
    return Document(source_id=source_id, title=title, text=text, blocks=chapters(text))


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


def read_csv(text: str, source_id: str, title: str) -> Document:
    return Document(source_id=source_id, title=title, text=text, blocks=(Block(0, len(text), "table"),))


def read_markdown(text: str, source_id: str, title: str) -> Document:
    """The title comes from the front matter, else from the first heading of the highest level, else from `title`."""
    front = _FRONT_MATTER.match(text)
    fields = dict(_FRONT_FIELD.findall(front[1])) if front else {}
    skipped = front.end() if front else 0
    starts = [skipped, *(found.end() for found in re.finditer("\n", text[skipped:]))]
    starts = [starts[0], *(skipped + start for start in starts[1:])]
    blocks = tuple(_blocks(_markdown.parse(text[skipped:]), starts, text))
    return Document(
        source_id=source_id,
        title=fields.get("title") or _first_heading(blocks, text) or title,
        text=text,
        url=fields.get("url", ""),
        language=fields.get("language") or None,
        blocks=blocks,
    )


def _blocks(tokens: list[Token], starts: list[int], text: str) -> list[Block]:
    """The outermost blocks; whatever is inside a list or a table belongs to it."""
    blocks: list[Block] = []
    for token in tokens:
        if token.level or token.map is None or token.type == "html_block":
            continue
        start = starts[min(token.map[0], len(starts) - 1)]
        end = starts[token.map[1]] if token.map[1] < len(starts) else len(text)
        kind = _KINDS.get(token.type, "text")
        while end > start and text[end - 1].isspace():
            end -= 1
        if end > start and not (blocks and blocks[-1].end > start):
            blocks.append(Block(start, end, kind, int(token.tag[1]) if kind == "heading" else 0))
    return _introduced(blocks, text)


def _introduced(blocks: list[Block], text: str) -> list[Block]:
    """A line that ends with a colon belongs to the list or table it introduces."""
    merged = list(blocks)
    for before, after in pairwise(blocks):
        introduces = before.kind == "text" and after.kind in ("list", "table") and before.end - before.start < 300
        if introduces and text[before.start : before.end].endswith((":", "：", "؛")):
            merged.remove(before)
            merged[merged.index(after)] = Block(before.start, after.end, after.kind)
    return merged


def _first_heading(blocks: tuple[Block, ...], text: str) -> str:
    headings = [block for block in blocks if block.kind == "heading"]
    if not headings:
        return ""
    first = min(headings, key=lambda block: (block.level, block.start))
    return re.sub(r"^[#\s]+|[#\s=-]+$", "", text[first.start : first.end])
