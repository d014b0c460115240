"""Find what introduces a list, a table or code: the sentence before it, and for a nested item the item above it."""

import msgspec

from index.model import Block, Document
from index.text.passages import LONGEST_INTRO
from index.text.sentences import split

_COLONS = (":", "：", "؛")
#: The longest sentence that introduces what follows it without ending in a colon, in characters.
_SHORT = 200
#: A sentence of so few words and characters means nothing without the one before it.
_FEW_WORDS = 2
_TINY = 16
_SEVERAL = frozenset(("list_item", "table_header", "table_row", "definition"))


def introduced(document: Document) -> Document:
    """The document with `intro` set on its blocks, where a reader has not set it."""
    blocks: list[Block] = []
    leads: dict[str, tuple[int, int] | None] = {}  # of the list, the table and the definitions that may go on
    parents: list[Block] = []
    before: Block | None = None
    for block in document.blocks:
        result = block.intro
        goes_on = block.kind == "prose" and block.intro is not None  # a paragraph of an item, after its code or table
        if block.kind not in ("list_item", "code") and not goes_on:
            parents.clear()
        if block.kind in _SEVERAL:
            family = block.kind.partition("_")[0]
            if family not in leads or (family == "table" and before is not None and before.kind == "code"):
                leads[family] = _introduction(document.text, before, block)
            lead = leads[family]
            if block.kind == "list_item":
                parents = [parent for parent in parents if parent.level < block.level]
                result = result or ((parents[-1].start, parents[-1].end) if parents else lead)
                parents.append(block)
            result = result or lead
        elif block.kind == "code":
            result = result or _introduction(document.text, before, block)
        elif not goes_on:
            leads.clear()
        blocks.append(block if result == block.intro else msgspec.structs.replace(block, intro=result))
        before = before if goes_on else block
    return msgspec.structs.replace(document, blocks=tuple(blocks))


def _introduction(text: str, before: Block | None, block: Block) -> tuple[int, int] | None:
    """The last sentence of the block before, if it introduces this one; with the one before it where it is but "For example:"."""
    if before is None or before.kind not in ("prose", "list_item", "definition"):
        return None
    if before.kind != "prose" and block.kind != "code":
        return None
    sentences = split(text[before.start : before.end])
    if not sentences:
        return None
    start, end = (before.start + at for at in sentences[-1])
    announces = text[start:end].endswith(_COLONS)
    if not announces and (block.kind == "list_item" or end - start > _SHORT):
        return None
    if len(sentences) > 1 and len(text[start:end].split()) <= _FEW_WORDS and end - start <= _TINY:
        earlier = before.start + sentences[-2][0]
        start = earlier if end - earlier <= LONGEST_INTRO else start
    return start, end
