"""The data of an index: documents, passages, catalogue entries, hits."""

from collections.abc import Sequence
from typing import Literal

import msgspec

#: Increased by one whenever code for the old layout would misread the new one.
FORMAT = 3

BlockKind = Literal["text", "heading", "table", "list", "code"]
ScoreType = Literal["fusion", "bm25", "vector", "rerank"]


class Block(msgspec.Struct, frozen=True):
    """A stretch `start..end` of a document's text with one role. `level` is a heading's level, 1 the outermost."""

    start: int
    end: int
    kind: BlockKind = "text"
    level: int = 0


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A document as read. Blocks are in order and do not overlap; `pages` holds (offset, page number) of each page start."""

    source_id: str
    title: str
    text: str
    url: str = ""
    language: str | None = None
    blocks: tuple[Block, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()


class Passage(msgspec.Struct, frozen=True, array_like=True):
    """`text` is exactly `char_start..char_end` of its document. `number` is never reused within an index."""

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
    """A passage's title, headings and text: what both searches index."""
    return "\n".join(part for part in (passage.title, *passage.headings, passage.text) if part)


def first_places(passages: Sequence[Passage]) -> list[int]:
    """For each passage, the position here of its document's first passage; the passages of a document are adjacent."""
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

    `origin` names the file it came from and `stamp` that file's size and time: a file with the same stamp is not read
    again. `digest` covers everything that passages are made of: a document with the same digest is not indexed again.
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
    """One passage found. Ranks count from 1; None where that search did not return it.

    `score` is of type `score_type` ("fusion": 0 to 1, higher is better); `raw_score` is the score of a reranker or,
    without one, of the better search (BM25: above 0, unbounded; vector: cosine). A fused score compares hits of one
    query; `coverage`, the share (0 to 1) of the question that the passage contains, weighted by the rarity of its words,
    can be compared across queries. `also_in` are the sources of near-duplicate passages that were merged into this one.
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
