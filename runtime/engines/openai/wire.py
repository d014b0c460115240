"""HTTP to an OpenAI-compatible server: when to ask again, how long to wait, and what each refusal means."""

import asyncio
import email.utils
import json
import random
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import aiohttp

from bus.errors import BadReply, NoReply, Unavailable
from runtime.engines.openai.event_stream import EventStream

#: Worth asking again: too many requests, or the server is not itself.
BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
CONNECT_S = 10.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 8.0


class Wire:
    """`attempts`: how often one request is sent at most. Deadlines are on the loop's clock."""

    def __init__(self, base_url: str, api_key: str = "", *, attempts: int = 4) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._attempts = attempts
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(headers=self._headers)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def json(self, method: str, path: str, deadline: float, body: dict[str, Any] | None = None) -> Any:
        """The decoded answer. Raises: NoReply, BadReply, Unavailable."""
        with self._told():
            async with await self._insist(method, path, deadline, body) as response:
                text = await response.text()
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise Unavailable(self._not_an_api(response, text)) from error

    async def models(self, deadline: float) -> list[str]:
        """The models' names; none from a server that cannot list them. Raises: NoReply, Unavailable."""
        with self._told():
            async with await self._insist("GET", "/models", deadline, None, fine=(200, 404, 405, 501)) as response:
                text = await response.text()
        if "html" in response.content_type:
            raise Unavailable(self._not_an_api(response, text))
        try:
            return [str(entry["id"]) for entry in json.loads(text)["data"]]
        except (json.JSONDecodeError, KeyError, TypeError):
            return []

    async def events(self, path: str, deadline: float, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The objects of an event stream until `[DONE]`. Raises: NoReply, BadReply, Unavailable."""
        with self._told():
            response = await self._insist("POST", path, deadline, body)
        try:
            if "event-stream" not in response.content_type:
                with self._told():
                    raise Unavailable(self._not_an_api(response, await response.text()))
            stream = EventStream()
            while True:
                # Never around the yield: what the consumer raises there is its own.
                with self._told():
                    piece = await response.content.readany()
                    told = stream.feed(piece or b"\n\n")  # some leave out the last empty line
                for event in told:
                    if event.data.strip() == "[DONE]":
                        return
                    yield self._event(event.data)
                if not piece:
                    raise Unavailable(f"{self.base_url} closed the stream before its end; ask again")
        finally:
            response.close()

    def _event(self, data: str) -> dict[str, Any]:
        try:
            event = json.loads(data)
        except json.JSONDecodeError as error:
            raise Unavailable(f"{self.base_url} sent an event that is no JSON; check the server") from error
        if not isinstance(event, dict):
            raise Unavailable(f"{self.base_url} sent an event that is no object; check the server")
        if event.get("error"):
            raise Unavailable(f"{self.base_url} failed in mid-answer: {_message(event)}")
        return event

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What aiohttp raises, as our failures."""
        try:
            yield
        except TimeoutError as error:
            raise NoReply(f"{self.base_url} did not answer before the deadline; allow more time") from error
        except (aiohttp.ClientError, ValueError) as error:
            raise Unavailable(f"{self.base_url} broke off ({type(error).__name__}); ask again") from error

    async def _insist(
        self, method: str, path: str, deadline: float, body: dict[str, Any] | None, fine: Sequence[int] = (200,)
    ) -> aiohttp.ClientResponse:
        """A response with one of the statuses `fine`, asked for again while that is worth it and the deadline allows."""
        if self._session is None:
            raise Unavailable("the openai engine is not started; start it first")
        loop, why = asyncio.get_running_loop(), ""
        for attempt in range(self._attempts):
            # aiohttp counts the time of reading too, but only while it is being waited for.
            timeout = aiohttp.ClientTimeout(total=max(0.001, deadline - loop.time()), sock_connect=CONNECT_S)
            try:
                response = await self._session.request(method, f"{self.base_url}{path}", json=body, timeout=timeout)
            except aiohttp.ClientConnectionError as error:
                if isinstance(error, TimeoutError) and loop.time() >= deadline:
                    raise
                why, pause_s = f"cannot be reached ({type(error).__name__})", None
            else:
                if response.status in fine:
                    return response
                text = await response.text()
                response.release()
                if response.status not in BUSY:
                    raise self._refusal(response, text)
                why, pause_s = f"answers {response.status}", retry_after_s(response.headers.get("Retry-After"))
            wait_s = backoff_s(attempt) if pause_s is None else pause_s
            if attempt + 1 == self._attempts or loop.time() + wait_s >= deadline:
                break
            await asyncio.sleep(wait_s)
        raise Unavailable(f"{self.base_url} {why}; check that the server runs and is not overloaded")

    def _refusal(self, response: aiohttp.ClientResponse, text: str) -> BadReply | Unavailable:
        said = _message_of(text)
        match response.status:
            case 401 | 403:
                return Unavailable(f"{self.base_url} refuses the key ({said}); set inference.api_key")
            case 404:
                return Unavailable(f"{self.base_url} has no {response.url.path} or no such model ({said}); check both")
            case _:
                return BadReply(f"{self.base_url} refuses the request with {response.status} ({said})")

    def _not_an_api(self, response: aiohttp.ClientResponse, text: str) -> str:
        start = " ".join(text.split())[:60]
        return f"{self.base_url} answers {response.content_type} ({start!r}), not an API; check inference.base_url"


def backoff_s(attempt: int) -> float:
    """Doubles with each attempt; a random half keeps many clients apart."""
    longest: float = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**attempt)
    return longest * (0.5 + random.random() / 2)


def retry_after_s(header: str | None, now: float | None = None) -> float | None:
    """The pause a server asks for, in seconds or as a date; None when it names none."""
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


def _message_of(text: str) -> str:
    try:
        decoded = json.loads(text)
    except json.JSONDecodeError:
        return " ".join(text.split())[:120]
    return _message(decoded) if isinstance(decoded, dict) else text[:120]


def _message(decoded: dict[str, Any]) -> str:
    error = decoded.get("error", decoded)
    said = error.get("message", error) if isinstance(error, dict) else error
    return " ".join(str(said).split())[:120]
