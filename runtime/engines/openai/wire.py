"""The openai client, wrapped with the deadline, retries with backoff, and the meaning of each error."""

import asyncio
import email.utils
import functools
import json
import math
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import openai
from openai._legacy_response import LegacyAPIResponse
from openai.types.chat import ChatCompletionChunk

from bus.wire.errors import (
    BadReply,
    ContentRefused,
    Failure,
    NoReply,
    OverQuota,
    Rejected,
    TooLong,
    Unavailable,
    Unreadable,
)
from index.embedders import model_server
from index.embedders.model_server import Misbehaved, phrase, place
from runtime.engines.openai.accepted import refused_in, without

#: Statuses worth a retry: too many requests, or a failing server.
BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
#: What servers write of a prompt that is longer than the model's context.
_CONTEXT = re.compile(
    r"context.{0,40}(?:length|window|size)|too many tokens|(?:prompt|input)\b[^.]{0,60}(?:too long|longer than|exceed)"
    r"|max_(?:completion_)?tokens\b.{0,60}(?:greater|larger?|exceeds?|maximum|at most)\b",
    re.IGNORECASE,
)
#: What they write of a model that they do not have, and of a content that they refuse.
_NO_MODEL = re.compile(
    r"invalid model|model\b[^{}]{0,120}(?:not (?:found|exist|available)|does not exist)", re.IGNORECASE
)
_CONTENT = re.compile(r"content[_ ](?:filter|policy|management)|safety", re.IGNORECASE)
#: A name of a model as a message may repeat it, and how many of them.
_NAME, MOST_NAMES = re.compile(r"[\w.:/@+-]{1,80}", re.ASCII), 8
#: Statuses of a request of which the server does not accept a part.
UNACCEPTED = frozenset({400, 422})
#: A server that cannot list its models may still serve one.
CANNOT_LIST = frozenset({404, 405, 501})
CONNECT_S = 10.0
#: No reply is longer: thirty times what the longest prompt asks for, with every token in an event of its own.
MOST_BYTES = 16 * 2**20
#: After this long without a sign of it, a server is asked for one; and how long it may take to give it.
SILENT_S, SIGN_S = 3.0, 5.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 8.0


