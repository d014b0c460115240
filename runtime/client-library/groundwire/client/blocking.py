"""The same client without async: its calls wait. It runs the other on an event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from groundwire.client.client import LOCAL, Client
from groundwire.client.events import Known, Unknown
from groundwire.client.messages import Cancelled, Checked, Context, Filter, Hits, Question, Run, SourceList, SourceText
from groundwire.client.stream import Stream


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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._wait(self._client.__aexit__(kind, error, traceback))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def ask(self, question: Question | str) -> Run:
        """Ask, wait for the end, and get the record. Raises GroundwireError."""
        return self._wait(self._client.ask(question))

    @contextmanager
    def stream(self, question: Question | str) -> Iterator["BlockingStream"]:
        """Ask, and follow the answer: `with client.stream("…") as stream: for event in stream: …`. Raises GroundwireError."""
        with self._followed(self._client.stream(question)) as stream:
            yield stream

    @contextmanager
    def resume(self, run_id: str, after: int = 0) -> Iterator["BlockingStream"]:
        """Follow a run after event number `after`. Raises GroundwireError."""
        with self._followed(self._client.resume(run_id, after)) as stream:
            yield stream

    def run(self, run_id: str) -> Run:
        """The record of a run so far. Raises GroundwireError."""
        return self._wait(self._client.run(run_id))

    def cancel(self, run_id: str) -> Cancelled:
        """End a run. Raises GroundwireError."""
        return self._wait(self._client.cancel(run_id))

    def search(self, query: str, *, k: int = 10, language: str | None = None, filter: Filter | None = None) -> Hits:
        """The passages that a question would be answered from. Raises GroundwireError."""
        return self._wait(self._client.search(query, k=k, language=language, filter=filter))

    def check(
        self,
        text: str = "",
        *,
        sentences: Sequence[str] = (),
        contexts: Sequence[Context] | None = None,
        language: str | None = None,
        filter: Filter | None = None,
    ) -> Checked:
        """Compare each sentence of a text, or each of `sentences`, with the documents or `contexts`. Raises GroundwireError."""
        return self._wait(
            self._client.check(text, sentences=sentences, contexts=contexts, language=language, filter=filter)
        )

    def source(self, source_id: str, start: int | None = None, end: int | None = None) -> SourceText:
        """A document's text, or the characters `start..end` of it. Raises GroundwireError."""
        return self._wait(self._client.source(source_id, start, end))

    def sources(self, after: str = "", limit: int | None = None) -> SourceList:
        """The documents that may be searched, by id; the next ones after `after`. Raises GroundwireError."""
        return self._wait(self._client.sources(after, limit))

    def profiles(self) -> list[str]:
        """The names of the profiles. Raises GroundwireError."""
        return self._wait(self._client.profiles())

    @contextmanager
    def _followed(self, stream: Stream) -> Iterator["BlockingStream"]:
        self._wait(stream.__aenter__())
        try:
            yield BlockingStream(stream, self._loop)
        finally:
            self._wait(stream.__aexit__(None, None, None))

    def _wait[T](self, work: Coroutine[object, object, T]) -> T:
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


def _waited[T](loop: asyncio.AbstractEventLoop, work: Coroutine[object, object, T]) -> T:
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:  # an interrupt, above all
        future.cancel()
        raise
