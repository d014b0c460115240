"""/v1/chat/completions: runs for OpenAI clients, where a model name is a profile name."""

from aiohttp import web

from bus.wire.messages import QuestionAsked, Turn
from runtime.edge.conversation import history_of
from runtime.edge.idempotency import IDEMPOTENCY_KEY
from runtime.edge.openai import schemas
from runtime.edge.openai.answering import ChatAnswer
from runtime.edge.openai.asking import check_chat, check_model, question_of
from runtime.edge.openai.errors import OPENAI_ERRORS
from runtime.edge.openai.retries import submit_or_join
from runtime.edge.problems import Problem
from runtime.edge.request_parsing import check_text
from runtime.edge.routes import Reply, Route


@Route(
    "POST",
    "/v1/chat/completions",
    {
        200: Reply(
            "The answer; with `stream`, server-sent events that each hold a Chunk.",
            schemas.Completion,
            (schemas.Chunk,),
        )
    },
    "ask",
    problems=(404, 409, 429, 500, 503, 504),
    parameters=(IDEMPOTENCY_KEY,),
    errors=OPENAI_ERRORS,
)
async def complete(request: web.Request, asked: schemas.ChatAsked) -> web.StreamResponse:
    """Ask as an OpenAI client; `model` names a profile, and system messages are ignored."""
    await check_model(request, asked.model)
    check_chat(asked)
    question = chat_question(request, asked)
    async with submit_or_join(request, question, "chat", waits=not asked.stream) as reader:
        return await ChatAnswer(request, reader, asked).send()


def chat_question(request: web.Request, asked: schemas.ChatAsked) -> QuestionAsked:
    """The last user message as the question, the messages before it as its history. Raises Problem."""
    last = asked.messages[-1]
    if last.role != "user":
        raise Problem(400, "no_question", f"the last message has the role {last.role}; end with a user message")
    check_text("last message", last.text)
    history = history_of(
        Turn(role=m.role, content=m.text) for m in asked.messages[:-1] if m.role in ("user", "assistant")
    )
    return question_of(request, asked, last.text, history, max_tokens=asked.most_tokens)
