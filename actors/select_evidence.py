"""Select the verbatim spans that an answer may rest on, number them, and request the answer in the style that fits.

PassagesReady -> AnswerRequested | AnswerSettled (the closest passages, or a refusal)        prompt: select_evidence

A model decides: it picks spans or finds that none answers, with the rules' choice among the retrieved passages as a suggestion.
The rules decide without a model, where it fails or picks from no passage that there is, and where they are as sure as
a profile's `retrieval.sure_from`; where no model chose, the probability of their choice decides whether there is an answer at all.
Overviews without a model have rules of their own.
"""

from actors.evidence import spans
from actors.question.resolved import asks_model
from actors.selecting.chosen import (
    candidates,
    choice_record,
    chosen,
    picked,
    prompt_of,
    quoting,
    requested,
    rested_on,
    style_of,
    suggestions,
    to_model,
    unanswerable,
    unasked,
    unsure,
)
from actors.selecting.overview import overview
from bus.delivery.actor import actor
from bus.powers.protocols import Ask, Note
from bus.wire.errors import BadReply, Failure
from bus.wire.messages import AnswerRequested, AnswerSettled, PassagesReady


def by_rules(message: PassagesReady, failure: Failure) -> AnswerRequested | AnswerSettled:
    if not message.passages:
        return unanswerable(message)
    passages = candidates(message)
    choice = chosen(message, passages)
    if choice is None:
        return requested(message, spans.numbered(passages, spans.window(passages, message.question.text)))
    return unsure(message, passages, choice) or rested_on(message, passages, choice)


@actor(prompts=("select_evidence",), fallback=by_rules)
async def select_evidence(message: PassagesReady, ask: Ask, note: Note) -> AnswerRequested | AnswerSettled:
    question = message.question
    if not message.passages:
        return unanswerable(message)
    passages = candidates(message)
    hints = style_of(message) == "hint"  # for an exercise, which asks for what the material does not say
    if not (message.complex or hints) and (parts := overview(question, passages)):
        return quoting(message, passages, parts)
    choice = chosen(message, passages)
    decides = asks_model(question, "select_evidence")
    if choice is not None:
        early = unasked(message, passages, choice, decides=decides)
        note(choice_record(message, passages, choice, ends=isinstance(early, AnswerSettled)))
        if early:
            return early
    read = to_model(message, passages) if decides else passages
    suggested = {} if choice is None else suggestions(question, read, choice, decides=decides)
    reply = await ask(prompt_of(question, read, tuple(suggested)))
    if not reply.spans and not hints:
        return unanswerable(message)
    if choice is not None and (not reply.spans or (reply.spans == tuple(suggested) and not decides)):
        return rested_on(message, passages, choice)
    of_each = ([suggested[pick]] if pick in suggested else spans.picked(read, [pick]) for pick in reply.spans)
    slices = [at for of in of_each for at in of]
    if reply.spans and not slices:
        raise BadReply("select_evidence: none of the picked spans names a passage")
    anew = slices or spans.window(passages, question.text)
    return picked(message, passages, choice, slices) if choice else requested(message, spans.numbered(passages, anew))
