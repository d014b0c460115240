"""Stand-ins for device, index and event stream that answer from a record; the powers above them are the usual code."""

import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from bus.journal.journal import EventFrame
from bus.journal.records import AskRecord, SearchRecord, Stage
from bus.powers.asker import digest
from bus.powers.asking import AskRequest
from bus.powers.events import AFTER, CITED, FIRST, PHASE, TOKENS, Progress, decode_event, shown_text
from bus.powers.searching import SearchReply, SearchRequest, answers, reply_of
from bus.wire import errors
from bus.wire.errors import Failure, Unavailable
from index.filters import words_of
from prompts.contracts import PROMPTS, Chunk, Evidence
from runtime.engines.scripted.engine import words
from runtime.replay.trace import Shown, own

_FAILURES: dict[str, type[Failure]] = {
    name: cls for name, cls in vars(errors).items() if isinstance(cls, type) and issubclass(cls, Failure)
}


class Astray(Exception):
    """An actor asked or searched for something that its record lacks. `path` is a path in the stage's record."""

    def __init__(self, path: str, recorded: str, now: str) -> None:
        super().__init__(f"{path}: recorded {recorded}, now {now}")
        self.path, self.recorded, self.now = path, recorded, now


def digests(prompt: str, variables: bytes) -> tuple[str, ...]:
    """The digests that identify these variables in a record: today's, and those from before each optional field."""
    found = [digest(variables)]
    for without in (frozenset[str](), _LATER_OF_PARTS):
        fields = {name: _without(value, without) for name, value in msgspec.json.decode(variables).items()}
        found.append(digest(msgspec.json.encode(fields)))
        for name in reversed(_LATER.get(prompt, ())):
            if fields.pop(name, None) is not None:
                found.append(digest(msgspec.json.encode(fields)))
    return tuple(dict.fromkeys(found))


def _without(value: object, names: frozenset[str]) -> object:
    """The value; where it is a list of passages or evidence, each without these fields."""
    if not isinstance(value, list):
        return value
    return [
        {name: of for name, of in one.items() if name not in names} if isinstance(one, dict) else one for one in value
    ]


#: The optional fields of each prompt, in the order in which they were added.
_LATER = {
    prompt.name: later
    for prompt in PROMPTS
    if (later := tuple(field.name for field in msgspec.structs.fields(prompt) if field.default is msgspec.UNSET))
}
#: The optional fields of passages and evidence.
_LATER_OF_PARTS = frozenset(
    field.name for part in (Chunk, Evidence) for field in msgspec.structs.fields(part) if field.default is msgspec.UNSET
)


class Replies:
    """What the powers returned in one step, to be returned again; each reply is used once."""

    def __init__(self, stage: Stage | None) -> None:
        self._asks = deque(stage.asks if stage else ())
        self._searches = deque(stage.searches if stage else ())
        self._failed = failure_of(stage.fallback) if stage and stage.fallback else None
        self._asked = self._searched = 0

    async def answer(self, request: AskRequest) -> AsyncIterator[str | AskRecord]:
        """`ask` without a device; a streamed text comes word by word."""
        record = self._ask(request.prompt, bytes(request.variables))
        if request.pieces:
            for piece in words(record.said.removeprefix(request.already_shown)):
                yield piece
        yield record

    async def find(self, request: SearchRequest) -> tuple[SearchReply, SearchRecord]:
        record = self._search(request)
        return reply_of(record), record

    @property
    def unused(self) -> list[AskRecord | SearchRecord]:
        """Recorded asks that were not repeated; none after a failure, which cuts off concurrent asks."""
        return [] if self._failed else [*self._asks, *self._searches]

    def _ask(self, name: str, variables: bytes) -> AskRecord:
        """The recorded reply. Raises the recorded Failure, or Astray when there is neither."""
        keys = digests(name, variables)
        self._asked += 1
        for record in self._asks:
            if record.prompt == name and record.variables in keys:
                self._asks.remove(record)
                if record.failure:
                    raise self._failure(record.failure)
                return record
        if self._failed is not None and any(r.prompt == name and not r.variables for r in self._asks):
            raise self._failed  # it was waiting for its reply when another ask failed
        now = f"{name} {keys[0]} {variables[:60].decode(errors='replace')}"
        same = next((r for r in self._asks if r.prompt == name), next(iter(self._asks), None))
        raise Astray(f"asks[{self._asked - 1}]", f"{same.prompt} {same.variables}" if same else "nothing", now)

    def _search(self, request: SearchRequest) -> SearchRecord:
        """The recorded hits. Raises the recorded Failure, or Astray when there are neither."""
        self._searched += 1
        for record in self._searches:
            if answers(record, request):
                self._searches.remove(record)
                return record
        if self._failed is not None:
            raise self._failed  # a search that failed leaves no hits
        recorded = next(map(_words_of, self._searches), "nothing")
        raise Astray(f"searches[{self._searched - 1}]", recorded, _words_of(request))

    def _failure(self, words: str) -> Failure:
        """The failure of one ask: its record has the message; the fallback's, if it is the same failure, also the class."""
        if self._failed is not None and words in str(self._failed):
            return self._failed
        return Unavailable(words)


def _words_of(search: SearchRequest | SearchRecord) -> str:
    filtered = f", {words_of(search.filter)}" if search.filter else ""
    order = "" if search.rerank else ", not reranked"
    return f"{search.query} ({search.language}, {search.k} of {search.bm25_k} and {search.vector_k}{filtered}{order})"


def failure_of(fallback: str) -> Failure:
    """The failure that led to a fallback, parsed from `Class: message`."""
    name, _, words = fallback.partition(": ")
    return _FAILURES.get(name, Failure)(words)


class EventMemory:
    """A run's events without a journal: they are appended to `lines`, and their frames to `added`, in order.

    `asides` is what `events=all` adds. `cited`: the header of that name of the last frame among `lines`.
    """

    def __init__(self, lines: list[bytes], cited: str = "") -> None:
        self.lines = lines
        self.cited = cited
        self.added: list[Shown] = []
        self.asides: list[bytes] = []

    async def last_frame(self, run_id: str) -> EventFrame | None:
        if not self.lines:
            return None
        at = replace(Progress().after([decode_event(line) for line in self.lines]), sequence=len(self.lines))
        headers = {FIRST: str(at.events), TOKENS: str(at.tokens), PHASE: at.phase, CITED: self.cited}
        return EventFrame(run_id, at.sequence, self.lines[-1], headers, fenced=True)

    async def frames(self, run_id: str) -> list[EventFrame]:
        return [EventFrame(run_id, len(self.lines), b"\n".join(self.lines), {}, fenced=True)] if self.lines else []

    async def add_frame(self, run_id: str, data: bytes, headers: Mapping[str, str]) -> int | None:
        if headers[AFTER] != str(len(self.lines)):
            return None
        self.lines += data.split(b"\n")
        self.cited = headers.get(CITED, "")
        self.added.append(Shown(len(self.lines), time.time(), data, fenced=True, headers=own(headers)))
        return len(self.lines)

    async def add_aside(self, run_id: str, data: bytes) -> None:
        self.asides.append(data)


def text_of(lines: Sequence[bytes]) -> str:
    return shown_text([EventFrame("", 0, b"\n".join(lines), {}, fenced=True)]) if lines else ""
