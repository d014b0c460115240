"""How a run ends, as its client gets it: the outcome, the answer with its citations, or the closest passages."""

import msgspec

from bus.wire.parts import About, Conflict, Contradiction, Flag, Part
from prompts.vocabulary import Confidence, Cut, Outcome, Reason, Unrun


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

    `headings` lead to it. A record as clients read it has two fields more for its first passage, unless the passage has no word of
    the question: `best`, the sentence with most words of the question as a stretch of `text`, and `missing`, the words it lacks.
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
    missing: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class WithheldSentence(Part, frozen=True, kw_only=True):
    text: str
    flags: tuple[Flag, ...]


class UnverifiedSentence(Part, frozen=True, kw_only=True):
    """A sentence of the answer that goes beyond its sources: its place in the answer, and why it is marked."""

    text: str
    answer_start: int
    answer_end: int
    flags: tuple[Flag, ...] = ()


class Settled(Part, frozen=True, kw_only=True):
    """How a run ends for its client. `answer` is the full text they are shown; `passages` are the closest ones, shown as such.

    `probability`: that the answer answers the question, as measured; None when it is not known. `unrun`: why nothing was run, of
    a run that ended before it began; for an invalid one, `code` and `detail` name the fault, and
    `retry_after_s` is of one that was refused for lack of time.
    `withdrawn`: what was shown and taken back; `citations` and `references` are then of it. `cut`:
    why `answer` ends before its end.
    """

    outcome: Outcome
    question: str = ""
    reason: Reason | None = None
    answer: str = ""
    detail: str = ""
    confidence: Confidence | None = None
    re_gate: str | None = None
    citations: tuple[Citation, ...] = ()
    references: tuple[Reference, ...] = ()
    withheld: tuple[WithheldSentence, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    snapshot: str = ""
    rounds: int = 1
    language: str = ""
    profile: str = "general"
    passages: tuple[NearPassage, ...] = ()
    probability: float | None = None
    unrun: Unrun | msgspec.UnsetType = msgspec.UNSET
    code: str | msgspec.UnsetType = msgspec.UNSET
    retry_after_s: int | msgspec.UnsetType = msgspec.UNSET
    withdrawn: str | msgspec.UnsetType = msgspec.UNSET
    cut: Cut | msgspec.UnsetType = msgspec.UNSET
    unverified: tuple[UnverifiedSentence, ...] | msgspec.UnsetType = msgspec.UNSET
