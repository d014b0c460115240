"""Decompose a complex question into statements to search for.

ComplexQuestionFound -> QueryDecomposed        prompt: decompose_query

When it cannot be decomposed, the question itself is the only statement.
"""

from msgspec import UNSET

from actors.choosing.aliases import in_one_name
from actors.evidence.lanes import usable_lanes
from actors.question.profile import profile_of
from actors.question.resolved import asks_model, other_languages
from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import MAIN, ComplexQuestionFound, QueryDecomposed
from bus.wire.parts import SubQuery
from prompts import contracts


def whole(message: ComplexQuestionFound, failure: Failure) -> QueryDecomposed:
    return planned(message, ())


@actor(prompts=("decompose_query",), fallback=whole)
async def decompose_query(message: ComplexQuestionFound, ask: Ask) -> QueryDecomposed:
    question = message.question
    others = other_languages(question) if asks_model(question, "decompose_query") else ()
    reply = await ask(
        contracts.DecomposeQuery(
            original_query=question.text, language=question.language, other_languages=others or UNSET
        )
    )
    return planned(message, reply.sub_queries)


def planned(message: ComplexQuestionFound, sub_queries: tuple[contracts.SubQuery, ...]) -> QueryDecomposed:
    """Lanes, each with its own id, as many as the profile allows; the question itself when there is none."""
    profile = profile_of(message.question.profile)
    names = profile.synonyms
    named = tuple((q.id, in_one_name(q.statement, names), in_one_name(q.focus, names)) for q in sub_queries)
    lanes = usable_lanes(named, "sq", profile.retrieval.sub_queries)
    return QueryDecomposed(
        lane=MAIN,
        question=message.question,
        sub_queries=lanes or (SubQuery(id="sq_1", statement=message.question.text, focus=""),),
    )
