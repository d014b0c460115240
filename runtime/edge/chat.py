"""/v1/chat/completions and /v1/models: the same runs for OpenAI clients. A model's name is a profile's."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
from aiohttp import web

from bus.errors import Unavailable
from bus.events import Done, Error, ProgressEvent, References, StreamEvent, Token, TokensEnd, decode_event
from bus.messages import Constraints, QuestionAsked, Reference, Turn
from bus.router import Reader, TooSlow
from bus.run_record import RunRecord
from bus.runs import KeyReused
from runtime.edge import chat_shapes as shapes
from runtime.edge import requests
from runtime.edge.answers import json_response
from runtime.edge.problems import Problem, problem_of
from runtime.edge.profile_names import ProfileError
from runtime.edge.sse import HEADERS, let_go, next_batch, run_headers, write
from runtime.edge.state import EDGE, Edge

#: As many turns and characters as a question may lean on.
TURNS = 50
TURN_CHARS = 4000

#: The error events that mean that there is no answer, as HTTP has it; the others withdraw one that was shown.
FAILURES = {"timeout": 504, "model_unavailable": 503, "internal": 500, "cancelled": 409}


_decoder = msgspec.json.Decoder(shapes.ChatAsked)
_encode = msgspec.json.Encoder().encode

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def in_their_words(handler: Handler) -> Handler:
    """Errors in the shape that OpenAI clients read."""

    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except Problem as problem:
            found = problem
        except web.HTTPRequestEntityTooLarge:
            found = Problem(413, "too_large", "the request is too long; send a shorter conversation")
        except (KeyReused, Unavailable) as error:
            found = problem_of(error)
        status = 400 if found.status == 422 else found.status
        return json_response(_error(found), status=status, headers=found.headers)

    return handle


@in_their_words
async def models(request: web.Request) -> web.StreamResponse:
    """GET /v1/models"""
    names = await request.app[EDGE].profiles.names()
    return json_response(shapes.ModelList(data=tuple(shapes.ModelCard(id=name) for name in names)))


@in_their_words
async def complete(request: web.Request) -> web.StreamResponse:
    """POST /v1/chat/completions"""
    edge = request.app[EDGE]
    asked = requests.decode(await requests.json_body(request), _decoder, shapes.ChatAsked)
    try:
        await edge.profiles.check(asked.model)
    except ProfileError as error:
        raise Problem(404, "model_not_found", f"model: {error}") from None
    question = question_of(asked)
    deadline_s = asked.deadline_s or (None if asked.stream else edge.settings.json_deadline_s)
    submitted, reader = await edge.runs.ask(question, deadline_s)
    edge.metrics.asked.labels(question.profile, "chat").inc()
    answer = Answer(edge, reader, asked)
    with reader:
        try:
            return await (answer.stream(request) if asked.stream else answer.whole(deadline_s))
        except (asyncio.CancelledError, ConnectionResetError):
            edge.left(question, submitted.run_id)
            raise


def question_of(asked: shapes.ChatAsked) -> QuestionAsked:
    """The last user message as the question, what was said before as its history. Raises Problem."""
    last = asked.messages[-1]
    if last.role != "user":
        raise Problem(400, "no_question", f"the last message is the {last.role}'s; end with one of the user")
    if len(last.text) > requests.LONGEST_QUESTION:
        raise Problem(
            400, "invalid", f"the question has {len(last.text)} characters, {requests.LONGEST_QUESTION} is the most"
        )
    requests.check_text("the last message", last.text)
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
        constraints=Constraints(max_tokens=min(max(most, 16), 4096) if most else None),
        deadline_s=asked.deadline_s,
    )


class Answer:
    """One run in the words of a chat completion."""

    def __init__(self, edge: Edge, reader: Reader, asked: shapes.ChatAsked) -> None:
        self.edge = edge
        self.reader = reader
        self.asked = asked
        self.created = int(time.time())
        self.references: tuple[Reference, ...] = ()
        self.withdrawn = ""  # why sentences that were shown do not count, empty when they do

    @property
    def finish(self) -> shapes.Finish:
        return "content_filter" if self.withdrawn else "stop"

    async def whole(self, deadline_s: float | None) -> web.Response:
        """The answer in one piece. Raises Problem when there is none, Unavailable."""
        patience_s = (deadline_s or self.edge.settings.json_deadline_s) + self.edge.pace.grace_s
        try:
            async with asyncio.timeout(patience_s):
                text = "".join([piece async for piece in self._pieces() if piece is not None])
        except (TimeoutError, TooSlow):
            raise Problem(
                504, "timeout", f"run {self.reader.run_id} takes longer than {patience_s:g} s; stream it"
            ) from None
        record = await self._record()
        return json_response(
            shapes.Completion(
                id=f"chatcmpl-{self.reader.run_id}",
                created=self.created,
                model=self.asked.model,
                choices=(
                    shapes.Choice(message=shapes.Said(content=self.withdrawn or text), finish_reason=self.finish),
                ),
                usage=_usage(record),
                references=self.references,
                outcome=record.outcome or "" if record else "",
            ),
            headers=run_headers(self.reader.run_id),
        )

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """The answer in chunks. An error ends it in mid-stream, as OpenAI does."""
        response = web.StreamResponse(headers=HEADERS | run_headers(self.reader.run_id))
        await response.prepare(request)
        try:
            await self._send(request, response, self._chunk(shapes.Delta(role="assistant", content="")))
            async for piece in self._pieces():
                if piece is None:
                    await write(request, response, b": alive\n\n", self.edge)
                else:
                    await self._send(request, response, self._chunk(shapes.Delta(content=piece)))
            if self.withdrawn:
                await self._send(request, response, self._chunk(shapes.Delta(content=f"\n\n{self.withdrawn}")))
            last = self._chunk(shapes.Delta(), finish=self.finish, references=self.references)
            await self._send(request, response, last)
            if self.asked.stream_options and self.asked.stream_options.include_usage:
                await self._send(request, response, self._chunk(None, usage=_usage(await self._record())))
        except Problem as problem:
            await self._send(request, response, _error(problem))
        except Unavailable as error:
            await self._send(request, response, _error(problem_of(error)))
        except (TooSlow, TimeoutError):
            raise let_go(request, self.edge) from None
        await write(request, response, b"data: [DONE]\n\n", self.edge)
        await response.write_eof()
        return response

    async def _pieces(self) -> AsyncIterator[str | None]:
        """What is said, all that is there as one piece; None when nothing came for a while. Raises Problem for a failure."""
        while (batch := await next_batch(self.reader, self.edge.pace.comment_s)) != []:
            if batch is None:
                yield None
                continue
            events = [decode_event(line) for _, line in batch]
            if text := "".join(event.content for event in events if isinstance(event, Token)):
                yield text
            for event in events:
                self._note(event)

    def _note(self, event: StreamEvent) -> None:
        """Take in what is not text. Raises Problem for a failure."""
        match event:
            case Error() if event.code in FAILURES:
                raise Problem(FAILURES[event.code], event.code, event.content)
            case Error():
                self.withdrawn = event.content
            case References():
                self.references = event.items
            case Token() | TokensEnd() | Done():
                pass
            case _:
                _: ProgressEvent = event  # never asked for; mypy refuses any other event here

    async def _record(self) -> RunRecord | None:
        return await self.edge.runs.record(self.reader.run_id)

    def _chunk(
        self,
        delta: shapes.Delta | None,
        *,
        finish: shapes.Finish | None = None,
        usage: shapes.Usage | None = None,
        references: tuple[Reference, ...] | None = None,
    ) -> shapes.Chunk:
        return shapes.Chunk(
            id=f"chatcmpl-{self.reader.run_id}",
            object="chat.completion.chunk",
            created=self.created,
            model=self.asked.model,
            choices=(shapes.ChunkChoice(delta=delta, finish_reason=finish),) if delta is not None else (),
            usage=usage,
            references=references,
        )

    async def _send(self, request: web.Request, response: web.StreamResponse, value: msgspec.Struct) -> None:
        await write(request, response, b"data: %s\n\n" % _encode(value), self.edge)


def _usage(record: RunRecord | None) -> shapes.Usage:
    tokens_in, tokens_out = (record.tokens_in, record.tokens_out) if record else (0, 0)
    return shapes.Usage(prompt_tokens=tokens_in, completion_tokens=tokens_out, total_tokens=tokens_in + tokens_out)


def _error(problem: Problem) -> shapes.ChatError:
    kind = "invalid_request_error" if problem.status < 500 else "server_error"
    return shapes.ChatError(error=shapes.ChatErrorBody(message=problem.detail, type=kind, code=problem.code))


ROUTES = [web.get("/v1/models", models), web.post("/v1/chat/completions", complete)]
