"""/v1/chat/completions: runs for OpenAI clients, in one piece or streamed, where a model name is a profile name."""

import time
from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec
from aiohttp import web
from groundwire.wire import NearPassage, Reference, Turn
from msgspec.structs import replace

from actors.text.limit import tokens_in
from bus.runs.router import Reader
from bus.runs.run_record import RunRecord
from bus.wire.messages import QuestionAsked
from bus.wire.requests import check_text
from runtime.edge.cited import (
    Cited,
    base_of,
    cited,
    cited_passages,
    markdown,
    opened_passages,
    opened_references,
    within,
)
from runtime.edge.openai import schemas
from runtime.edge.openai.asking import OpenAIRoute, check_chat, check_model, openai_error, question_of
from runtime.edge.openai.retries import submit_or_join
from runtime.edge.parameters import IDEMPOTENCY_KEY
from runtime.edge.problems import Problem
from runtime.edge.relay import TextForm, whole
from runtime.edge.request_parsing import history_of
from runtime.edge.routes import Reply, json_response, run_headers
from runtime.edge.sse import DONE, data_line, stream
from runtime.edge.state import EDGE


class ChatAnswer(TextForm[bytes]):
    """A run as a chat completion: the text, then why it was withdrawn or the closest passages. An error ends a stream early."""

    def __init__(self, request: web.Request, reader: Reader, asked: schemas.ChatAsked) -> None:
        super().__init__(reader.run_id)
        self.request = request
        self.reader = reader
        self.edge = request.app[EDGE]
        self.asked = asked
        self.base = base_of(request)
        self._most_tokens = asked.most_tokens
        self._chunk = schemas.Chunk(
            id=f"chatcmpl-{reader.run_id}",
            object="chat.completion.chunk",
            created=int(time.time()),
            model=asked.model,
            choices=(),
        )

    def piece(self, text: str) -> schemas.Chunk:
        return self._with(schemas.Delta(content=text))

    def last(self, finish: schemas.Finish) -> schemas.Chunk:
        chunk = self._with(schemas.Delta(annotations=tuple(self.annotations(self.run.text))), finish)
        marked = self.run.unverified
        return replace(chunk, references=self.references, passages=self.passages or None, unverified_at=marked)

    def whole(self, text: str, finish: schemas.Finish, record: RunRecord | None) -> schemas.Completion:
        said = schemas.Said(content=text, annotations=tuple(self.annotations(text)))
        return schemas.Completion(
            id=self._chunk.id,
            created=self._chunk.created,
            model=self._chunk.model,
            choices=(schemas.Choice(message=said, finish_reason=finish),),
            usage=usage_of(record, text),
            references=self.references,
            passages=self.passages,
            outcome=record.outcome or "" if record else "",
            unverified_at=self.run.unverified or msgspec.UNSET,
        )

    def _with(self, delta: schemas.Delta, finish: schemas.Finish | None = None) -> schemas.Chunk:
        return replace(self._chunk, choices=(schemas.ChunkChoice(delta=delta, finish_reason=finish),))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        return opened_references(self.run.references, self.base)

    @cached_property
    def passages(self) -> tuple[NearPassage, ...]:
        return opened_passages(self.run.passages, self.base)

    @cached_property
    def quoted(self) -> tuple[NearPassage, ...]:
        """Those of the closest passages that the text has room for."""
        return within(self.passages, self.run.text, self._most_tokens)

    def annotations(self, text: str) -> Iterator[schemas.Annotation]:
        """Each marker of an answer, or each passage where there is none; nothing of an answer that was withdrawn."""
        if self.run.withdrawn:
            return
        yield from map(_annotation, cited(text, self.run.references, self.base))
        yield from map(_annotation, cited_passages(len(self.run.text), self.quoted, self.base))

    def finish(self, record: RunRecord | None) -> schemas.Finish:
        if self.run.withdrawn:
            return "content_filter"
        is_cut = len(self.quoted) < len(self.passages) or (record is not None and record.cut == "length")
        return "length" if is_cut else "stop"

    async def send(self) -> web.StreamResponse:
        """Answer the request. Raises Problem when there is no answer, Unavailable, and what a broken connection raises."""
        if self.asked.stream:
            return await stream(self.request, self.reader, self, "chat")
        timeout_s = (self.asked.deadline_s or self.edge.run_deadline_s) + self.edge.timeouts.grace_s
        late = f"run {self.run.run_id} did not finish within {timeout_s:g} s; ask with `stream`"
        self.run = await whole(self.reader, timeout_s, late)
        self.run.check()
        record = await self.edge.runs.record(self.run.run_id)
        text = self.run.withdrawn or self.run.text + markdown(self.quoted)
        return json_response(self.whole(text, self.finish(record), record), headers=run_headers(self.run.run_id))

    def begin(self) -> Iterator[bytes]:
        yield data_line(self._with(schemas.Delta(role="assistant", content="")))

    def text(self, number: int, tokens: list[str]) -> Iterator[bytes]:
        yield data_line(self.piece("".join(tokens)))

    async def end(self) -> Iterable[bytes]:
        self.run.check()
        wanted = self._most_tokens is not None or self.asked.includes_usage
        record = await self.edge.runs.record(self.run.run_id) if wanted else None
        rest = f"\n\n{self.run.withdrawn}" if self.run.withdrawn else markdown(self.quoted)
        chunks = [self.piece(rest)] if rest else []
        chunks.append(self.last(self.finish(record)))
        if self.asked.includes_usage:
            chunks.append(replace(self._chunk, usage=usage_of(record, self.run.text + rest)))
        return [*map(data_line, chunks), DONE]

    def failed(self, problem: Problem) -> Iterator[bytes]:
        yield data_line(openai_error(problem))
        yield DONE


def usage_of(record: RunRecord | None, text: str) -> schemas.Usage:
    """`text`: what was sent."""
    read, sent = record.tokens_in if record else 0, tokens_in(text)
    return schemas.Usage(prompt_tokens=read, completion_tokens=sent, total_tokens=read + sent)


def _annotation(place: Cited) -> schemas.Annotation:
    return schemas.Annotation(
        url_citation=schemas.UrlCitation(start_index=place.start, end_index=place.end, url=place.url, title=place.title)
    )


@OpenAIRoute(
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
    problems=(404, 409, 500, 504),
    parameters=(IDEMPOTENCY_KEY,),
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
