"""The next step after retrieval: a request for the answer style that fits, or the end of the run with its reason."""

from typing import Literal

from msgspec import UNSET

from actors.evidence.conflicts import conflicts_in, opposing
from actors.evidence.standing import out_of_date
from actors.outcome.closest import closest
from actors.question.profile import profile_of
from bus.wire.messages import AnswerRequested, AnswerSettled, PassagesReady, Question, Span
from prompts import notices
from prompts.vocabulary import Reason, Style


def unanswerable(message: PassagesReady) -> AnswerSettled:
    """The closest passages, or the refusal that fits: the missing aspects if judges named any, else that nothing was found."""
    searched = any(analysis.judged for analysis in message.analyses)
    reason: Reason = "no_evidence" if message.passages or searched else "no_results"
    return closest(
        message.question,
        "insufficient" if message.missing else reason,
        (*message.passages, *message.near),
        notice=needed(message.question),
        missing=message.missing,
        snapshot=message.snapshot,
        rounds=message.rounds,
    )


def needed(question: Question) -> str:
    """The words that a model is needed, where the question asks for a new text; else empty."""
    return notices.declined_text("needs_model", question.language) if question.needs_model else ""


def style_of(message: PassagesReady) -> Style:
    question = message.question
    kind: Literal["simple", "complex"] = "complex" if message.complex else "simple"
    style = profile_of(question.profile).style(question.text, kind, question.style)
    # An exercise gets a hint, also where its solution was requested in a shape.
    return style if question.constraints.response_schema is UNSET or style == "hint" else "simple"


def requested(message: PassagesReady, evidence: tuple[Span, ...], probability: float | None = None) -> AnswerRequested:
    """The request, with the contradictions of other passages added to the evidence."""
    evidence = (*evidence, *opposing(evidence, message.passages))
    return AnswerRequested(
        style=style_of(message),
        question=message.question,
        evidence=evidence,
        analyses=message.analyses,
        conflicts=conflicts_in(evidence, out_of_date(message.passages, message.question.text)),
        snapshot=message.snapshot,
        rounds=message.rounds,
        probability=probability,
    )