class Text(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class Choice(msgspec.Struct):
    delta: Text | None = None
    finish_reason: str | None = None


class Cached(msgspec.Struct):
    cached_tokens: int | None = None


class Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: Cached | None = None


class Chunk(msgspec.Struct):
    """What is read of a piece of a streamed reply, of the declared types: the client lets any type through."""

    choices: list[Choice] | None = None
    model: str | None = None
    usage: Usage | None = None


class Wire:
    """Sends each request at most `attempts` times. Deadlines are on the loop's clock."""

    def __init__(self, base_url: str, api_key: str = "", *, attempts: int = 4) -> None:
        self.base_url = base_url.rstrip("/")
        self.name = f"the model server {place(base_url)}"
        self._key = api_key
        # The client's own retries would ignore the deadline.
        timeout = openai.Timeout(None, connect=CONNECT_S)
        self._client = openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=api_key or "none",  # the client requires a key; a server without keys ignores it
            max_retries=0,
            timeout=timeout,
            http_client=model_server.async_client(self.base_url, most_bytes=MOST_BYTES, timeout=timeout),
        )
        self._attempts = attempts
        self.names: list[str] = []  # of the models, as the server listed them last
        self._refused: dict[str, list[str]] = {}  # by model: the parameters that it did not accept, in that order
        self.heard_at = -math.inf  # when it last did what it was asked, on the loop's clock

    async def close(self) -> None:
        await self._client.close()

    async def models(self, deadline: float) -> list[str]:
        """The models' names; empty if the server cannot list them. Raises: NoReply, Unavailable."""
        response = await self._insist(self._listed, deadline)
        if response is None:
            return []
        try:
            self.names = [str(entry["id"]) for entry in json.loads(response.text)["data"]]
        except (json.JSONDecodeError, KeyError, TypeError, RecursionError):
            self.names = []
        return self.names

    async def problem(self) -> str:
        """Why the server cannot be used now, by one request that no model answers; empty when it can."""
        try:
            async with self._translated(asyncio.get_running_loop().time() + SIGN_S):
                await self._listed()
        except NoReply:
            return f"{self.name} has not answered for {SIGN_S:g} s"
        except (BadReply, Unavailable) as failure:
            busy = isinstance(failure.__cause__, openai.RateLimitError)
            return "" if busy else str(failure)
        self.heard_at = asyncio.get_running_loop().time()
        return ""

    async def _listed(self) -> LegacyAPIResponse[Any] | None:
        try:
            response = await self._client.models.with_raw_response.list()
        except openai.APIStatusError as error:
            if error.status_code in CANNOT_LIST:
                return None
            raise
        if "html" in response.headers.get("content-type", ""):
            raise self._not_an_api(response.text)
        return response

    async def chat(self, deadline: float, body: dict[str, Any]) -> AsyncIterator[Chunk]:
        """The pieces of a streamed reply, the last with its finish reason. Raises: NoReply, BadReply, Unavailable."""
        stream = await self._accepted(deadline, body)
        finished = False
        try:
            if "event-stream" not in stream.response.headers.get("content-type", ""):
                async with self._translated(deadline):
                    raise self._not_an_api((await stream.response.aread()).decode(errors="replace"))
            while True:
                # Never around the yield: what the consumer raises there is not ours to translate.
                async with self._translated(deadline):
                    sent = await anext(stream, None)
                    chunk = msgspec.convert(sent, Chunk | None, from_attributes=True)
                self.heard_at = asyncio.get_running_loop().time()
                if chunk is None:
                    break
                finished = finished or any(choice.finish_reason for choice in chunk.choices or ())
                yield chunk
            if not finished:
                raise Unavailable(f"{self.name} closed the stream before its end; ask again")
        finally:
            await stream.close()

    async def _accepted(self, deadline: float, body: dict[str, Any]) -> openai.AsyncStream[ChatCompletionChunk]:
        """The stream of the request without what the server refuses of it, which is remembered for this model."""
        refused = list(self._refused.get(body["model"], ()))
        while True:
            sent = without(body, refused)
            try:
                ask = functools.partial(self._client.chat.completions.create, stream=True, **sent)
                stream: openai.AsyncStream[ChatCompletionChunk] = await self._insist(ask, deadline)  # type: ignore[arg-type]
            except Rejected as failure:
                error, name = failure.__cause__, ""
                if isinstance(error, openai.APIStatusError) and error.status_code in UNACCEPTED:
                    name = refused_in(error.response.text, sent, refused)
                if not name:
                    raise
                refused.append(name)
            else:
                self._refused[body["model"]] = refused
                return stream

    async def _insist[R](self, ask: Callable[[], Awaitable[R]], deadline: float) -> R:
        """The result of `ask`, retried while that is useful and the deadline allows."""
        loop, why, kind = asyncio.get_running_loop(), "", Unavailable
        for attempt in range(self._attempts):
            pause_s = None
            try:
                async with self._translated(deadline):
                    result = await ask()
                self.heard_at = loop.time()
                return result
            except Unavailable as failure:
                kind = type(failure)
                match failure.__cause__:
                    case openai.APIStatusError() as error if error.status_code in BUSY:
                        why = f"answers {phrase(error.status_code)}"
                        pause_s = retry_after_s(error.response.headers.get("Retry-After"))
                    case openai.APIConnectionError(__cause__=Misbehaved()):
                        raise
                    case openai.APIConnectionError() as error:
                        why = f"cannot be reached ({_cause(error)})"
                    case _:
                        raise
            wait_s = backoff_s(attempt) if pause_s is None else pause_s
            if attempt + 1 == self._attempts or loop.time() + wait_s >= deadline:
                break
            await asyncio.sleep(wait_s)
        remedy = (
            "ask again later, or raise the quota" if kind is OverQuota else "check that it runs and is not overloaded"
        )
        raise kind(f"{self.name} {why}; {remedy}")

    @asynccontextmanager
    async def _translated(self, deadline: float) -> AsyncIterator[None]:
        """Translate the client's exceptions, and the end of the time, into our failures."""
        try:
            async with asyncio.timeout_at(deadline):
                yield
        except TimeoutError as error:
            raise NoReply(f"{self.name} did not answer before the deadline; allow more time") from error
        except Misbehaved as error:
            raise Unavailable(f"{self.name} {error}; check inference.base_url") from error
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, Misbehaved):
                raise Unavailable(f"{self.name} {error.__cause__}; check inference.base_url") from error
            raise Unavailable(f"{self.name} broke the connection ({_cause(error)}); ask again") from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except openai.APIError as error:
            self._note(error.message)
            raise Unavailable(f"{self.name} failed during the answer; its log, and ours, say why") from error
        # The client checks no types.
        except (ValueError, RecursionError, AttributeError, msgspec.ValidationError) as error:
            raise Unreadable(f"{self.name} sent an unreadable event; check the server") from error

    def _refusal(self, error: openai.APIStatusError) -> Failure:
        """The failure in our words: the server's may hold a key, or anything."""
        self._note(error.response.text)
        match error.status_code:
            case 401 | 403 as status:
                return Rejected(f"{self.name} refuses the key ({phrase(status)}); set inference.api_key")
            case 402 | 429 as status:
                return OverQuota(f"{self.name} answers {phrase(status)}; ask again later, or raise the quota")
            case status if status in BUSY:
                return Unavailable(f"{self.name} answers {phrase(status)}; ask again later")
            case status:
                return self._unaccepted(status, error.response.text)

    def _unaccepted(self, status: int, said: str) -> Failure:
        """The failure where the request is at fault: its model, its content or its form."""
        if status == 404 or (status in UNACCEPTED and _NO_MODEL.search(said)):
            remedy = f"it lists {names}" if (names := self.first_names()) else "check base_url"
            return Rejected(f"{self.name} has no such model or path; {remedy}; set inference.model")
        if status == 413 or _CONTEXT.search(said):
            return TooLong(
                f"{self.name} finds prompt or reply too long ({phrase(status)}); give its model a longer context"
            )
        if status in UNACCEPTED and _CONTENT.search(said):
            return ContentRefused(f"{self.name} refuses the content ({phrase(status)}); ask in other words")
        return Rejected(f"{self.name} refuses the request ({phrase(status)}); the log says why")

    def first_names(self) -> str:
        """The first of the models that the server lists, as a message may repeat them; empty for none."""
        return ", ".join(filter(_NAME.fullmatch, self.names[:MOST_NAMES]))

    def _not_an_api(self, text: str) -> Unavailable:
        self._note(text)
        return Unavailable(f"{self.name} answers, but not as an API; check inference.base_url")

    def _note(self, said: str) -> None:
        model_server.note(self.base_url, said, self._key)


def backoff_s(attempt: int) -> float:
    """The pause before the next attempt: doubles each time, half of it random so that clients spread out."""
    longest: float = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**attempt)
    return longest * (0.5 + random.random() / 2)


def retry_after_s(header: str | None, now: float | None = None) -> float | None:
    """The pause that a server asks for, given in seconds or as a date; None if it names none."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        then = email.utils.parsedate_to_datetime(header).timestamp()
    except ValueError:
        return None
    return max(0.0, then - (time.time() if now is None else now))


def _cause(error: openai.APIConnectionError) -> str:
    return type(error.__cause__ or error).__name__
