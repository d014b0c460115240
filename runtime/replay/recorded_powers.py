"""The three powers, answered from a record: each the power itself with its wire taken out, so that the rest is the same code."""

import re
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import msgspec

from bus import errors
from bus.asking import Asker, digest
from bus.errors import Failure, Unavailable
from bus.events import Emitter, Event, Progress, Superseded, decode_event, shown_text
from bus.journal import AskRecord, Frame, SearchRecord, Stage
from bus.messages import Message
from bus.powers import Variables
from bus.searching import Searcher, SearchReply
from runtime.replay.trace import Shown, own

_WORDS = re.compile(r"\s*\S+|\s+$")
_FAILURES: dict[str, type[Failure]] = {
    cls.__name__: cls for cls in (errors.Failure, errors.NoReply, errors.BadReply, errors.Unavailable)
}


class Astray(Exception):
    """An actor asked or searched for what its record does not hold. `path` is that of the stage's record."""

    def __init__(self, path: str, recorded: str, now: str) -> None:
        super().__init__(f"{path}: recorded {recorded}, now {now}")
        self.path, self.recorded, self.now = path, recorded, now


class Told:
    """What the powers returned in one step; each answer is given once."""

    def __init__(self, stage: Stage | None) -> None:
        self._asks = deque(stage.asks if stage else ())
        self._searches = deque(stage.searches if stage else ())
        self._failed = failure_of(stage.fallback) if stage and stage.fallback else None
        self._asked = self._searched = 0

    @property
    def unused(self) -> list[AskRecord | SearchRecord]:
        """What was asked then and is not asked now; nothing after a failure, which cuts off what was asked beside it."""
        return [] if self._failed else [*self._asks, *self._searches]

    def ask(self, name: str, variables: bytes) -> AskRecord:
        """The reply that was recorded. Raises the recorded Failure, or Astray when there is none."""
        key = digest(variables)
        self._asked += 1
        for record in self._asks:
            if (record.prompt, record.variables) == (name, key):
                self._asks.remove(record)
                if record.failure:
                    raise self._failure(record.failure)
                return record
        if self._failed is not None and any(r.prompt == name and not r.variables for r in self._asks):
            raise self._failed  # it was waiting for its reply when another one failed
        now = f"{name} {key} {variables[:60].decode(errors='replace')}"
        same = next((r for r in self._asks if r.prompt == name), next(iter(self._asks), None))
        raise Astray(f"asks[{self._asked - 1}]", f"{same.prompt} {same.variables}" if same else "nothing", now)

    def search(self, query: str, *, language: str, k: int, bm25_k: int, vector_k: int) -> SearchRecord:
        """The hits that were recorded. Raises the recorded Failure, or Astray when there are none."""
        self._searched += 1
        for record in self._searches:
            if record.answers(query, language=language, k=k, bm25_k=bm25_k, vector_k=vector_k):
                self._searches.remove(record)
                return record
        if self._failed is not None:
            raise self._failed  # a search that failed leaves no hits
        now = f"{query} ({language}, {k} of {bm25_k} and {vector_k})"
        recorded = next(
            (f"{r.query} ({r.language}, {r.k} of {r.bm25_k} and {r.vector_k})" for r in self._searches), "nothing"
        )
        raise Astray(f"searches[{self._searched - 1}]", recorded, now)

    def _failure(self, words: str) -> Failure:
        """The failure of one ask: its record has the words, the fallback's, when it is the same, the class as well."""
        if self._failed is not None and words in str(self._failed):
            return self._failed
        return Unavailable(words)


def failure_of(fallback: str) -> Failure:
    """The failure that made a fallback answer, from `Class: words`."""
    name, _, words = fallback.partition(": ")
    return _FAILURES.get(name, Failure)(words)


class RecordedAsker(Asker):
    """`ask` without a device; a streamed text comes word by word."""

    def __init__(self, actor: str, allowed: tuple[str, ...], told: Told) -> None:
        self.actor, self.allowed, self.records = actor, allowed, []
        self._told = told

    async def _exchange(
        self, variables: Variables, *, pieces: bool, already_shown: str, place: int
    ) -> AsyncIterator[str]:
        record = self._told.ask(variables.name, msgspec.json.encode(variables))
        self.records[place] = record
        if pieces:
            text = record.said
            rest = text[len(already_shown) :] if text.startswith(already_shown) else text
            for piece in words(rest):
                yield piece


class RecordedSearcher(Searcher):
    """`search` without an index."""

    def __init__(self, told: Told) -> None:
        self.records = []
        self._told = told

    async def __call__(self, query: str, *, language: str, k: int, bm25_k: int = 5, vector_k: int = 5) -> SearchReply:
        record = self._told.search(query, language=language, k=k, bm25_k=bm25_k, vector_k=vector_k)
        self.records.append(record)
        return msgspec.json.decode(record.hits, type=SearchReply)


class Screen(Emitter):
    """`emit` without a stream: adds to `lines`, the events of the run so far. `wrote` has the frames it made of them.

    `said_aside` is what `events=all` adds.
    """

    def __init__(self, run_id: str, lines: list[bytes], *, everything: bool) -> None:
        self.run_id, self.everything, self.lines = run_id, everything, lines
        self.said_aside: list[bytes] = []
        self.wrote: list[Shown] = []
        self.first_shown_at = 0.0
        self._at = None

    async def progress(self) -> Progress:
        self._at = progress_of(self.lines)
        return self._at

    async def shown(self) -> str:
        await self.progress()
        return text_of(self.lines)

    async def aside(self, event: Event) -> None:
        if self.everything:
            self.said_aside.append(msgspec.json.encode(event))

    async def _publish(self, data: bytes, headers: dict[str, str], at: Progress) -> int:
        if at.sequence != len(self.lines):
            raise Superseded(f"another writer has gone on with run {self.run_id}")
        self.lines += data.split(b"\n")
        self.wrote.append(Shown(len(self.lines), time.time(), data, fenced=True, headers=own(headers)))
        return len(self.lines)


def wants_all(message: Message) -> bool:
    """Whether the question that a message is about was asked with `events=all`."""
    question = getattr(message, "question", None)
    return bool(getattr(question, "events", getattr(message, "events", "default")) == "all")


def progress_of(lines: Sequence[bytes]) -> Progress:
    """How far a stream of these events is."""
    return replace(Progress().after([decode_event(line) for line in lines]), sequence=len(lines))


def text_of(lines: Sequence[bytes]) -> str:
    """The text that these events show."""
    return shown_text([Frame("", 0, b"\n".join(lines), {}, fenced=True)]) if lines else ""


def words(text: str) -> list[str]:
    """A text in pieces of a word each."""
    return _WORDS.findall(text)
