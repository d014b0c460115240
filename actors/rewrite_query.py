"""Complete a follow-up question: resolve references, or add the words of the conversation that it depends on.

FollowUpAsked -> QuestionReady        prompt: rewrite_query

When it cannot be rewritten, the question goes on as it was asked.
"""

import msgspec

from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import FollowUpAsked, QuestionReady
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
    text = rewritten if reply.needs_rewrite and rewritten else message.question.text
    return QuestionReady(question=msgspec.structs.replace(message.question, text=text, topic=reply.topic.strip()))
