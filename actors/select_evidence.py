"""Select the verbatim spans that an answer may rest on, number them, and request the answer in the style that fits.

PassagesReady -> AnswerRequested | AnswerSettled (the closest passages, or a refusal)        prompt: select_evidence

Rules choose among the retrieved passages, and the probability of their choice decides whether there is an answer at all. A model
then picks, with the rules' choice as a suggestion; without a model the rules' choice is used. Contexts given by the caller are
judged by the model alone.
"""

from actors.evidence import spans
from actors.evidence.prompt_shapes import chunk_of
from actors.selecting.chosen import (
    candidates,
    chosen,
    requested,
    rested_on,
    style_of,
    suggestions,
    unanswerable,
    unsure,
)
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import AnswerRequested, AnswerSettled, PassagesReady
from prompts import contracts


def by_rules(message: PassagesReady, failure: Failure) -> AnswerRequested | AnswerSettled:
    if not message.passages:
        return unanswerable(message)
    passages = candidates(message)
    choice = chosen(message, passages)
    if choice is None:
        slices = spans.window(passages, message.question.text)
        return requested(message, spans.numbered(passages, slices))
    return unsure(message, passages, choice) or rested_on(message, passages, choice, choice.slices())


@actor(prompts=("select_evidence",), fallback=by_rules)
async def select_evidence(message: PassagesReady, ask: Ask) -> AnswerRequested | AnswerSettled:
    question = message.question
    if not message.passages:
        return unanswerable(message)
    passages = candidates(message)
    choice = chosen(message, passages)
    if choice is not None and (ended := unsure(message, passages, choice)):
        return ended
    suggested = () if choice is None else tuple(suggestions(passages, choice))
    reply = await ask(
        contracts.SelectEvidence(
            original_query=question.text,
            retrieved_chunks=tuple(chunk_of(passage) for passage in passages),
            suggested=suggested,
            language=question.language,
        )
    )
    # An exercise asks for what the material does not say; a hint needs only the part that comes closest.
    if not reply.spans and style_of(message) != "hint":
        return unanswerable(message)
    if choice is None:
        slices = spans.picked(passages, reply.spans) or spans.window(passages, question.text)
        return requested(message, spans.numbered(passages, slices))
    own = [pick for pick in reply.spans if pick not in suggested]
    if not own or not (picked := spans.picked(passages, own)):
        return rested_on(message, passages, choice, choice.slices())
    kept = [at for at, pick in enumerate(suggested) if pick in reply.spans]
    return rested_on(message, passages, choice, [*(choice.slices()[at] for at in kept), *picked])
