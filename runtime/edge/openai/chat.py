"""/v1/chat/completions: runs for OpenAI clients, where a model name is a profile name."""

from aiohttp import web
from msgspec.structs import replace

from bus.runs.router import Reader
from bus.runs.run_record import RunRecord
from bus.wire.messages import QuestionAsked, Turn
from runtime.edge.conversation import history_of
from runtime.edge.idempotency import IDEMPOTENCY_KEY
from runtime.edge.openai import schemas
from runtime.edge.openai.answering import Answer, usage_of
from runtime.edge.openai.asking import check_chat, check_model, is_refusal, question_of
from runtime.edge.openai.errors import OPENAI_ERRORS
from runtime.edge.problems import Problem
from runtime.edge.rejoining import ask_or_join
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
    async with ask_or_join(request, question, "chat", waits=not asked.stream) as reader:
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


class ChatAnswer(Answer):
    """A run as a chat completion."""

    def __init__(self, request: web.Request, reader: Reader, asked: schemas.ChatAsked) -> None:
        super().__init__(request, reader, asked, most_tokens=asked.most_tokens)
        self._shaped = asked.response_format is not None and asked.response_format.type == "json_schema"
        self._chunk = schemas.Chunk(
            id=f"chatcmpl-{reader.run_id}",
            object="chat.completion.chunk",
            created=self.created,
            model=asked.model,
            choices=(),
        )

    @property
    def _refused(self) -> bool:
        return is_refusal(self.run.text, shaped=self._shaped)

    def first(self) -> schemas.Chunk:
        return self._with(schemas.Delta(role="assistant", content=""))

    def piece(self, text: str) -> schemas.Chunk:
        return self._with(schemas.Delta(refusal=text) if self._refused else schemas.Delta(content=text))

    def last(self, finish: schemas.Finish) -> schemas.Chunk:
        annotations = () if self._refused else tuple(self.annotations(self.run.text))
        chunk = self._with(schemas.Delta(annotations=annotations), finish)
        return replace(chunk, references=self.references, passages=self.passages or None)

    def counted(self, usage: schemas.Usage) -> schemas.Chunk:
        return replace(self._chunk, usage=usage)

    def whole(self, text: str, finish: schemas.Finish, record: RunRecord | None) -> schemas.Completion:
        if self._refused:
            said = schemas.Said(content=None, refusal=text)
        else:
            said = schemas.Said(content=text, annotations=tuple(self.annotations(text)))
        return schemas.Completion(
            id=self._chunk.id,
            created=self.created,
            model=self._chunk.model,
            choices=(schemas.Choice(message=said, finish_reason=finish),),
            usage=usage_of(record, text),
            references=self.references,
            passages=self.passages,
            outcome=record.outcome or "" if record else "",
        )

    def _with(self, delta: schemas.Delta, finish: schemas.Finish | None = None) -> schemas.Chunk:
        return replace(self._chunk, choices=(schemas.ChunkChoice(delta=delta, finish_reason=finish),))
