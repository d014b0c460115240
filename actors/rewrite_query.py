"""Rewrite a follow-up question so that it stands alone: references resolved, omissions filled in, the meaning kept.

FollowUpAsked -> QuestionReady        prompt: rewrite_query

When it cannot be rewritten, the question goes on as it was asked.
"""

import msgspec

from bus.actor import actor
from bus.errors import Failure
from bus.messages import FollowUpAsked, QuestionReady
from bus.powers import Ask
from prompts import contracts


def as_asked(message: FollowUpAsked, failure: Failure) -> QuestionReady:
    return QuestionReady(question=message.question)


@actor(prompts=("rewrite_query",), fallback=as_asked)
async def rewrite_query(message: FollowUpAsked, ask: Ask) -> QuestionReady:
    reply = await ask(
        contracts.RewriteQuery(
            current_query=message.question.asked,
            conversation_history=tuple(
                contracts.Turn(role=turn.role, content=turn.content) for turn in message.history
            ),
            language=message.question.language,
        )
    )
    rewritten = reply.rewritten_query.strip()
    if not reply.needs_rewrite or not rewritten:
        return QuestionReady(question=message.question)
    return QuestionReady(question=msgspec.structs.replace(message.question, text=rewritten))
