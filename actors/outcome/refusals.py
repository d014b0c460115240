"""How a run ends without an answer, in the person's language."""

from collections.abc import Sequence

from msgspec import UNSET

from actors.gate.check import reveals
from actors.text.limit import limited
from actors.text.links import defang
from bus.wire.messages import AnswerSettled
from bus.wire.parts import Question, Span
from bus.wire.settled import Settled
from index.languages.detection import detect
from index.text.citations import strip_markers
from prompts import notices
from prompts.thinking import without_thinking
from prompts.vocabulary import DeclinedKind, Outcome, Reason


def ended(
    question: Question,
    outcome: Outcome,
    text: str,
    reason: Reason | None = None,
    detail: str = "",
    snapshot: str = "",
    rounds: int = 1,
) -> Settled:
    """The end of a run with a text in place of an answer, as much of it as the request allows."""
    answer, cut = limited(text, question.constraints)
    return Settled(
        outcome=outcome,
        question=question.asked,
        reason=reason,
        answer=answer,
        detail=detail,
        snapshot=snapshot,
        rounds=rounds,
        language=question.language,
        profile=question.profile,
        cut=cut,
    )


def refuse(
    question: Question,
    reason: Reason,
    *,
    missing: tuple[str, ...] = (),
    refuse_reason: str = "",
    text: str = "",
    snapshot: str = "",
    rounds: int = 1,
) -> AnswerSettled:
    """A refusal with its reason; `text` replaces the reason's standard words."""
    missing, refuse_reason = fit_parts(missing, question), fit(refuse_reason, question)
    text = text or notices.reason_text(reason, question.language, missing=missing, refuse_reason=refuse_reason)
    detail = refuse_reason or ", ".join(missing)
    return AnswerSettled(settled=ended(question, "refused", text, reason, detail, snapshot, rounds))


def fit(reason: str, question: Question) -> str:
    """A model's reason for a refusal as it may be shown; empty when it has something that no answer may show."""
    written = without_thinking(reason)
    if reveals(written, [question.asked]):
        return ""
    harmless = defang(written, ())
    return strip_markers(harmless) if question.renumbered else harmless  # a refusal has no references


def fit_parts(missing: Sequence[str], question: Question) -> tuple[str, ...]:
    """The names of the missing parts as they may be shown, each once; a part that names another one is left out."""
    parts = dict.fromkeys(filter(None, (fit(one, question) for one in missing)))
    return tuple(part for part in parts if not any(other in part and other != part for other in parts))


def decline(question: Question, kind: DeclinedKind, *, text: str = "") -> AnswerSettled:
    text = text or notices.declined_text(kind, question.language)
    return AnswerSettled(settled=ended(question, "declined", text, detail=kind))


def fail(question: Question, reason: Reason, detail: str) -> AnswerSettled:
    """The run failed because a power was unavailable."""
    return AnswerSettled(settled=ended(question, "failed", "", reason, detail))


def safe_text(question: Question, evidence: tuple[Span, ...]) -> str:
    """The safe reply, then the ids that do exist."""
    ids = list(dict.fromkeys(span.source_id for span in evidence))
    return notices.safe_reply(question.language, ids)


def code_of(settled: Settled) -> str:
    if settled.unrun == "invalid":
        return settled.code or "invalid"
    if settled.unrun is not UNSET:
        return "overloaded" if settled.unrun == "overloaded" else "unavailable"
    return settled.reason or ("cancelled" if settled.outcome == "cancelled" else "internal")


def words_of(settled: Settled) -> str:
    """The words for the person, in the language of the question."""
    if settled.unrun == "invalid":
        return settled.detail  # for a program: the same sentence as over HTTP
    language = settled.language or detect(settled.question)
    if settled.reason is not None and settled.outcome != "cancelled":
        return notices.reason_text(settled.reason, language)
    why = "overloaded" if settled.unrun == "overloaded" else "failed"
    return notices.text("replies", "cancelled" if settled.outcome == "cancelled" else why, language)
