"""How a run ends without an answer, in the person's language."""

from collections.abc import Sequence

from msgspec import UNSET

from actors.gate.check import reveals
from actors.text.limit import limited
from actors.text.links import defang
from bus.wire.messages import AnswerSettled, Question, Settled, Span
from index.languages.detection import detect
from index.text.citations import strip_markers
from prompts import notices
from prompts.thinking import without_thinking
from prompts.vocabulary import DeclinedKind, Reason


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
    answer, cut = limited(
        text or notices.reason_text(reason, question.language, missing=missing, refuse_reason=refuse_reason),
        question.constraints,
    )
    return AnswerSettled(
        settled=Settled(
            outcome="refused",
            question=question.asked,
            reason=reason,
            answer=answer,
            detail=refuse_reason or ", ".join(missing),
            snapshot=snapshot,
            rounds=rounds,
            language=question.language,
            profile=question.profile,
            cut=cut,
        )
    )


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
    answer, cut = limited(text or notices.declined_text(kind, question.language), question.constraints)
    return AnswerSettled(
        settled=Settled(
            outcome="declined",
            question=question.asked,
            answer=answer,
            detail=kind,
            language=question.language,
            profile=question.profile,
            cut=cut,
        )
    )


def fail(question: Question, reason: Reason, detail: str = "", *, shown_text: str = "") -> AnswerSettled:
    """The run failed because a power was unavailable; what was shown stays shown, and an error follows it."""
    return AnswerSettled(
        settled=Settled(
            outcome="failed",
            question=question.asked,
            reason=reason,
            answer=shown_text,
            detail=detail,
            language=question.language,
            profile=question.profile,
        ),
        shown=shown_text,
    )


def safe_text(question: Question, evidence: tuple[Span, ...], profile_reply: str = "") -> str:
    """The safe reply, then the ids that do exist."""
    ids = list(dict.fromkeys(span.source_id for span in evidence))
    return notices.safe_reply(question.language, ids, profile_reply=profile_reply)


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
    if settled.outcome == "cancelled":
        return notices.cancelled(language)
    if settled.reason is not None:
        return notices.reason_text(settled.reason, language)
    if settled.unrun == "overloaded":
        return notices.overloaded(language)
    return notices.failed(language)
