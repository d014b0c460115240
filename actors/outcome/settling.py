"""Settle a verified draft: as an answer with its citations, or, with its reason, as the closest passages or a refusal."""

import msgspec

from actors.gate.citations import markers, strip_markers
from actors.gate.flags import NEVER_SHOWN
from actors.outcome.admissions import admits
from actors.outcome.closest import closest, near, passage_of
from actors.outcome.refusals import refuse, safe_text
from actors.outcome.regate_table import Decision
from bus.messages import (
    AnswerSettled,
    Citation,
    CitedPlace,
    Draft,
    Passage,
    Reference,
    Sentence,
    Settled,
    Span,
    WithheldSentence,
)
from prompts import notices
from prompts.vocabulary import Confidence, Reason


def settle(message: Draft, decision: Decision, *, must_cite: bool, profile_reply: str = "") -> AnswerSettled:
    """The end of the run: the kept sentences with their citations, or a refusal with its reason."""
    kept = kept_sentences(message)
    answer = message.shown if message.question.release != "draft" else "".join(s.text for s in kept).strip()
    citations = citations_of(answer, message.evidence)
    references = references_of(citations, message)
    reason: Reason | None = None
    if _was_never_to_be_seen(message):
        reason = "grounding_failed"
    elif not decision.keep:
        reason = "model_refused" if message.refused else _grounding_reason(message.sentences)
    elif admits(kept) and not references:
        return _admitted(message, decision, answer if answer.strip() else "".join(s.text for s in kept).strip())
    elif not any(map(str.isalnum, strip_markers(answer))):
        strong = any(flag.strength == "strong" for s in message.sentences for flag in s.flags)
        reason = "grounding_failed" if strong or message.contradictions else "citations_invalid"
    elif must_cite and not references:
        reason = "citations_invalid"
    if reason is not None:
        return _refused(message, reason, decision, profile_reply)
    return AnswerSettled(
        settled=Settled(
            outcome="answered",
            question=message.question.asked,
            answer=answer,
            confidence=_undisputed(decision.confidence, message),
            re_gate=decision.re_gate,
            citations=citations,
            references=references,
            withheld=withheld(message, kept),
            conflicts=message.conflicts,
            contradictions=message.contradictions,
            snapshot=message.snapshot,
            rounds=message.rounds,
            language=message.question.language,
            profile=message.question.profile,
            probability=message.probability,
        ),
        shown=message.shown,
    )


def _was_never_to_be_seen(message: Draft) -> bool:
    """Whether the client has seen what no release may show, so that nothing but withdrawing it is left."""
    kinds = {flag.kind for sentence in message.sentences for flag in sentence.flags}
    seen = NEVER_SHOWN if message.question.release == "token" else {"thinking"}
    return bool(message.shown) and not kinds.isdisjoint(seen)


def _undisputed(confidence: Confidence, message: Draft) -> Confidence:
    """The confidence of an answer, never high where its sources disagree."""
    return "medium" if confidence == "high" and message.conflicts else confidence


def _admitted(message: Draft, decision: Decision, text: str) -> AnswerSettled:
    """The model said itself that it does not know: the person gets its own words, and the closest passages."""
    said = _closest(message, "no_evidence", notice=text).settled
    return AnswerSettled(settled=_with(said, message, decision), shown=message.shown)


def _refused(message: Draft, reason: Reason, decision: Decision, profile_reply: str) -> AnswerSettled:
    """Without an answer: sentences that were shown are taken back; else the closest passages are shown, if any are near."""
    text = safe_text(message.question, message.evidence, profile_reply) if reason == "citations_invalid" else ""
    if message.shown:
        text = notices.withdrawn(message.question.language)
    elif near(message.question, _passages(message)):
        notice = safe_text(message.question, (), profile_reply) if text else ""
        return AnswerSettled(settled=_with(_closest(message, reason, notice=notice).settled, message, decision))
    refusal = refuse(
        message.question,
        reason,
        refuse_reason=message.refuse_reason,
        text=text,
        snapshot=message.snapshot,
        rounds=message.rounds,
    ).settled
    return AnswerSettled(settled=_with(refusal, message, decision), shown=message.shown, retract=bool(message.shown))


def _closest(message: Draft, reason: Reason, *, notice: str) -> AnswerSettled:
    return closest(
        message.question,
        reason,
        _passages(message),
        notice=notice,
        refuse_reason=message.refuse_reason,
        probability=message.probability,
        snapshot=message.snapshot,
        rounds=message.rounds,
    )


def _passages(message: Draft) -> list[Passage]:
    """The evidence as passages, best first."""
    return [passage_of(span) for span in sorted(message.evidence, key=lambda span: -span.score)]


def _with(ended: Settled, message: Draft, decision: Decision) -> Settled:
    return msgspec.structs.replace(
        ended,
        re_gate=decision.re_gate,
        withheld=tuple(WithheldSentence(text=s.text, flags=s.flags) for s in message.sentences if s.flags),
        conflicts=message.conflicts,
        contradictions=message.contradictions,
    )


def kept_sentences(message: Draft) -> tuple[Sentence, ...]:
    """What may be shown: under `token` all of it was; otherwise every sentence without a strong flag."""
    if message.question.release == "token":
        return message.sentences
    return tuple(s for s in message.sentences if not s.withheld and not any(f.strength == "strong" for f in s.flags))


def withheld(message: Draft, kept: tuple[Sentence, ...]) -> tuple[WithheldSentence, ...]:
    return tuple(WithheldSentence(text=s.text, flags=s.flags) for s in message.sentences if s not in kept)


def citations_of(answer: str, evidence: tuple[Span, ...]) -> tuple[Citation, ...]:
    """One entry per number of each marker, in text order, with the marker's position in the answer."""
    by_n = {span.n: span for span in evidence}
    return tuple(
        Citation(
            n=span.n,
            source_id=span.source_id,
            title=span.title,
            url=span.url,
            page=span.page,
            source_start=span.source_start,
            source_end=span.source_end,
            cited_text=span.text,
            answer_start=marker.start,
            answer_end=marker.end,
            about=span.about.if_any,
            block=span.block,
            anchor=span.anchor,
            intro=span.intro,
            headings=span.headings,
            lead=span.lead,
        )
        for marker in markers(answer)
        for number in marker.numbers
        if (span := by_n.get(number)) is not None
    )


def references_of(citations: tuple[Citation, ...], message: Draft) -> tuple[Reference, ...]:
    """The sources that the answer cites, each once, in order of first citation."""
    cited = [citation.source_id for citation in citations]
    cited += [source for source in message.cited if any(s.source_id == source for s in message.evidence)]
    best = {
        source: max((s for s in message.evidence if s.source_id == source), key=lambda s: s.score) for source in cited
    }
    return tuple(
        Reference(
            source_id=span.source_id,
            title=span.title,
            url=span.url,
            score=span.score,
            n=tuple(dict.fromkeys(c.n for c in citations if c.source_id == span.source_id)),
            about=span.about.if_any,
            cited=tuple({c.n: _cited(c) for c in citations if c.source_id == span.source_id}.values()),
        )
        for span in (best[source] for source in dict.fromkeys(cited))
    )


def _cited(citation: Citation) -> CitedPlace:
    """What the stream tells of a citation."""
    return CitedPlace(**{field: getattr(citation, field) for field in CitedPlace.__struct_fields__})


def _grounding_reason(sentences: tuple[Sentence, ...]) -> Reason:
    strong = {flag.kind for s in sentences for flag in s.flags if flag.strength == "strong"}
    return "citations_invalid" if strong == {"citation_out_of_range"} else "grounding_failed"
