"""Open one lane for each sub-query of a round; the lanes run in parallel.

QueryDecomposed -> SubQueryPlanned, one each
"""

from bus.delivery.actor import actor
from bus.wire.messages import QueryDecomposed, SubQueryPlanned


@actor()
async def open_lanes(message: QueryDecomposed) -> tuple[SubQueryPlanned, ...]:
    plan = message.earlier + message.sub_queries
    return tuple(
        SubQueryPlanned(
            question=message.question,
            sub_query=lane,
            plan=plan,
            round=message.round,
            judged=True,
            snapshot=message.snapshot,
        )
        for lane in message.sub_queries
    )
