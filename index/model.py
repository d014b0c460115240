"""The data of an index: documents, passages, catalogue entries, hits, and the groups that may see a document.

Of groups: how their names are compared, and what several statements about one document come to.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

import msgspec

#: Names of groups; None: public. Empty: only for callers who see every document.
type Groups = tuple[str, ...] | None


def group_name(name: str) -> str:
    """The name as names are compared: accents in one spelling, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def narrowed(named: Iterable[Groups]) -> Groups:
    left: Groups = None
    for groups in named:
        if groups is not None:
            own = dict.fromkeys(map(group_name, groups))
            left = tuple(name for name in own if left is None or name in left)
    return left


def access_digest(documents: Mapping[str, Groups]) -> str:
    """A digest of the groups of every document; empty without groups."""
    named = sorted((source_id, *groups) for source_id, groups in documents.items() if groups is not None)
    return hashlib.sha256(repr(named).encode("utf-8", "surrogatepass")).hexdigest()[:32] if named else ""


def counted(documents: Iterable[Groups]) -> dict[str, int]:
    """How many documents each group sees besides public documents, for display; empty when all are public."""
    counts = Counter[str]()
    for groups in documents:
        counts.update(("(everybody)",) if groups is None else groups or ("(nobody)",))
    return dict(sorted(counts.items())) if set(counts) - {"(everybody)"} else {}


