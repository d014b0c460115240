"""Send a run to a client: one loop for every protocol, with one rule for time limits, slow clients, silence and errors.

A protocol supplies a `Form`, which writes the run in units (bytes of a stream, frames of a socket, notifications), and a `Client`,
which sends the units. A silent run sends a sign of life every `keepalive_s`, as long as its events can still come. A client that
reads too slowly is disconnected. When this process can no longer read the run, a client that resumes is cut off and any other gets
the error.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec
from groundwire.wire import FAILURES, NearPassage, Reference

from bus.powers.events import (
    DONE_LINE,
    Done,
    Error,
    Passages,
    ProgressEvent,
    References,
    StreamEvent,
    Stretch,
    Token,
    TokensEnd,
    event_in,
)
from bus.runs.router import Numbered, Reader, TooSlow
from bus.wire.errors import Unavailable
from runtime.edge.problems import EXPECTED, Problem, problem_of
from runtime.edge.state import Edge

_encode = msgspec.json.Encoder().encode


def events_of(problem: Problem) -> tuple[bytes, bytes]:
    """The problem as the last events of a stream: an error, and DONE."""
    error = Error(code=problem.code, content=problem.detail, retry_after_s=problem.retry_after_s)
    return _encode(error), DONE_LINE


class Transcript:
    """What a run has shown so far. `unverified`: what of it goes beyond its sources, known at its end; `withdrawn`: why the answer
    shown was taken back; `failure`: why there is none.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.text = ""
        self.references: tuple[Reference, ...] = ()
        self.passages: tuple[NearPassage, ...] = ()
        self.unverified: tuple[Stretch, ...] = ()
        self.withdrawn = ""
        self.failure: Problem | None = None

    def add(self, batch: Sequence[Numbered]) -> Iterator[tuple[int, list[str] | ProgressEvent]]:
        """The new tokens, as many together as follow one another, and the events of progress, each with the last number."""
        tokens: list[str] = []
        last = 0
        for number, line in batch:
            event = event_in(line)
            if isinstance(event, Token):
                self.text += event.content
                tokens.append(event.content)
                last = number
            elif event is not None and (progress := self._keep(event)) is not None:
                if tokens:
                    yield last, tokens
                    tokens = []
                yield number, progress
        if tokens:
            yield last, tokens

    def _keep(self, event: StreamEvent) -> ProgressEvent | None:
        """Keep the contents of an event; returns the event itself if it is one of progress."""
        match event:
            case Error() if event.code in FAILURES:
                again = {"Retry-After": str(event.retry_after_s)} if event.retry_after_s else {}
                self.failure = Problem(FAILURES[event.code], event.code, event.content, again)
            case Error():
                self.withdrawn = event.content
            case References():
                self.references = event.items
            case Passages():
                self.passages = event.items
            case TokensEnd():
                self.unverified = event.unverified_at or ()
            case Token() | Done():
                pass
            case _:
                return event
        return None

    def check(self) -> None:
        """Raises Problem when the run has failed."""
        if self.failure is not None:
            raise self.failure


class Form[Unit](ABC):
    """How one protocol writes one run. Each method returns the units to send, in order."""

    def begin(self) -> Iterable[Unit]:
        return ()

    @abstractmethod
    def events(self, batch: Sequence[Numbered]) -> Iterable[Unit]:
        """All events that are ready."""

    async def end(self) -> Iterable[Unit]:
        """After DONE. Raises EXPECTED."""
        return ()

    def failed(self, problem: Problem) -> Iterable[Unit]:
        """In place of the rest, when there is no answer or it cannot be read. Raises Problem where the caller reports it."""
        raise problem


class TextForm[Unit](Form[Unit]):
    """The form of a protocol with its own events: text while it is released, then the sources."""

    def __init__(self, run_id: str) -> None:
        self.run = Transcript(run_id)

    def events(self, batch: Sequence[Numbered]) -> Iterator[Unit]:
        for number, part in self.run.add(batch):
            yield from self.text(number, part) if isinstance(part, list) else self.progress(number, part)

    @abstractmethod
    def text(self, number: int, tokens: list[str]) -> Iterable[Unit]:
        """Tokens that follow one another; `number` is the last one's."""

    def progress(self, number: int, event: ProgressEvent) -> Iterable[Unit]:
        """An event that only questions with `events=all` get."""
        return ()


class Client[Unit](Protocol):
    """The connection to a client. `resumes`: the client reads on after its stream was cut off."""

    resumes: bool

    async def send(self, units: Iterable[Unit]) -> None:
        """Raises TimeoutError when the client has stopped reading."""

    async def alive(self) -> None:
        """Nothing has happened for a while."""

    async def cut_off(self) -> None:
        """The stream ends before the run does."""

    async def drop(self) -> Exception:
        """Disconnect a client that reads too slowly; returns the error to raise."""
        ...


async def relay[Unit](edge: Edge, reader: Reader, form: Form[Unit], client: Client[Unit]) -> None:
    """Send the run to the client until its end.

    Raises CancelledError or ConnectionResetError when the client has disconnected or was dropped, and what `form.failed` raises.
    """
    began, first = time.monotonic(), True
    try:
        try:
            await client.send(form.begin())
            while (batch := await reader.batch_within(edge.timeouts.keepalive_s)) != []:
                if batch is None:
                    await edge.check_awaited(reader.run_id)
                    await client.alive()
                    continue
                await client.send(form.events(batch))
                if first:
                    first = False
                    edge.metrics.first_event_s.observe(time.monotonic() - began)
            await client.send(await form.end())
        except EXPECTED as error:
            if client.resumes and isinstance(error, Unavailable):
                await client.cut_off()
            else:
                await client.send(form.failed(problem_of(error)))
    except (TooSlow, TimeoutError):
        raise await client.drop() from None


async def whole(reader: Reader, timeout_s: float, late: str, headers: Mapping[str, str] | None = None) -> Transcript:
    """The run once it has ended. Raises Unavailable, and Problem 504 with the detail `late` when it does not end in time."""
    transcript = Transcript(reader.run_id)
    for batch in await all_batches(reader, timeout_s, late, headers):
        for _ in transcript.add(batch):
            pass
    return transcript


async def all_batches(
    reader: Reader, timeout_s: float, late: str, headers: Mapping[str, str] | None = None
) -> list[list[Numbered]]:
    """All events of the run once it has ended. Raises as `whole`."""
    batches = []
    try:
        async with asyncio.timeout(timeout_s):
            while batch := await reader.batch():
                batches.append(batch)
    except (TimeoutError, TooSlow):
        raise Problem(504, "timeout", late, headers) from None
    return batches
