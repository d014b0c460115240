"""/v1/chat/completions: runs for OpenAI clients, where a model name is a profile name."""

import asyncio
import time

import msgspec
from aiohttp import web
from msgspec.structs import replace

from bus.messages import Constraints, QuestionAsked, Turn
from bus.router import Reader, TooSlow
from bus.run_record import RunRecord
from prompts.profiles import ProfileError
from runtime.edge.door import CALLER
from runtime.edge.following import Followed
from runtime.edge.openai import schemas
from runtime.edge.openai.errors import OPENAI_ERRORS, openai_error
from runtime.edge.passages_markdown import markdown
from runtime.edge.problems import EXPECTED, Problem, problem_of
from runtime.edge.request_parsing import check_text
from runtime.edge.responses import json_response, run_headers
from runtime.edge.routes import Reply, Route
from runtime.edge.sse import COMMENT, HEADERS, disconnect, write
from runtime.edge.state import EDGE, Edge

#: How many turns of the conversation a question keeps, and how many characters of each.
TURNS = 50
TURN_CHARS = 4000

_encode = msgspec.json.Encoder().encode


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
    errors=OPENAI_ERRORS,
)
async def complete(request: web.Request, asked: schemas.ChatAsked) -> web.StreamResponse:
    """Ask as an OpenAI client; `model` names a profile, and system messages are ignored."""
    edge = request.app[EDGE]
    try:
        await edge.profiles.check(asked.model)
    except ProfileError as error:
        raise Problem(404, "model_not_found", f"model: {error}") from None
    deadline_s = asked.deadline_s or (None if asked.stream else edge.settings.json_deadline_s)
    async with edge.ask(request[CALLER], chat_question(asked), "chat", deadline_s) as reader:
        answer = ChatAnswer(edge, reader, asked)
        return await (answer.stream(request) if asked.stream else answer.whole(deadline_s))


def chat_question(asked: schemas.ChatAsked) -> QuestionAsked:
    """The last user message as the question, the messages before it as its history. Raises Problem."""
    last = asked.messages[-1]
    if last.role != "user":
        raise Problem(400, "no_question", f"the last message has the role {last.role}; end with a user message")
    check_text("last message", last.text)
    before = [
        Turn(role=m.role, content=m.text[:TURN_CHARS]) for m in asked.messages[:-1] if m.role in ("user", "assistant")
    ]
    most = asked.max_completion_tokens or asked.max_tokens
    return QuestionAsked(
        question=last.text,
        conversation_history=tuple(turn for turn in before if turn.content)[-TURNS:],
        profile=asked.model,
        style=asked.style,
        language=asked.language,
        release=asked.release,
        voice=asked.voice,
        priority=asked.priority,
        filter=asked.filter,
        constraints=Constraints(max_tokens=min(max(most, 16), 4096) if most else None),
        deadline_s=asked.deadline_s,
    )


class ChatAnswer:
    """One run as a chat completion."""

    def __init__(self, edge: Edge, reader: Reader, asked: schemas.ChatAsked) -> None:
        self.edge = edge
        self.reader = reader
        self.run = Followed(reader, edge.timeouts.keepalive_s)
        self.asked = asked
        self.chunk = schemas.Chunk(
            id=f"chatcmpl-{reader.run_id}",
            object="chat.completion.chunk",
            created=int(time.time()),
            model=asked.model,
            choices=(),
        )

    @property
    def finish(self) -> schemas.Finish:
        return "content_filter" if self.run.withdrawn else "stop"

    async def whole(self, deadline_s: float | None) -> web.Response:
        """The answer in one piece. Raises Unavailable, or Problem when there is no answer."""
        timeout_s = (deadline_s or self.edge.settings.json_deadline_s) + self.edge.timeouts.grace_s
        try:
            async with asyncio.timeout(timeout_s):
                text = "".join([piece async for piece in self.run.pieces() if piece is not None])
        except (TimeoutError, TooSlow):
            detail = f"run {self.reader.run_id} did not finish within {timeout_s:g} s; ask with `stream`"
            raise Problem(504, "timeout", detail) from None
        record = await self.edge.runs.record(self.reader.run_id)
        said = schemas.Said(content=self.run.withdrawn or text + markdown(self.run.passages))
        completion = schemas.Completion(
            id=self.chunk.id,
            created=self.chunk.created,
            model=self.chunk.model,
            choices=(schemas.Choice(message=said, finish_reason=self.finish),),
            usage=_usage(record),
            references=self.run.references,
            passages=self.run.passages,
            outcome=record.outcome or "" if record else "",
        )
        return json_response(completion, headers=run_headers(self.reader.run_id))

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Stream the answer in chunks; an error ends the stream early, as OpenAI's does."""
        response = web.StreamResponse(headers=HEADERS | run_headers(self.reader.run_id))
        await response.prepare(request)

        async def send(value: msgspec.Struct) -> None:
            await write(request, response, b"data: %s\n\n" % _encode(value), self.edge)

        try:
            await send(self._chunk(schemas.Delta(role="assistant", content="")))
            async for piece in self.run.pieces():
                if piece is None:
                    await write(request, response, COMMENT, self.edge)
                else:
                    await send(self._chunk(schemas.Delta(content=piece)))
            if self.run.withdrawn:
                await send(self._chunk(schemas.Delta(content=f"\n\n{self.run.withdrawn}")))
            if self.run.passages:
                await send(self._chunk(schemas.Delta(content=markdown(self.run.passages))))
            last = self._chunk(schemas.Delta(), self.finish)
            await send(replace(last, references=self.run.references, passages=self.run.passages or None))
            if self.asked.stream_options and self.asked.stream_options.include_usage:
                record = await self.edge.runs.record(self.reader.run_id)
                await send(replace(self.chunk, usage=_usage(record)))
        except EXPECTED as error:
            await send(openai_error(problem_of(error)))
        except (TooSlow, TimeoutError):
            raise disconnect(request, self.edge) from None
        await write(request, response, b"data: [DONE]\n\n", self.edge)
        await response.write_eof()
        return response

    def _chunk(self, delta: schemas.Delta, finish: schemas.Finish | None = None) -> schemas.Chunk:
        return replace(self.chunk, choices=(schemas.ChunkChoice(delta=delta, finish_reason=finish),))


def _usage(record: RunRecord | None) -> schemas.Usage:
    tokens_in, tokens_out = (record.tokens_in, record.tokens_out) if record else (0, 0)
    return schemas.Usage(prompt_tokens=tokens_in, completion_tokens=tokens_out, total_tokens=tokens_in + tokens_out)
