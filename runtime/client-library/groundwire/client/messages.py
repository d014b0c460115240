"""What a question and its answer look like. Every field that a server may leave out has a default; fields unknown here are ignored.

Offsets count characters (Unicode code points). Times are seconds, `asked_at` and `finished_at` seconds since the epoch.
"""

from datetime import date
from typing import Literal

import msgspec

from groundwire.wire import (
    About,
    Block,
    CheckedSpan,
    Citation,
    Context,
    ListedSource,
    NearPassage,
    Reference,
    StageTiming,
    StructuredAnswer,
    Turn,
)

#: The characters of an answer that a `repr` shows.
LONGEST_SHOWN = 200


class _Struct(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what the server sends."""


class _Asked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of requests; the server has its own defaults."""


# ---------------------------------------------------------------- asked


class Filter(_Asked, frozen=True, kw_only=True):
    """Only documents that fit every field given. `path` is a pattern as in gitignore; of several tags one is enough."""

    path: str | None = None
    tag: str | tuple[str, ...] | None = None
    language: str | None = None
    after: date | None = None


class Constraints(_Asked, frozen=True, kw_only=True):
    max_tokens: int | None = None
    style: str | None = None
    must_cite: bool | None = None


class Question(_Asked, frozen=True, kw_only=True):
    """A question. None is the server's choice; with an `idempotency_key`, a repeated question is the same run.

    `conversation`: the id of the run that began the conversation which this question continues.
    """

    question: str
    conversation_history: tuple[Turn, ...] = ()
    profile: str = "general"
    style: Literal["simple", "report", "synthesis", "structured", "hint"] | None = None
    language: str | None = None
    contexts: tuple[Context, ...] | None = None
    filter: Filter | None = None
    constraints: Constraints | None = None
    release: Literal["sentence", "draft", "token"] | None = None
    voice: Literal["strict", "helpful"] | None = None
    priority: Literal["interactive", "batch"] = "interactive"
    events: Literal["default", "all"] = "default"
    on_disconnect: Literal["continue", "cancel"] = "continue"
    deadline_s: float | None = None
    idempotency_key: str | None = None
    conversation: str | None = None


# ---------------------------------------------------------------- answered


class Flag(_Struct, frozen=True, kw_only=True):
    """What was found wrong with a sentence."""

    kind: str
    strength: str = ""
    words: str = ""
    evidence_n: tuple[int, ...] = ()
    why: str = ""


class WithheldSentence(_Struct, frozen=True, kw_only=True):
    text: str
    flags: tuple[Flag, ...] = ()


class UnverifiedSentence(_Struct, frozen=True, kw_only=True):
    """A sentence of the answer that goes beyond its sources, and why."""

    text: str
    answer_start: int = 0
    answer_end: int = 0
    flags: tuple[Flag, ...] = ()


class Run(_Struct, frozen=True, kw_only=True):
    """The record of a run. `outcome` is None while it runs; `reason` and `detail` say why there is no answer.

    `withdrawn`: what was shown and taken back. `cut`: why the answer ends early: `length`.
    """

    run_id: str
    status: Literal["running", "finished"]
    question: str = ""
    profile: str = ""
    conversation: str = ""
    language: str = ""
    outcome: str | None = None
    reason: str | None = None
    detail: str = ""
    answer: str = ""
    withdrawn: str = ""
    structured: StructuredAnswer | None = None
    cut: str | None = None
    confidence: str | None = None
    probability: float | None = None
    re_gate: str | None = None
    citations: tuple[Citation, ...] = ()
    references: tuple[Reference, ...] = ()
    passages: tuple[NearPassage, ...] = ()
    nearby: tuple[NearPassage, ...] = ()
    missing: tuple[str, ...] = ()
    unverified: tuple[UnverifiedSentence, ...] = ()
    withheld: tuple[WithheldSentence, ...] = ()
    withheld_share: float = 0.0
    snapshot: str = ""
    model: str = ""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    asked_at: float = 0.0
    finished_at: float | None = None
    took_s: float | None = None
    first_shown_s: float | None = None
    stages: tuple[StageTiming, ...] = ()

    def __repr__(self) -> str:
        """One line: the id, how the run stands, the beginning of the text, the cited documents."""
        text = self.answer or self.detail
        text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
        sources = ", ".join(each.source_id for each in self.references)
        return f"Run({self.run_id!r}, {self.outcome or self.status}, {text!r}, sources: {sources or 'none'})"


class Cancelled(_Struct, frozen=True, kw_only=True):
    """`cancelled` is false if the run had already ended."""

    run_id: str
    cancelled: bool
    outcome: str | None = None


class Hit(_Struct, frozen=True, kw_only=True):
    """A search result; a higher score is better, `score_type` names its kind."""

    source_id: str
    title: str = ""
    url: str = ""
    score: float = 0.0
    score_type: str = ""
    text: str = ""
    char_start: int = 0
    char_end: int = 0
    language: str = ""
    page: int | None = None
    headings: tuple[str, ...] = ()
    about: About = About()


class Hits(_Struct, frozen=True, kw_only=True):
    """Best first; `snapshot` is the index's they come from. `detail`: why there can be none."""

    hits: tuple[Hit, ...] = ()
    snapshot: str = ""
    detail: str = ""


class CheckedSentence(_Struct, frozen=True, kw_only=True):
    """`verdict` is verified, contradicted, unverified, not_covered or no_claim. `words`: those in dispute."""

    text: str
    start: int = 0
    end: int = 0
    verdict: str = ""
    why: str = ""
    words: str = ""
    spans: tuple[CheckedSpan, ...] = ()


class Checked(_Struct, frozen=True, kw_only=True):
    """The sentences in order, and how many have each verdict."""

    sentences: tuple[CheckedSentence, ...] = ()
    counts: dict[str, int] = {}
    snapshot: str = ""


class SourceText(ListedSource, frozen=True, kw_only=True):
    """A document, and the characters `start..end` of its text.

    `original`: the path of the file itself, empty where it is not served. `page_starts` are pairs of an offset and the page that
    starts there.
    """

    snapshot: str = ""
    start: int = 0
    end: int = 0
    text: str = ""
    blocks: tuple[Block, ...] = ()
    pages: int | None = None
    page_starts: tuple[tuple[int, int], ...] = ()
    original: str = ""
    media_type: str = ""


class SourceList(_Struct, frozen=True, kw_only=True):
    """Documents by id; `count` is how many there are in all. `next`: what `after` is for the next, empty at the end."""

    items: tuple[ListedSource, ...] = ()
    count: int = 0
    snapshot: str = ""
    next: str = ""
