"""Settle a verified draft: as an answer with its citations, or, with its reason, as the closest passages or a refusal."""

from collections.abc import Iterator, Sequence
from itertools import compress

import msgspec
from msgspec import UNSET

from actors.gate.flags import standing
from actors.outcome.admissions import admits, is_admission
from actors.outcome.closest import closest, near, passage_of
from actors.outcome.refusals import refuse, safe_text
from actors.outcome.regate_table import Decision
from actors.question.profile import profile_of
from actors.text.aligned import aligned, line_break
from actors.text.limit import limited
from actors.text.numbering import numbered
from bus.runs.citing import citations_of, references_of
from bus.wire.messages import AnswerSettled, Draft
from bus.wire.parts import Conflict, Passage, Question, Sentence
from bus.wire.settled import Settled, UnverifiedSentence, WithheldSentence
from index.masking import mask, values_in
from index.text.citations import markers, strip_markers
from prompts import notices
from prompts.vocabulary import Confidence, Reason


def settle(message: Draft, decision: Decision, *, must_cite: bool) -> AnswerSettled:
    """The end of the run: the kept sentences with their citations, or a refusal with its reason."""
    kept = kept_sentences(message)
    answer, numbers = shown_of(message, kept)
    cut = message.cut
    if message.question.release == "draft":
        answer, cut = limited(answer, message.question.constraints)
    citations = citations_of(answer, message.evidence, numbers)
    beside = () if cut is UNSET else tuple(cited_by(kept, answer, message))
    references = references_of(citations, message.evidence, beside or (() if citations else message.cited))
    reason: Reason | None = None
    if _must_be_withdrawn(message):
        reason = _unshown(message)
    elif not decision.keep:
        reason = "model_refused" if message.refused else _unshown(message)
    elif not references and (words := _admitted(kept, answer, must_cite=must_cite)):
        # The person gets the model's words and the closest passages.
        return _closest(message, "no_evidence", decision, notice=words)
    elif cut is UNSET and not any(map(str.isalnum, strip_markers(answer))):
        reason = _unshown(message)
    elif must_cite and not references:
        reason = "citations_invalid"
    if reason is not None:
        return _refused(message, reason, decision)
    answered = msgspec.structs.replace(
        _answered(message, kept, answer, decision),
        confidence=_at_most(decision.confidence, message, kept),
        citations=citations,
        references=references,
        withheld=withheld(message, kept),
        conflicts=conflicts_shown(message, numbers),
        cut=cut,
    )
    return AnswerSettled(settled=answered, shown=message.shown)


def _answered(message: Draft, kept: Sequence[Sentence], answer: str, decision: Decision) -> Settled:
    """What the end of every run with an answer has."""
    return Settled(
        outcome="answered",
        question=message.question.asked,
        answer=answer,
        confidence=decision.confidence,
        re_gate=decision.re_gate,
        contradictions=message.contradictions,
        snapshot=message.snapshot,
        rounds=message.rounds,
        language=message.question.language,
        profile=message.question.profile,
        probability=message.probability,
        unverified=unverified(message, kept, answer) or UNSET,
    )


def unverified(message: Draft, kept: Sequence[Sentence], answer: str) -> tuple[UnverifiedSentence, ...]:
    """The kept sentences that go beyond their sources, with their places in the answer."""
    doubtful = [standing(each.flags) == "unverified" for each in kept]
    if not any(doubtful):
        return ()
    texts = [each.text for each in kept]
    if message.question.release != "draft" and profile_of(message.question.profile).mask_personal_data:
        known = values_in([span.text for span in message.evidence])
        texts = [mask(text, known=known) for text in texts]
    places = aligned(answer, texts)
    return tuple(
        UnverifiedSentence(text=answer[start:end], answer_start=start, answer_end=end, flags=each.flags)
        for each, (start, end) in compress(zip(kept, places, strict=True), doubtful)
        if start < end
    )


def cited_by(kept: Sequence[Sentence], answer: str, message: Draft) -> Iterator[str]:
    """The sources of the sentences that a cut answer is the beginning of: its last one may have lost its markers."""
    source = {span.n: span.source_id for span in message.evidence}
    size = 0
    for sentence in kept:
        if size < len(answer):
            yield from (source[n] for marker in markers(sentence.text) for n in marker.numbers if n in source)
        size += len(sentence.text)


def shown_of(message: Draft, kept: tuple[Sentence, ...]) -> tuple[str, tuple[int, ...]]:
    """The text that the person sees, and the evidence's numbers behind its markers; empty where they are equal."""
    if message.question.release != "draft":
        return message.shown, () if message.numbers is UNSET else message.numbers
    evidence, text = {span.n for span in message.evidence}, ""
    for each in message.sentences:
        text += each.text if each in kept else line_break(text, each.text)
    return numbered(text.strip(), evidence, active=message.question.renumbered)


def conflicts_shown(message: Draft, numbers: tuple[int, ...]) -> tuple[Conflict, ...]:
    """The conflicts in the answer's numbers; a side that the answer does not cite gets a number after them."""
    if not message.question.renumbered:
        return message.conflicts
    of_both = [n for one in message.conflicts for n in (one.first_n, one.second_n)]
    number = {n: at for at, n in enumerate(dict.fromkeys([*numbers, *of_both]), start=1)}
    return tuple(
        msgspec.structs.replace(
            one,
            first_n=number[one.first_n],
            second_n=number[one.second_n],
            outdated_n=number.get(one.outdated_n, 0),
        )
        for one in message.conflicts
    )


