"""Show a draft as it passes its checks, and return the message that follows from it."""

from collections.abc import AsyncIterator, Iterable, Sequence

from msgspec import UNSET

from actors.answering.release import NOTHING, CheckedStream, Earlier
from actors.answering.sentence_check import cited_in
from actors.choosing.weights import HIGH_ADVICE, MEDIUM, confidence_of, lower
from actors.outcome.closest import closest, passage_of
from actors.outcome.refusals import fail
from actors.question.profile import in_language, profile_of
from actors.question.resolved import asks_model, must_cite
from actors.text.limit import most_of_model
from actors.text.numbering import as_evidence
from bus.powers.protocols import Ask, Emit
from bus.wire.errors import ContentRefused, Failure
from bus.wire.messages import (
    AnswerDrafted,
    AnswerRequested,
    AnswerSettled,
    AnswerVerified,
    DraftMistranslated,
    same_fields,
)
from bus.wire.parts import Sentence
from index.languages import UNDETERMINED
from index.languages.detection import detect
from index.text.sentences import shortened
from prompts import contracts, notices
from prompts.thinking import without_thinking
from prompts.vocabulary import Confidence

#: A structured answer of fewer tokens is no JSON.
LEAST = 64

type Drafted = AnswerDrafted | AnswerVerified | DraftMistranslated | AnswerSettled


def no_model(request: AnswerRequested, failure: Failure) -> AnswerSettled:
    """The fallback of the answering actor: without a model the run fails, and where it refuses the closest passages are shown."""
    if isinstance(failure, ContentRefused):
        return closest(
            request,
            failure.reason,
            [passage_of(span) for span in request.evidence],
            refuse_reason=notices.text("replies", "content_refused", request.question.language),
        )
    return fail(request.question, failure.reason, str(failure))


async def prose(
    request: AnswerRequested,
    ask: Ask,
    emit: Emit,
    variables: contracts.AnswerSimple | contracts.AnswerReport,
) -> Drafted:
    """Answer in prose, streamed; continues where an earlier attempt stopped."""
    earlier = await shown_before(emit)
    stream = CheckedStream(request, ask, emit, cites=must_cite(request.question), advice=advice(request))
    already_shown = as_evidence(earlier.text, earlier.cited)
    most = most_of_model(request.question.constraints)
    await stream.run(ask.stream(variables, already_shown=already_shown, max_tokens=most), earlier)
    return drafted(stream)


async def shown_before(emit: Emit) -> Earlier:
    if not (text := await emit.shown()):
        return NOTHING
    return Earlier(text, (await emit.progress()).cited, await emit.unverified())


async def written(
    request: AnswerRequested,
    ask: Ask,
    emit: Emit,
    text: str,
    *,
    confidence: Confidence = "high",
    refused: bool = False,
    refuse_reason: str = "",
    cited: Sequence[str] = (),
    most_chars: int = 0,
) -> Drafted:
    """Show an answer that arrived whole, as `prose` does. `most_chars` (0: no limit) also counts a conflict notice."""
    listed = any(span.source_id in cited for span in request.evidence)
    stream = CheckedStream(request, ask, emit, cites=must_cite(request.question), cited_beside=listed)
    text = without_thinking(text)
    if most_chars:
        text = shortened(text, max(most_chars - len(stream.concerning(text)[1]), most_chars // 2))
    if not refused:
        earlier = await shown_before(emit)
        await stream.run(_once(text.removeprefix(as_evidence(earlier.text, earlier.cited))), earlier, whole=True)
    return drafted(stream, confidence=confidence, refused=refused, refuse_reason=refuse_reason, cited=tuple(cited))


def drafted(
    stream: CheckedStream,
    *,
    confidence: Confidence = "high",
    refused: bool = False,
    refuse_reason: str = "",
    cited: tuple[str, ...] = (),
) -> AnswerDrafted | AnswerVerified | DraftMistranslated:
    """The draft; already verified if its sentences were verified one by one.

    It goes to translation first if none of it was shown and most of it is in another language.
    """
    request, known = stream.request, probability_shown(stream.request, stream.sentences)
    confidence, stated = confidence_in(request, known, confidence), stated_in(request, stream.sentences, confidence)
    if lower(stated, confidence) != stated:
        confidence, known = stated, None  # nobody has measured how often it is right
    text = "".join(s.text for s in stream.sentences).removesuffix(stream.notice)
    astray = not stream.out.shown and detect(text) not in (request.question.language, UNDETERMINED)
    checked = AnswerVerified if stream.check.verifies else AnswerDrafted
    kind = DraftMistranslated if astray and not refused else checked
    return kind(
        **same_fields(request, kind) | {"probability": known},
        sentences=tuple(stream.sentences),
        shown=stream.out.shown,
        confidence=confidence,
        refused=refused,
        refuse_reason=refuse_reason,
        cited=cited,
        contradictions=tuple(stream.check.contradictions),
        verified=stream.check.verifies,
        numbers=stream.out.cited if request.question.renumbered else UNSET,
        cut=stream.out.limit.cut,
    )


def probability_shown(request: AnswerRequested, sentences: Iterable[Sentence]) -> float | None:
    """The probability of the spans that the sentences cite, where a model picked them; else of all the evidence.

    None where a model picked what rules find unlikely: they do not measure the model. With safety advice, they count all the same.
    """
    cited = {number for one in sentences if not one.withheld for number in cited_in(one.text)}
    of = [span.probability for span in request.evidence if span.n in cited]
    if not of or all(span.probability is UNSET for span in request.evidence):
        return request.probability
    least = 0.0 if advice(request) else MEDIUM
    return max((each for each in of if each is not UNSET and each >= least), default=None)


def confidence_in(request: AnswerRequested, probability: float | None, most: Confidence = "high") -> Confidence:
    """The confidence that a probability allows; without one, as of a summary or a model's own choice, medium.

    Rules are never sure of a whole report to a person who needs safety advice.
    """
    if probability is None:
        picked = any(span.probability is not UNSET for span in request.evidence)
        return lower(most, "medium") if picked or request.question.contexts is None else most
    by_model = asks_model(request.question, "select_evidence")
    if advice(request) and not by_model and (request.style == "report" or probability < HIGH_ADVICE):
        most = lower(most, "medium")
    return lower(most, confidence_of(probability))


def stated_in(request: AnswerRequested, sentences: Iterable[Sentence], own: Confidence) -> Confidence:
    """The confidence that a model states in a synthesis of evidence it chose: high with three cited pieces, medium with two."""
    if request.style != "synthesis" or not asks_model(request.question, "select_evidence"):
        return "low"
    cited = {number for one in sentences if not one.withheld for number in cited_in(one.text)}
    return lower(own, "high" if len(cited) > 2 else "medium" if len(cited) == 2 else "low")


def advice(request: AnswerRequested) -> str:
    """The profile's safety advice in the question's language; empty for none."""
    return in_language(profile_of(request.question.profile).safety_advice, request.question.language)


def budget(request: AnswerRequested) -> int:
    """The tokens of a structured answer: enough for a whole one, since its text is cut later."""
    requested = request.question.constraints.max_tokens
    return max(LEAST, requested) if requested else profile_of(request.question.profile).max_tokens


def layout(answer: contracts.StructuredAnswer) -> str:
    """A structured answer as text: the summary, then its details as a list."""
    return "\n".join([answer.summary, *(f"- {detail}" for detail in answer.details)])


async def _once(text: str) -> AsyncIterator[str]:
    yield text
