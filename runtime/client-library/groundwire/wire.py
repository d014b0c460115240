"""Types that the bus, the edge and the Python client share: parts of questions, answers and documents. It imports msgspec alone."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

#: The HTTP status of each error event that means no answer; any other takes back what was shown.
FAILURES = {
    "timeout": 504,
    "model_unavailable": 503,
    "model_too_long": 500,
    "model_rejected": 500,
    "model_over_quota": 503,
    "model_malformed": 500,
    "internal": 500,
    "cancelled": 409,
    "overloaded": 429,
    "unavailable": 503,
    "invalid": 422,
    "no_such_profile": 422,
}


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Base of everything inside a message."""


class Turn(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    role: Literal["user", "assistant"]
    content: Annotated[str, Meta(max_length=4000)]


class ContextMetadata(Part, frozen=True, kw_only=True):
    """What the caller knows about a given context; unknown fields are ignored."""

    source_id: Annotated[str, Meta(min_length=1, max_length=256)]
    language: str = ""
    title: str = ""
    url: str = ""
    page: int | None = None


class Context(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A passage that the caller supplies in place of retrieval."""

    content: Annotated[str, Meta(max_length=20_000)]
    metadata: ContextMetadata
    score: float = 1.0
    score_type: str = "given"


class About(Part, frozen=True, kw_only=True, omit_defaults=True):
    """A source's own metadata. `date` is ISO 8601, with `saved` when a program saved the file; `recognized`: read by OCR."""

    author: str = ""
    date: str = ""
    version: str = ""
    replaces: str = ""
    tags: tuple[str, ...] = ()
    recognized: bool = False
    saved: bool = False

    @property
    def if_any(self) -> "About | None":
        """None for a source without metadata."""
        return None if self == About() else self


class Block(Part, frozen=True, kw_only=True, omit_defaults=True):
    """A stretch of a source in one role: `kind` is prose, heading, list_item, table_header, table_row, code, quotation or
    definition. `level` is a heading's, or an item's depth. `intro` is the stretch that introduces it, before it in the source.
    """

    start: int
    end: int
    kind: str = "prose"
    level: int = 0
    intro: tuple[int, int] | None = None
    anchor: str = ""
    syntax: str = ""


class CitedPlace(Part, frozen=True, kw_only=True, omit_defaults=True):
    """One cited span of a source; `block` and on as in Span."""

    n: int
    url: str
    page: int | None
    source_start: int
    source_end: int
    cited_text: str
    block: str = ""
    anchor: str = ""
    intro: str = ""
    headings: tuple[str, ...] = ()
    lead: tuple[int, int] | None = None


class Reference(Part, frozen=True, kw_only=True, omit_defaults=True):
    """A source that the answer cites: `n` are the markers that cite it, `cited` what they cite of it."""

    source_id: str
    title: str
    url: str
    score: float
    about: About | None = None
    n: tuple[int, ...] = ()
    cited: tuple[CitedPlace, ...] = ()


class NearPassage(Part, frozen=True, kw_only=True):
    """A passage shown as one of the closest, not as an answer. `marked`: stretches of `text` that match the question.

    `headings` lead to it. `best` is the sentence that answers most likely, as a stretch of `text`. `outdated`: its document is out
    of date; the title of what replaces it, empty where only the document itself says so. A record as
    clients read it also has the words of the question that this passage lacks as `missing`, unless it has none of them.
    """

    source_id: str
    title: str
    url: str
    page: int | None
    source_start: int
    source_end: int
    text: str
    marked: tuple[tuple[int, int], ...]
    score: float
    headings: tuple[str, ...] = ()
    best: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
    outdated: str | msgspec.UnsetType = msgspec.UNSET
    missing: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class Citation(Part, frozen=True, kw_only=True, omit_defaults=True):
    """What one marker points to: a slice of the source, and the marker's place in the answer; `block` and on as in Span.

    `sentence`: the one of the slice that the marked sentence repeats, as offsets of the source; only records that are read have it.
    """

    n: int
    source_id: str
    title: str
    url: str
    page: int | None
    source_start: int
    source_end: int
    cited_text: str
    answer_start: int
    answer_end: int
    about: About | None = None
    block: str = ""
    anchor: str = ""
    intro: str = ""
    headings: tuple[str, ...] = ()
    lead: tuple[int, int] | None = None
    sentence: tuple[int, int] | None = None


class StageTiming(Part, frozen=True, kw_only=True):
    """One actor's work on one lane. `began_s` counts from the question's arrival; `fallback`: why its model did not decide."""

    stage: str
    lane: str
    began_s: float
    took_s: float
    attempt: int = 1
    fallback: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class StructuredAnswer(Part, frozen=True, kw_only=True):
    """An answer of the style `structured`, without its markers; a withheld `summary` is empty. `citations`: `source_id`s.

    `notice`: that sources disagree, and how; empty where they do not.
    """

    summary: str
    details: tuple[str, ...]
    citations: tuple[str, ...]
    notice: str = ""


class CheckedSpan(Part, frozen=True, kw_only=True):
    """`text` is the characters `start..end` of the source. `against`: its words that say otherwise than the sentence."""

    source_id: str
    title: str
    url: str
    page: int | None
    start: int
    end: int
    text: str
    against: str = ""


class Source(Part, frozen=True, kw_only=True):
    source_id: str
    title: str
    url: str
    score: float


class ListedSource(Part, frozen=True, kw_only=True):
    """A document. `url` is where it is published, or else the path of its page here; `characters` is how long its text is."""

    source_id: str
    title: str
    url: str
    language: str
    characters: int
    passages: int
    about: About = About()