def _must_be_withdrawn(message: Draft) -> bool:
    """Whether the client has seen what it must not: any such sentence under `token`, else only the model's thinking."""
    by_token = message.question.release == "token"
    return bool(message.shown) and any(
        is_barred(each, message.question) and (by_token or any(flag.kind == "thinking" for flag in each.flags))
        for each in message.sentences
    )


def is_barred(sentence: Sentence, question: Question) -> bool:
    """Whether its flags keep a sentence from being shown. A profile of one language, or that withholds what is not verified, shows
    none that is in another language, where only the numbers could be compared.
    """
    found, profile = standing(sentence.flags), profile_of(question.profile)
    withholds = profile.answers.unverified == "withhold"
    foreign = (profile.one_language or withholds) and any(flag.kind == "wrong_language" for flag in sentence.flags)
    return found == "withheld" or foreign or (found == "unverified" and withholds)


def _unshown(message: Draft) -> Reason:
    """Why sentences may not be shown: all are in another language, none cites what exists, or the evidence does not say it."""
    barred = [one.flags for one in message.sentences if is_barred(one, message.question)]
    kinds = [
        {each.kind for each in flags if each.strength == "strong"} or {each.kind for each in flags} for flags in barred
    ]
    if kinds and all("wrong_language" in each for each in kinds):
        return "no_evidence"
    wrong = message.contradictions or any(not each <= {"uncited", "citation_out_of_range"} for each in kinds)
    return "grounding_failed" if wrong else "citations_invalid"


def _at_most(confidence: Confidence, message: Draft, kept: Sequence[Sentence]) -> Confidence:
    """The confidence of an answer: never high where its sources disagree, low where half of it is in another language."""
    astray = sum(len(s.text) for s in kept if any(flag.kind == "wrong_language" for flag in s.flags))
    if kept and 2 * astray >= sum(len(s.text) for s in kept):
        return "low"
    return "medium" if confidence == "high" and message.conflicts else confidence


def _refused(message: Draft, reason: Reason, decision: Decision) -> AnswerSettled:
    """Without an answer: sentences that were shown are taken back; else the closest passages are shown, if any are near."""
    text = safe_text(message.question, message.evidence) if reason == "citations_invalid" else ""
    if message.shown:
        text = notices.text("replies", "withdrawn", message.question.language)
    elif near(message.question, _passages(message)):
        notice = safe_text(message.question, ()) if text else ""
        return _closest(message, reason, decision, notice=notice)
    refusal = refuse(
        message.question,
        reason,
        refuse_reason=message.refuse_reason,
        text=text,
        snapshot=message.snapshot,
        rounds=message.rounds,
    ).settled
    refusal = _with(refusal, message, decision)
    if message.shown:  # an error is sent whole
        refusal = msgspec.structs.replace(refusal, answer=text, cut=UNSET)
    if message.shown and message.question.renumbered:
        citations = citations_of(message.shown, message.evidence, () if message.numbers is UNSET else message.numbers)
        references = references_of(citations, message.evidence, message.cited)
        refusal = msgspec.structs.replace(refusal, withdrawn=message.shown, citations=citations, references=references)
    return AnswerSettled(settled=refusal, shown=message.shown, retract=bool(message.shown))


def _closest(message: Draft, reason: Reason, decision: Decision, *, notice: str) -> AnswerSettled:
    ended = closest(
        message,
        reason,
        _passages(message),
        notice=notice,
        refuse_reason=message.refuse_reason,
        probability=message.probability,
    ).settled
    return AnswerSettled(settled=_with(ended, message, decision), shown=message.shown)


def _passages(message: Draft) -> list[Passage]:
    """The evidence as passages, best first."""
    return [passage_of(span) for span in sorted(message.evidence, key=lambda span: -span.score)]


def _with(ended: Settled, message: Draft, decision: Decision) -> Settled:
    return msgspec.structs.replace(
        ended,
        re_gate=decision.re_gate,
        withheld=tuple(WithheldSentence(text=s.text, flags=s.flags) for s in message.sentences if s.flags),
        conflicts=conflicts_shown(message, () if message.numbers is UNSET else message.numbers),
        contradictions=message.contradictions,
    )


def kept_sentences(message: Draft) -> tuple[Sentence, ...]:
    """What may be shown: under `token` all of it was."""
    if message.question.release == "token":
        return message.sentences
    return tuple(each for each in message.sentences if not each.withheld and not is_barred(each, message.question))


def _admitted(kept: Sequence[Sentence], answer: str, *, must_cite: bool) -> str:
    """The words of an answer that only admits not to know; of one that goes on without the citations that it needs, those alone."""
    if admits(kept):
        return answer.strip() or "".join(s.text for s in kept).strip()
    return "".join(s.text for s in kept if must_cite and is_admission(s.text)).strip()


def mostly_withheld(message: Draft) -> bool:
    """Whether at least as many sentences have a strong flag as stay and cite; under `token` those stand in what was shown."""
    wrong = sum(standing(each.flags) == "withheld" for each in message.sentences)
    stay = sum(bool(markers(each.text)) for each in kept_sentences(message))
    return message.question.release == "token" or wrong >= stay


def withheld(message: Draft, kept: tuple[Sentence, ...]) -> tuple[WithheldSentence, ...]:
    return tuple(WithheldSentence(text=s.text, flags=s.flags) for s in message.sentences if s not in kept)
