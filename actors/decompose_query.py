"""Take a complex question apart into statements to search for.

ComplexQuestionFound -> QueryDecomposed        prompt: decompose_query

When it cannot be taken apart, the question itself is the one statement.
"""

from bus.actor import actor
from bus.errors import Failure
from bus.messages import MAIN, ComplexQuestionFound, QueryDecomposed, SubQuery
from bus.powers import Ask
from bus.subjects import BadId, check_id
from prompts import contracts

MOST = 5


def whole(message: ComplexQuestionFound, failure: Failure) -> QueryDecomposed:
    return planned(message, ())


@actor(prompts=("decompose_query",), fallback=whole)
async def decompose_query(message: ComplexQuestionFound, ask: Ask) -> QueryDecomposed:
    reply = await ask(
        contracts.DecomposeQuery(original_query=message.question.text, language=message.question.language)
    )
    return planned(message, reply.sub_queries)


def planned(message: ComplexQuestionFound, found: tuple[contracts.SubQuery, ...]) -> QueryDecomposed:
    """At most five lanes with ids of their own; the question itself when there is none."""
    lanes = usable_lanes(tuple((q.id, q.statement, q.focus) for q in found), "sq", MOST)
    return QueryDecomposed(
        lane=MAIN,
        question=message.question,
        sub_queries=lanes or (SubQuery(id="sq_1", statement=message.question.text, focus=""),),
    )


def usable_lanes(found: tuple[tuple[str, str, str], ...], prefix: str, most: int) -> tuple[SubQuery, ...]:
    """Sub-queries with a statement, repeats dropped, renumbered where a model's id cannot be a lane."""
    lanes: list[SubQuery] = []
    for given, statement, focus in found:
        text = statement.strip()
        if not text or any(text == lane.statement for lane in lanes):
            continue
        name = given if given.startswith(f"{prefix}_") and _is_id(given) else f"{prefix}_{len(lanes) + 1}"
        if any(name == lane.id for lane in lanes):
            name = f"{prefix}_{len(lanes) + 1}x"
        lanes.append(SubQuery(id=name, statement=text, focus=focus.strip()))
    return tuple(lanes[:most])


def _is_id(value: str) -> bool:
    try:
        check_id(value)
    except BadId:
        return False
    return True
