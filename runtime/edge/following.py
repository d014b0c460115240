"""A run as the client of another protocol than ours follows it: text as it is shown, then what it rests on.

The routes that speak OpenAI's, the AI SDK's or MCP's language write what this reads in their own form.
"""

from collections.abc import AsyncIterator
from itertools import groupby

from bus.events import Done, Error, Passages, ProgressEvent, References, StreamEvent, Token, TokensEnd, event_in
from bus.messages import NearPassage, Reference
from bus.router import Reader
from runtime.edge.problems import Problem

#: The HTTP status of each error event that means no answer; any other error withdraws an answer already shown.
FAILURES = {
    "timeout": 504,
    "model_unavailable": 503,
    "internal": 500,
    "cancelled": 409,
    "overloaded": 429,
    "unavailable": 503,
    "invalid": 422,
    "no_such_profile": 422,
}


class Followed:
    """What a run has shown so far. `withdrawn`: why the answer shown was taken back; empty if it was not."""

    def __init__(self, reader: Reader, keepalive_s: float) -> None:
        self.reader = reader
        self.keepalive_s = keepalive_s
        self.text = ""
        self.references: tuple[Reference, ...] = ()
        self.passages: tuple[NearPassage, ...] = ()
        self.withdrawn = ""

    @property
    def run_id(self) -> str:
        return self.reader.run_id

    async def pieces(self) -> AsyncIterator[str | None]:
        """Text as it arrives, whatever is ready in one piece; None after a silence.

        Raises Problem for a failure, TooSlow, Unavailable.
        """
        async for part in self.parts():
            if part is None or isinstance(part, str):
                yield part

    async def parts(self) -> AsyncIterator[str | ProgressEvent | None]:
        """`pieces`, and in their places the events that only a question with `events=all` gets."""
        async for batch in self.batches():
            if batch is None:
                yield None
                continue
            for is_text, together in groupby(batch, key=lambda part: isinstance(part, str)):
                if is_text:
                    yield "".join(part for part in together if isinstance(part, str))
                else:
                    for part in together:
                        yield part

    async def batches(self) -> AsyncIterator[list[str | ProgressEvent] | None]:
        """Whatever is ready, token by token as the run wrote them; None after a silence. Raises what `pieces` raises."""
        async for batch in self.numbered():
            yield None if batch is None else [part for _, part in batch]

    async def numbered(self) -> AsyncIterator[list[tuple[int, str | ProgressEvent]] | None]:
        """`batches`, each part with its event's number."""
        while (batch := await self.reader.batch_within(self.keepalive_s)) != []:
            if batch is None:
                yield None
                continue
            ready: list[tuple[int, str | ProgressEvent]] = []
            failure: Problem | None = None
            for number, line in batch:
                if (event := event_in(line)) is None:
                    continue
                if isinstance(event, Token):
                    self.text += event.content
                    ready.append((number, event.content))
                    continue
                try:
                    progress = self._note(event)
                except Problem as problem:
                    failure = problem
                    break
                if progress is not None:
                    ready.append((number, progress))
            if ready:
                yield ready
            if failure is not None:
                raise failure

    def _note(self, event: StreamEvent) -> ProgressEvent | None:
        """Keep what an event says; the event itself if it is one of progress. Raises Problem for a failure."""
        match event:
            case Error() if event.code in FAILURES:
                raise Problem(FAILURES[event.code], event.code, event.content)
            case Error():
                self.withdrawn = event.content
            case References():
                self.references = event.items
            case Passages():
                self.passages = event.items
            case Token() | TokensEnd() | Done():
                pass
            case _:
                return event
        return None
