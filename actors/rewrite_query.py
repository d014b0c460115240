"""Complete a follow-up question: resolve references, or add the words of the conversation that it depends on.

FollowUpAsked -> QuestionReady        prompt: rewrite_query

When it cannot be rewritten, the question goes on as it was asked. What a new text is made of, which may be
the last answer, is searched for with the question before it as well.
"""

import msgspec

from bus.delivery.actor import actor
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import FollowUpAsked, QuestionReady
from prompts import contracts


def as_asked(message: FollowUpAsked, failure: Failure) -> QuestionReady:
    text = with_question_before(message, message.question.text)
    return QuestionReady(question=msgspec.structs.replace(message.question, text=text))


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
    question = msgspec.structs.replace(message.question, topic=reply.topic.strip())
    return QuestionReady(question=msgspec.structs.replace(question, text=with_question_before(message, text)))


def with_question_before(message: FollowUpAsked, text: str) -> str:
    """The text, behind the last question of the conversation where a new text may be made of the answer to that."""
    users = (turn.content for turn in reversed(message.history) if turn.role == "user")
    return f"{next(users, '')} {text}".strip() if message.question.earlier else text
