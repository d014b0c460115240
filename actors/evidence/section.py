"""The section of a stretch: the kind of its block, the headings above it, its introduction, its address."""

from collections.abc import Iterator
from urllib.parse import quote

import msgspec
from groundwire.wire import Block

from actors.evidence.thresholds import HEADING_CHARS
from bus.wire.parts import Passage
from index.model import URL_SAFE
from index.source_paths import is_ours, source_path
from index.text.passages import LONGEST_INTRO


class SpanSection(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a Span of the same names; `block`: of a stretch that begins with an introduction, the introduced kind."""

    url: str
    block: str
    anchor: str
    intro: str
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]


def section_of(passage: Passage, start: int, end: int) -> SpanSection:
    """The section of `start..end` (offsets of the document) in a passage."""
    blocks = tuple(_inside(passage.blocks, start, end))
    readable = [block for block in blocks if block.kind not in ("heading", "table_header")]
    first = readable[0] if readable else None
    introduced = next((block for block in readable if not _introduces(block, readable)), first)
    headings, anchor = _above(passage, start)
    return SpanSection(
        url=source_path(passage.source_id, start, end) if is_ours(passage.url) else _opened(passage.url, anchor),
        block=introduced.kind if introduced else "",
        anchor=introduced.anchor if introduced else "",
        intro=_introduction(passage, first, start, end),
        headings=headings,
        blocks=blocks,
    )


def _introduces(block: Block, others: list[Block]) -> bool:
    return any(other.intro is not None and block.start <= other.intro[0] < block.end for other in others)


def _opened(url: str, anchor: str) -> str:
    """The address opened at that anchor; unchanged if its fragment is itself an address."""
    page, _, fragment = url.partition("#")
    if not url or not anchor or fragment.startswith(("/", "!")):
        return url
    return f"{page}#{quote(anchor, safe=URL_SAFE)}"


def introductions(passage: Passage) -> dict[tuple[int, int], str]:
    """The texts that introduce blocks of a passage, by their stretch in the document."""
    before = list(passage.intros)
    texts: dict[tuple[int, int], str] = {}
    for block in passage.blocks:
        if block.intro is None or block.intro in texts:
            continue
        first, last = block.intro
        if first >= passage.char_start:
            texts[block.intro] = passage.text[first - passage.char_start : last - passage.char_start]
        elif before and len(before[0]) in (last - first, LONGEST_INTRO):  # each text once, in the order of the blocks
            texts[block.intro] = before.pop(0)
    return texts


def _introduction(passage: Passage, block: Block | None, start: int, end: int) -> str:
    """The introduction of the block, if it is not part of the stretch."""
    if block is None or block.intro is None or start <= block.intro[0] < end:
        return ""
    return introductions(passage).get(block.intro, "")


def _inside(blocks: tuple[Block, ...], start: int, end: int) -> Iterator[Block]:
    for block in blocks:
        if block.start < end and start < block.end:
            cut = block.start < start or end < block.end
            yield (
                msgspec.structs.replace(block, start=max(block.start, start), end=min(block.end, end)) if cut else block
            )


def _above(passage: Passage, start: int) -> tuple[tuple[str, ...], str]:
    """The headings that lead to this place, and the anchor of the nearest one in the passage that has one."""
    # The levels of the headings above the passage are not known: they are taken to be 1, 2, 3.
    path = [(level, title, "") for level, title in enumerate(passage.headings, 1)]
    for block in passage.blocks:
        if block.kind != "heading" or block.start > start:
            continue
        text = passage.text[block.start - passage.char_start : block.end - passage.char_start]
        path = [above for above in path if above[0] < max(block.level, 1)]
        path.append((max(block.level, 1), " ".join(text.lstrip("# ").split())[:HEADING_CHARS], block.anchor))
    return tuple(title for _, title, _ in path), next((anchor for _, _, anchor in reversed(path) if anchor), "")