def counts_line(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


#: Increased by one whenever code for the old layout would misread the new one.
FORMAT = 6

#: The characters that a URL's path and fragment keep.
URL_SAFE = "!$&'()*+,;=:@/-._~"
_WORD = re.compile(r"[^\W_]+")

BlockKind = Literal[
    "prose", "heading", "list_item", "table_header", "table_row", "code", "quotation", "definition", "link"
]
ScoreType = Literal["fusion", "bm25", "vector"]


class Block(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """The stretch `start..end` of a document's text, in one role; offsets are characters of the document, never of a passage.

    `level`: a heading's, 1 the outermost; a list item's depth, 1 the outermost. `intro`: the stretch that introduces this one
    and without which it cannot be read: the sentence before a list, a table or a code block, the parent of a nested item.
    `anchor`: the fragment that opens this place, an element's id or `Sheet1!A2:D2`. `syntax`: the language of code, as the
    document names it.

    A table row contains its column names (`Country: France | Code: FR`); the header is once above the rows.
    """

    start: int
    end: int
    kind: BlockKind = "prose"
    level: int = 0
    intro: tuple[int, int] | None = None
    anchor: str = ""
    syntax: str = ""


class Metadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The metadata of a document.

    `date` is ISO 8601, a day or a moment. `replaces` names the document that this one takes the place of: its source id or its
    title, or the sentences of the text that say so. Only callers in one of `groups` see the document; without any it is
    everybody's. `recognized`: its text, or some of it,
    was read from pictures (OCR). `saved`: the date is when a program saved the file, and may be none of its text.
    """

    author: str = ""
    date: str = ""
    version: str = ""
    replaces: str = ""
    tags: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    recognized: bool = False
    saved: bool = False


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A document as read. Blocks are in order, do not overlap, and hold all that a person sees.

    `pages` holds (offset, page number) of each page start. `language` is the declared language.
    """

    source_id: str
    title: str
    text: str
    url: str = ""
    language: str | None = None
    blocks: tuple[Block, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    metadata: Metadata = Metadata()


class Passage(msgspec.Struct, frozen=True, array_like=True):
    """`text` is exactly `char_start..char_end` of its document. `number` is never reused within an index.

    `headings` lead to its first block; `blocks` are those it holds, the parts of a block cut in two included. `intros` are the
    texts before the passage that introduce blocks of it. `anchor` is that of its section.

    The rest puts the document together again: `before` is its text between the passage before and this one, `after` what follows
    the last one, `pages` the starts of pages inside; `goes_on`: its first block began in the passage before.
    """

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
    blocks: tuple[Block, ...] = ()
    intros: tuple[str, ...] = ()
    anchor: str = ""
    before: str = ""
    after: str = ""
    pages: tuple[tuple[int, int], ...] = ()
    goes_on: bool = False

    @property
    def link(self) -> str:
        """The published page, opened at this passage's heading, or at its page in a PDF."""
        if not self.url or "#" in self.url:
            return self.url
        if self.anchor:
            return f"{self.url}#{quote(self.anchor, safe=URL_SAFE)}"
        return f"{self.url}#page={self.page}" if self.page and self.url.lower().endswith(".pdf") else self.url


def indexed_text(passage: "Passage | Hit") -> str:
    """A passage's title, file name, headings, introductions and text: what both searches index and a reranker reads."""
    return "\n".join(part for part in (_named(passage), *passage.headings, *passage.intros, passage.text) if part)


def _named(passage: "Passage | Hit") -> str:
    return f"{passage.title} {file_words(passage.source_id, passage.title)}".strip()


@lru_cache(maxsize=4096)
def file_words(source_id: str, title: str) -> str:
    """The words of the file's name that the title lacks: "facture plombier" of facture-plombier.docx, "" for most."""
    stem, held = source_id.rpartition("/")[2].rpartition(".")[0], title.casefold()
    return " ".join(word for word in _WORD.findall(stem) if word.casefold() not in held)


def own_headings(passage: Passage) -> str:
    """The headings directly above a passage: its section's and those in it."""
    inside = (block for block in passage.blocks if block.kind == "heading")
    start = passage.char_start
    return "\n".join(
        [*passage.headings[-1:], *(passage.text[block.start - start : block.end - start] for block in inside)]
    )


def all_headings(passage: Passage, own: str) -> str:
    """The title, the file name and every heading above a passage or in it, of which `own` are those directly above it."""
    return "\n".join([_named(passage), *passage.headings[:-1], own])


def first_places(passages: Sequence[Passage]) -> list[int]:
    """For each passage, the position here of its document's first passage; the passages of a document are adjacent."""
    positions: list[int] = []
    for position, passage in enumerate(passages):
        before = passages[position - 1] if position else None
        goes_on = (
            before is not None and before.source_id == passage.source_id and before.char_start < passage.char_start
        )
        positions.append(positions[-1] if goes_on else position)
    return positions


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One document in the catalogue; its passages are `first .. first+count-1`.

    `origin` names the file it came from and `stamp` that file's size and time: a file with the same stamp is not opened
    again. `content` is the digest of the bytes that it was read from: the same bytes are not read again. `digest` covers
    everything that passages are made of: a document with the same digest is not indexed again. `language` is the document's
    own, not that of single passages. `formerly` are the ids from before its file was moved, the oldest first.
    `access` are its groups by access.toml (access.py), `member` its file's path in the archive that it came in.
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
    language: str = ""
    metadata: Metadata = Metadata()
    content: str = ""
    formerly: tuple[str, ...] = ()
    access: Groups = None
    member: str = ""

    @property
    def groups(self) -> Groups:
        """The groups that may see it: those that both access.toml and the document itself name."""
        if self.access is None and not self.metadata.groups:
            return None
        return narrowed((self.access, self.metadata.groups or None))


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One passage found. Ranks count from 1; None where that search did not return it.

    `score` is of type `score_type` ("fusion": 0 to 1, higher is better); `raw_score` is that of the better search (BM25: above
    0, unbounded; vector: cosine). Where a reranker was asked, `rerank_score` is its score as it gave it, higher is better, and
    the hits are in its order. A fused score compares hits of one query; `coverage`, the share (0 to 1) of the question that the
    passage contains, weighted by the rarity of its words, can be compared across queries, and so can
    `cosine`. `also_in` are the sources of near-duplicate passages that were merged into this one.
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
    blocks: tuple[Block, ...] = ()
    intros: tuple[str, ...] = ()
    metadata: Metadata = Metadata()
    bm25_rank: int | None = None
    vector_rank: int | None = None
    bm25_score: float | None = None
    vector_score: float | None = None
    raw_score: float = 0.0
    rerank_score: float | None = None
    coverage: float | None = None
    cosine: float | None = None
    also_in: tuple[str, ...] = ()
