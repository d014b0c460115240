"""Separate questions that one retrieval can answer from those that must be decomposed.

QuestionReady -> SubQueryPlanned | ComplexQuestionFound        prompt: classify_query

A question that cannot be classified is treated as simple, since one retrieval costs least. Where the profile gives hints for
exercises, a model decides what is one. A model also writes words to search for, in each language that the documents have.
"""

from msgspec import UNSET
from msgspec.structs import replace

from actors.question.profile import profile_of
from actors.question.resolved import asks_model, other_languages
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import ComplexQuestionFound, QuestionReady, SubQueryPlanned
from bus.wire.parts import SubQuery
from prompts import contracts

#: Tokens for a reply with words in several languages.
TOKENS_OF_SEVERAL = 250


def as_simple(message: QuestionReady, failure: Failure) -> SubQueryPlanned:
    return single(message)


@actor(prompts=("classify_query",), fallback=as_simple)
async def classify_query(message: QuestionReady, ask: Ask) -> SubQueryPlanned | ComplexQuestionFound:
    question, by_model = message.question, asks_model(message.question, "classify_query")
    exercises = by_model and profile_of(question.profile).hint_exercises
    others = other_languages(question) if by_model else ()
    reply = await ask(
        contracts.ClassifyQuery(
            original_query=question.text,
            language=question.language,
            exercises=exercises or UNSET,
            other_languages=others or UNSET,
            max_tokens=TOKENS_OF_SEVERAL if others else UNSET,
        )
    )
    if exercises:
        message = replace(message, question=replace(question, exercise=reply.query_type == "exercise"))
    if reply.query_type == "complex":
        return ComplexQuestionFound(question=message.question)
    return single(message, reply.suggested_search_term if by_model else "")


def single(message: QuestionReady, focus: str = "") -> SubQueryPlanned:
    """The only lane of the simple path: the question itself. `focus`: a model's words to search for as well."""
    lane = SubQuery(id="sq_1", statement=message.question.text, focus=focus.strip())
    return SubQueryPlanned(question=message.question, sub_query=lane, plan=(lane,), round=1, judged=False)
