"""How a run ends, as its client gets it: the outcome, the answer with its citations, or the closest passages."""

import msgspec
from groundwire.wire import Citation, NearPassage, Part, Reference

from bus.wire.parts import Conflict, Contradiction, Flag
from prompts.vocabulary import Confidence, Cut, Outcome, Reason, Unrun


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
