"""What every client of a model server keeps to: it reads so many bytes, follows no redirect elsewhere, repeats none of its words.

A server is configured by the owner and still not trusted: it may be broken, hostile, or another server than intended. Its replies
go to the log, without the keys that they may echo.
"""

import logging
import re
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

if TYPE_CHECKING:
    from openai import OpenAI

log = logging.getLogger("groundwire.servers")

_TOLD_CHARS = 300
_SECRET = re.compile(
    r"(?i)(bearer\s+|api[-_ ]?key\W{1,5}|token\W{1,5}|password\W{1,5}|secret\W{1,5})[^\s\"',;}&]+"
    r"|\b(?:sk|gw|hf|pk|rk|xai|gsk|AIza)[-_][\w-]{8,}|(?<=://)[^/\s@]+@"
)


class Misbehaved(httpx2.TransportError):
    """The server does what no model server may; the message names it, in our words."""


def place(url: str) -> str:
    """The address as messages name it: without a user, a password, a path or a query."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def phrase(status: int) -> str:
    """The status by its standard name, not by the server's."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def why(error: BaseException) -> str:
    """What went wrong below a client's error, in our words: ours as they are, of others the kind."""
    cause = error.__cause__ or error
    return str(cause) if isinstance(cause, Misbehaved) else type(cause).__name__


def note(url: str, said: object, *keys: str) -> None:
    """Log a server's reply, without secrets, in one line."""
    log.warning("%s said: %s", place(url), without_secrets(str(said), *keys))


def without_secrets(text: str, *keys: str) -> str:
    """The beginning of the text in one line, with these keys and what looks like one struck out."""
    for key in filter(None, keys):
        text = text.replace(key, "[key]")
    text = _SECRET.sub(lambda found: f"{found[1] or ''}[key]", text)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_TOLD_CHARS]


def async_client(url: str, *, most_bytes: int, timeout: httpx2.Timeout) -> httpx2.AsyncClient:
    """For the openai client. A reply of more than `most_bytes` breaks with Misbehaved."""

    async def outgoing(request: httpx2.Request) -> None:
        _prepare(url, request)

    async def incoming(response: httpx2.Response) -> None:
        _check(response)
        response.stream = _Bounded(response.stream, most_bytes)

    hooks: dict[str, list[Any]] = {"request": [outgoing], "response": [incoming]}
    return httpx2.AsyncClient(base_url=url, timeout=timeout, follow_redirects=True, event_hooks=hooks)


def openai_client(url: str, key: str, *, most_bytes: int, timeout_s: float) -> "OpenAI":
    """A reply of more than `most_bytes` breaks with Misbehaved."""
    from openai import OpenAI  # takes about as long to import as everything else together

    def incoming(response: httpx2.Response) -> None:
        _check(response)
        response.stream = _Bounded(response.stream, most_bytes)

    hooks: dict[str, list[Any]] = {"request": [lambda request: _prepare(url, request)], "response": [incoming]}
    http = _Client(base_url=url, timeout=timeout_s, follow_redirects=True, event_hooks=hooks)
    # "none": the client requires a key; a server without keys ignores it.
    return OpenAI(base_url=url, api_key=key or "none", max_retries=0, http_client=http)


class _Client(httpx2.Client):
    """Closes its connections when it is garbage-collected, as the openai client's own does."""

    def __del__(self) -> None:
        if not self.is_closed:
            self.close()


def _prepare(url: str, request: httpx2.Request) -> None:
    """Ask for no compression, which hides how long a reply is; refuse to follow to another place. Raises Misbehaved."""
    request.headers["Accept-Encoding"] = "identity"
    own, wanted = httpx2.URL(url), request.url
    if wanted.host != own.host or (wanted.scheme, wanted.port) not in ((own.scheme, own.port), ("https", None)):
        raise Misbehaved(f"redirects to {place(str(wanted))}, which is not followed; set the address that is meant")


def _check(response: httpx2.Response) -> None:
    """Raises Misbehaved."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise Misbehaved("sends a compressed reply without a request for it")


class _Bounded(httpx2.AsyncByteStream, httpx2.SyncByteStream):
    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._most = most
        self._seen = 0

    def _counted(self, chunk: bytes) -> bytes:
        self._seen += len(chunk)
        if self._seen > self._most:
            raise Misbehaved(f"sends more than {self._most >> 20} MiB")
        return chunk

    def __iter__(self) -> Iterator[bytes]:
        return map(self._counted, self._stream)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield self._counted(chunk)

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()
