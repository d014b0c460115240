"""A run as the answer of one of OpenAI's routes, in one piece or streamed; the routes say in which form."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import msgspec
from aiohttp import web

from actors.text.limit import tokens_in
from bus.messages import NearPassage, Reference
from bus.router import Reader, TooSlow
from bus.run_record import RunRecord
from runtime.edge.cited import Cited, base_of, cited, cited_passages, opened_passages, opened_references
from runtime.edge.following import Followed
from runtime.edge.openai import schemas
from runtime.edge.openai.errors import openai_error
from runtime.edge.passages_markdown import markdown, within
from runtime.edge.problems import EXPECTED, Problem, problem_of
from runtime.edge.responses import json_response, run_headers
from runtime.edge.sse import COMMENT, HEADERS, disconnect, write
from runtime.edge.state import EDGE

_encode = msgspec.json.Encoder().encode


class Answer(ABC):
    """One run as an answer. What a client sees of it is `self.run.text`, then `withdrawn` or the closest passages."""

    def __init__(self, request: web.Request, reader: Reader, asked: schemas.Asked, *, most_tokens: int | None) -> None:
        self.request = request
        self.edge = request.app[EDGE]
        self.run = Followed(reader, self.edge.timeouts.keepalive_s)
        self.asked = asked
        self.base = base_of(request)
        self.created = int(time.time())
        self.headers = run_headers(reader.run_id)
        self._most_tokens = most_tokens

    # ------------------------------------------------------------ its form

    def first(self) -> msgspec.Struct | None:
        """The chunk before the text, if there is one."""
        return None

    @abstractmethod
    def piece(self, text: str) -> msgspec.Struct:
        """A chunk of text."""

    @abstractmethod
    def last(self, finish: schemas.Finish) -> msgspec.Struct:
        """The chunk after the text."""

    @abstractmethod
    def counted(self, usage: schemas.Usage) -> msgspec.Struct:
        """The chunk of a client that wants to know the tokens."""

    @abstractmethod
    def whole(self, text: str, finish: schemas.Finish, record: RunRecord | None) -> msgspec.Struct:
        """The answer in one piece."""

    # ------------------------------------------------------------ what it rests on

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The sources cited, with addresses that open."""
        return opened_references(self.run.references, self.base)

    @cached_property
    def passages(self) -> tuple[NearPassage, ...]:
        """The closest passages, with addresses that open."""
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

    # ------------------------------------------------------------ sending it

    async def send(self) -> web.StreamResponse:
        """Answer the request. Raises Problem when there is no answer, Unavailable, and what a broken connection raises."""
        return await (self._stream() if self.asked.stream else self._whole())

    async def _whole(self) -> web.Response:
        timeout_s = (self.asked.deadline_s or self.edge.run_deadline_s) + self.edge.timeouts.grace_s
        try:
            async with asyncio.timeout(timeout_s):
                async for _ in self.run.pieces():
                    pass
        except (TimeoutError, TooSlow):
            detail = f"run {self.run.run_id} did not finish within {timeout_s:g} s; ask with `stream`"
            raise Problem(504, "timeout", detail) from None
        record = await self.edge.runs.record(self.run.run_id)
        text = self.run.withdrawn or self.run.text + markdown(self.quoted)
        return json_response(self.whole(text, self.finish(record), record), headers=self.headers)

    async def _stream(self) -> web.StreamResponse:
        """An error ends the stream early, as OpenAI's does."""
        response = web.StreamResponse(headers=HEADERS | self.headers)
        await response.prepare(self.request)

        async def send(value: msgspec.Struct) -> None:
            await write(self.request, response, b"data: %s\n\n" % _encode(value), self.edge)

        try:
            if (first := self.first()) is not None:
                await send(first)
            async for piece in self.run.pieces():
                if piece is None:
                    await write(self.request, response, COMMENT, self.edge)
                else:
                    await send(self.piece(piece))
            if rest := f"\n\n{self.run.withdrawn}" if self.run.withdrawn else markdown(self.quoted):
                await send(self.piece(rest))
            wanted = self._most_tokens is not None or self.asked.includes_usage
            record = await self.edge.runs.record(self.run.run_id) if wanted else None
            await send(self.last(self.finish(record)))
            if self.asked.includes_usage:
                await send(self.counted(usage_of(record, self.run.text + rest)))
        except EXPECTED as error:
            await send(openai_error(problem_of(error)))
        except (TooSlow, TimeoutError):
            raise disconnect(self.request, self.edge) from None
        await write(self.request, response, b"data: [DONE]\n\n", self.edge)
        await response.write_eof()
        return response


def usage_of(record: RunRecord | None, text: str) -> schemas.Usage:
    """`text`: what was sent."""
    read, sent = record.tokens_in if record else 0, tokens_in(text)
    return schemas.Usage(prompt_tokens=read, completion_tokens=sent, total_tokens=read + sent)


def _annotation(place: Cited) -> schemas.Annotation:
    return schemas.Annotation(
        url_citation=schemas.UrlCitation(start_index=place.start, end_index=place.end, url=place.url, title=place.title)
    )
