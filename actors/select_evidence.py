"""Select the verbatim spans that an answer may rest on, number them, and request the answer style that fits.

PassagesReady -> one of the five answer requests | AnswerSettled (the closest passages, or a refusal)        prompt: select_evidence

When no model can pick, the window of a passage with the most terms of the question is used.
"""

from actors.answer.profile import profile_of
from actors.evidence import spans
from actors.evidence.prompt_shapes import chunk_of
from actors.evidence.requests import Request, requested, style_of, unanswerable
from actors.outcome.closest import closest
from bus.actor import actor
from bus.errors import Failure
from bus.messages import AnswerSettled, PassagesReady
from bus.powers import Ask
from prompts import contracts


def by_terms(message: PassagesReady, failure: Failure) -> Request | AnswerSettled:
    if not message.passages:
        return unanswerable(message)
    return requested(message, spans.numbered(message.passages, spans.window(message.passages, message.question.text)))


@actor(prompts=("select_evidence",), fallback=by_terms)
async def select_evidence(message: PassagesReady, ask: Ask) -> Request | AnswerSettled:
    question = message.question
    if not message.passages:
        return unanswerable(message)
    wanted = profile_of(question.profile).retrieval
    if question.contexts is None and not message.complex:
        nearest = max(spans.share_held(question.text, p.text + " " + p.title) for p in message.passages)
        same_language = any(p.language == question.language for p in message.passages)
        if same_language and nearest < wanted.low_relevance:
            return closest(
                question, "low_relevance", message.passages, snapshot=message.snapshot, rounds=message.rounds
            )
    reply = await ask(
        contracts.SelectEvidence(
            original_query=question.text,
            retrieved_chunks=tuple(chunk_of(passage) for passage in message.passages),
            language=question.language,
        )
    )
    # An exercise asks for what the material does not say; a hint needs only the part that comes closest.
    if not reply.spans and style_of(message) != "hint":
        return unanswerable(message)
    slices = spans.picked(message.passages, reply.spans) or spans.window(message.passages, question.text)
    return requested(message, spans.numbered(message.passages, slices))
