"""How a run ends without an answer, in the person's language.

Also: recognise an admission of uncertainty: "I don't know", "the documents do not say".

An admission needs no citation. A sentence that goes on to claim something ("but …"), or that cites, is not an admission.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from actors.gate.check import reveals
from actors.text.limit import limited
from actors.text.links import defang
from bus.wire.messages import AnswerSettled, Flag, Question, Sentence, Settled, Span
from index.languages import union
from index.languages.characters import normal
from index.languages.detection import detect
from index.text.citations import markers, strip_markers
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


LONGEST: Final = 240
#: Flags that apply to a claim but not to an admission, which by its nature denies and cites nothing.
EXCUSED: Final = frozenset({"uncited", "unverified", "reversed_term"})

_SAYS: Final = union(
    lambda language: [
        pattern.replace("SOURCES", language.terms.admissions.sources) for pattern in language.terms.admissions.says
    ],
    re.NOFLAG,
)
_GOES_ON: Final = union(lambda language: language.terms.admissions.goes_on, re.NOFLAG)


def is_admission(sentence: str) -> bool:
    """Whether a sentence only states that the answer is unknown or not in the sources."""
    if len(sentence) > LONGEST or markers(sentence):
        return False
    text = normal(sentence).strip()
    return bool(_SAYS.search(text)) and not _GOES_ON.search(text)


def excused(sentence: str, flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    """The flags without those that only come from being an admission."""
    if not any(flag.kind in EXCUSED for flag in flags) or not is_admission(sentence):
        return flags
    return tuple(flag for flag in flags if flag.kind not in EXCUSED)


def admits(sentences: Sequence[Sentence]) -> bool:
    """Whether an answer is nothing but an admission, apart from questions and headings."""
    texts = [s.text.strip() for s in sentences if any(map(str.isalnum, s.text))]
    return any(map(is_admission, texts)) and all(is_admission(text) or _claims_nothing(text) for text in texts)


def _claims_nothing(text: str) -> bool:
    return not markers(text) and (text.endswith(("?", "？", "؟", ":", "：")) or text.startswith("#"))
