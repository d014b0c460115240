"""The same client without async: its calls wait. It runs the other on an event loop in a thread of its own."""

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Concatenate, Self

from groundwire.client.client import LOCAL, Client
from groundwire.client.events import Known, Unknown
from groundwire.client.messages import Cancelled
from groundwire.client.stream import Stream

type _Method[Of, **P, R] = Callable[Concatenate[Of, P], R]


def _waiting[**P, R](method: _Method[Client, P, Coroutine[Any, Any, R]]) -> "_Method[BlockingClient, P, R]":
    """The method of the client, which returns when that is done."""

    @functools.wraps(method)
    def call(self: "BlockingClient", /, *given: P.args, **named: P.kwargs) -> R:
        return self._wait(method(self._client, *given, **named))

    return call


def _following[**P](
    method: _Method[Client, P, Stream],
) -> "_Method[BlockingClient, P, AbstractContextManager[BlockingStream]]":
    """The method of the client: `with client.stream("…") as stream: for event in stream: …`."""

    @contextmanager
    @functools.wraps(method)
    def call(self: "BlockingClient", /, *given: P.args, **named: P.kwargs) -> "Iterator[BlockingStream]":
        stream = method(self._client, *given, **named)
        self._wait(stream.__aenter__())
        try:
            yield BlockingStream(stream, self._loop)
        finally:
            self._wait(stream.__aexit__(None, None, None))

    return call


class BlockingClient:
    """A connection to one server, to be used as `with BlockingClient() as client`; see `Client`."""

    def __init__(self, url: str = LOCAL, *, key: str | None = None, patience_s: float = 30.0) -> None:
        self._client = Client(url, key=key, patience_s=patience_s)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="groundwire-client", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._wait(self._client.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._wait(self._client.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    ask = _waiting(Client.ask)
    stream = _following(Client.stream)
    resume = _following(Client.resume)
    run = _waiting(Client.run)
    cancel = _waiting(Client.cancel)
    search = _waiting(Client.search)
    check = _waiting(Client.check)
    source = _waiting(Client.source)
    sources = _waiting(Client.sources)
    profiles = _waiting(Client.profiles)

    def _wait[T](self, work: Coroutine[Any, Any, T]) -> T:
        return _waited(self._loop, work)


class BlockingStream:
    """A `Stream` that is iterated without async; what it knows of the run is in `state`."""

    def __init__(self, state: Stream, loop: asyncio.AbstractEventLoop) -> None:
        self.state = state
        self._loop = loop

    def __iter__(self) -> Iterator[Known | Unknown]:
        """Each event once, in order, up to and with Done. Raises GroundwireError."""
        events = aiter(self.state)

        async def following() -> Known | Unknown | None:
            return await anext(events, None)

        try:
            while (event := _waited(self._loop, following())) is not None:
                yield event
        finally:
            _waited(self._loop, events.aclose())  # type: ignore[attr-defined]

    def cancel(self) -> Cancelled:
        """End the run. Raises GroundwireError."""
        return _waited(self._loop, self.state.cancel())


def _waited[T](loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:  # an interrupt, above all
        future.cancel()
        raise
