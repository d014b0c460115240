"""Markdown by markdown-it-py."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from index.model import Block, BlockKind, Document
from index.readers.decoding import decode
from index.readers.formats import Format, Source

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_FIELD = re.compile(r"^(title|url|language)[ \t]*:[ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE)
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "table_open": "table_row",
    "bullet_list_open": "list_item",
    "ordered_list_open": "list_item",
    "fence": "code",
    "code_block": "code",
}
_markdown = MarkdownIt("commonmark").enable("table")


def read_markdown(source: Source) -> Document:
    """The title comes from the front matter, else from the first heading of the highest level, else from `source`."""
    text = decode(source.data)
    front = _FRONT_MATTER.match(text)
    fields = dict(_FRONT_FIELD.findall(front[1])) if front else {}
    skipped = front.end() if front else 0
    starts = [skipped, *(found.end() for found in re.finditer("\n", text[skipped:]))]
    starts = [starts[0], *(skipped + start for start in starts[1:])]
    blocks = tuple(_blocks(_markdown.parse(text[skipped:]), starts, text))
    return Document(
        source_id=source.source_id,
        title=fields.get("title") or _first_heading(blocks, text) or source.title,
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
        kind = _KINDS.get(token.type, "prose")
        while end > start and text[end - 1].isspace():
            end -= 1
        if end > start and not (blocks and blocks[-1].end > start):
            blocks.append(Block(start, end, kind, int(token.tag[1]) if kind == "heading" else 0))
    return blocks


def _first_heading(blocks: tuple[Block, ...], text: str) -> str:
    headings = [block for block in blocks if block.kind == "heading"]
    if not headings:
        return ""
    first = min(headings, key=lambda block: (block.level, block.start))
    return re.sub(r"^[#\s]+|[#\s=-]+$", "", text[first.start : first.end])


FORMATS = (
    Format(
        "Markdown", (".md", ".markdown"), read_markdown, "markdown-it-py", "headings, lists, tables, code, front matter"
    ),
)
