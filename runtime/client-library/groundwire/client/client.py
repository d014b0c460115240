"""The client: ask, follow, come back, cancel, search, check.

What can be repeated without harm is repeated while the client is patient: a question carries an idempotency key, and a stream
that broke is taken up after the last event that arrived. So each event is seen once, in order, whichever side restarts.
"""

import asyncio
import os
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Self
from urllib.parse import quote, urlencode

import aiohttp
import msgspec
from yarl import URL

from groundwire.client.errors import GroundwireError, TryLater, Unreachable, error_of
from groundwire.client.messages import Cancelled, Checked, Filter, Hits, Question, Run, SourceList, SourceText
from groundwire.client.stream import Stream
from groundwire.wire import Context

#: Where `groundwire up` listens.
LOCAL = "http://127.0.0.1:8080"
#: The environment variable that holds the key, if none is given.
KEY = "GROUNDWIRE_KEY"
#: A stream without a line for so long is broken: the server sends one every 15 s.
SILENCE_S = 50.0
_LONGEST_PAUSE_S = 5.0


class _Models(msgspec.Struct):
    class Model(msgspec.Struct):
        id: str

    data: tuple[Model, ...]


class Client:
    """A connection to one server, to be used as `async with Client() as client`.

    `key`: of the environment's GROUNDWIRE_KEY if omitted. `patience_s`: for how long it goes on trying while nothing answers,
    or the server asks to come back later. `session`: yours, which stays open.
    """

    def __init__(
        self,
        url: str = LOCAL,
        *,
        key: str | None = None,
        patience_s: float = 30.0,
        session: aiohttp.ClientSession | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.patience_s = patience_s
        key = os.environ.get(KEY) if key is None else key
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._given = session
        self._session = session

    async def __aenter__(self) -> Self:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None and self._given is None:
            await self._session.close()
            self._session = None

    # ------------------------------------------------------------ ask

    async def ask(self, question: Question | str) -> Run:
        """Ask, wait for the end, and get the record. Raises GroundwireError; a run without an answer is a record too."""
        async with self.stream(question) as stream:
            await stream.text_at_end(raising=False)
            return await self.run(stream.run_id)

    def stream(self, question: Question | str) -> Stream:
        """Ask, and follow the answer: `async with client.stream("…") as stream: async for event in stream: …`."""
        asked = Question(question=question) if isinstance(question, str) else question
        if asked.idempotency_key is None:
            asked = msgspec.structs.replace(asked, idempotency_key=secrets.token_hex(16))
        return Stream(self, asked)

    def resume(self, run_id: str, after: int = 0) -> Stream:
        """Follow a run after event number `after`; from the start if 0."""
        return Stream(self, None, run_id, after)

    # ------------------------------------------------------------ the rest

    async def run(self, run_id: str) -> Run:
        """The record of a run so far. Raises GroundwireError."""
        return await self._json("GET", f"/v1/runs/{_part(run_id)}", Run)

    async def cancel(self, run_id: str) -> Cancelled:
        """End a run. Raises GroundwireError."""
        return await self._json("POST", f"/v1/runs/{_part(run_id)}/cancel", Cancelled)

    async def search(
        self, query: str, *, k: int = 10, language: str | None = None, filter: Filter | None = None
    ) -> Hits:
        """The passages that a question would be answered from. Raises GroundwireError."""
        body = _given(query=query, k=k, language=language, filter=filter)
        return await self._json("POST", "/v1/search", Hits, body)

    async def check(
        self,
        text: str,
        *,
        contexts: Sequence[Context] | None = None,
        language: str | None = None,
        filter: Filter | None = None,
    ) -> Checked:
        """Compare each sentence of a text with the documents or `contexts`. Raises GroundwireError."""
        body = _given(text=text, contexts=contexts and tuple(contexts), language=language, filter=filter)
        return await self._json("POST", "/v1/check", Checked, body)

    async def source(self, source_id: str, start: int | None = None, end: int | None = None) -> SourceText:
        """A document's text, or the characters `start..end` of it. Raises GroundwireError."""
        query = urlencode(_given(start=start, end=end))
        return await self._json("GET", f"/v1/sources/{_part(source_id)}{query and f'?{query}'}", SourceText)

    async def sources(self, after: str = "", limit: int | None = None) -> SourceList:
        """The documents that may be searched, by id; the next ones after `after`. Raises GroundwireError."""
        return await self._json("GET", f"/v1/sources?{urlencode(_given(after=after, limit=limit))}", SourceList)

    async def profiles(self) -> list[str]:
        """The names of the profiles. Raises GroundwireError."""
        return [model.id for model in (await self._json("GET", "/v1/models", _Models)).data]

    async def _json[T](self, method: str, path: str, into: type[T], body: dict[str, Any] | None = None) -> T:
        async def once() -> T:
            async with await self.request(method, path, body) as response:
                try:
                    return msgspec.json.decode(await response.read(), type=into)
                except msgspec.DecodeError as error:
                    detail = f"{self.url}{path} did not answer as Groundwire does: {error}"
                    raise GroundwireError(response.status, "not_groundwire", detail) from None

        return await self.patiently(once)

    # ------------------------------------------------------------ for the stream

    async def request(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> aiohttp.ClientResponse:
        """One request; the caller closes the response. Raises GroundwireError, aiohttp.ClientError, TimeoutError."""
        if self._session is None:
            raise RuntimeError("use the client as `async with Client() as client`")
        sent = {**self._headers, **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        response = await self._session.request(
            method,
            URL(f"{self.url}{path}", encoded=True),
            data=None if body is None else msgspec.json.encode(body),
            headers=sent,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=SILENCE_S),
            allow_redirects=False,
        )
        if response.status < 300:
            return response
        async with response:
            raise error_of(response.status, await response.read(), response.headers.get("Retry-After"))

    async def patiently[T](self, once: Callable[[], Awaitable[T]], until: float | None = None) -> T:
        """Do it until it succeeds, as long as trying again may help. Raises GroundwireError."""
        until = time.monotonic() + self.patience_s if until is None else until
        pause_s = 0.1
        while True:
            error: GroundwireError
            try:
                return await once()
            except TryLater as later:
                wait_s, error = later.retry_after_s or pause_s, later
            except (aiohttp.ClientError, TimeoutError, OSError) as broken:
                why = str(broken) or type(broken).__name__
                wait_s, error = pause_s, Unreachable(0, "unreachable", f"{self.url} cannot be reached: {why}")
            if time.monotonic() + wait_s > until:
                raise error
            await asyncio.sleep(wait_s * random.uniform(1.0, 1.25))
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _part(name: str) -> str:
    return quote(name, safe="")
