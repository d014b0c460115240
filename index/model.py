"""What goes in, what is kept and what comes out: documents, passages, catalogue entries, hits."""

from collections.abc import Sequence
from typing import Literal

import msgspec

#: Raised by one whenever a reader of an older layout would misread a newer one.
FORMAT = 3

BlockKind = Literal["text", "heading", "table", "list", "code"]
ScoreType = Literal["fusion", "bm25", "vector", "rerank"]


class Block(msgspec.Struct, frozen=True):
    """A stretch `start..end` of a document's text that has one role. `level` is a heading's, 1 the outermost."""

    start: int
    end: int
    kind: BlockKind = "text"
    level: int = 0


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A document as read. Blocks are in order and do not overlap; `pages` holds (offset, page number) where a page begins."""

    source_id: str
    title: str
    text: str
    url: str = ""
    language: str | None = None
    blocks: tuple[Block, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()


class Passage(msgspec.Struct, frozen=True, array_like=True):
    """`text` is exactly `char_start..char_end` of its document. `number` is never used twice in one index."""

    number: int
    source_id: str
    title: str
    url: str
    language: str
    text: str
    char_start: int
    char_end: int
    page: int | None
    headings: tuple[str, ...]


def indexed_text(passage: Passage) -> str:
    """A passage's title, headings and text: what both sides of the search are made from."""
    return "\n".join(part for part in (passage.title, *passage.headings, passage.text) if part)


def first_places(passages: Sequence[Passage]) -> list[int]:
    """For each passage the place, among these, of the first one of its document; a document's passages follow one another."""
    places: list[int] = []
    for place, passage in enumerate(passages):
        before = passages[place - 1] if place else None
        goes_on = (
            before is not None and before.source_id == passage.source_id and before.char_start < passage.char_start
        )
        places.append(places[-1] if goes_on else place)
    return places


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One document in the catalogue; its passages are `first .. first+count-1`.

    `origin` names the file it came from and `stamp` that file's size and time: an unchanged stamp is not read again.
    `digest` is of all that the passages are made of: an unchanged digest is not indexed again.
    """

    source_id: str
    title: str
    url: str
    origin: str
    stamp: str
    digest: str
    first: int
    count: int
    characters: int


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One passage found. Ranks count from 1, None where that side did not return it.

    `score` is of `score_type` ("fusion": 0 to 1, higher is better); `raw_score` is what a reranker or, without one, the
    better side itself said (BM25: above 0, no upper end; vector: cosine). A fused score says how a hit compares with the
    others of its query; `coverage`, the share of the question that the passage holds, 0 to 1 by the rarity of its words, can
    be compared between queries. `also_in` are the sources of passages that say the same and were folded into this one.
    """

    source_id: str
    title: str
    url: str
    score: float
    score_type: ScoreType
    text: str
    char_start: int
    char_end: int
    language: str
    snapshot: str
    passage: int = -1
    page: int | None = None
    headings: tuple[str, ...] = ()
    bm25_rank: int | None = None
    vector_rank: int | None = None
    bm25_score: float | None = None
    vector_score: float | None = None
    raw_score: float = 0.0
    coverage: float | None = None
    also_in: tuple[str, ...] = ()
