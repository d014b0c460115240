"""What a client sees: the event types, and the only writer that may add to a run's stream.

To add an event type, write a Struct here and put it into one of the two unions; the readers of the stream and the documents
use those.

A frame (one message on `gw.event.<run_id>`) is only written directly after the last frame its writer saw: a writer that was
thought dead and comes back is refused, so tokens never interleave and nothing follows `DONE`.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, Union, get_args

import msgspec
from groundwire.wire import NearPassage, Reference, Source

from bus.journal.journal import EventFrame
from bus.transport.envelope import count_in, set_aside
from bus.wire.errors import UNREADABLE
from bus.wire.parts import Flag
from bus.wire.settled import UnverifiedSentence
from index.languages.characters import HAN

#: Part of a text, from one character to before another.
type Stretch = tuple[int, int]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """One JSON object of the stream."""

    type: ClassVar[str]


class Token(Event, frozen=True, kw_only=True, tag="token"):
    """`unverified`: it belongs to a sentence that goes beyond its sources; only such a token has it."""

    content: str
    status: Literal["in_progress"] = "in_progress"
    index: int
    unverified: bool | msgspec.UnsetType = msgspec.UNSET


class TokensEnd(Event, frozen=True, kw_only=True, tag="token"):
    """`unverified_at`: all unverified sentences, as stretches of the text; absent where there are none."""

    content: Literal[""] = ""
    status: Literal["end"] = "end"
    unverified_at: tuple[Stretch, ...] | msgspec.UnsetType = msgspec.UNSET


class References(Event, frozen=True, kw_only=True, tag="references"):
    items: tuple[Reference, ...]
    status: Literal["end"] = "end"


class Passages(Event, frozen=True, kw_only=True, tag="passages"):
    """The closest passages, where nothing is claimed to answer."""

    items: tuple[NearPassage, ...]
    status: Literal["end"] = "end"


class Error(Event, frozen=True, kw_only=True, tag="error"):
    """`retry_after_s`: when the question may be sent again, of one that was refused for lack of time."""

    code: str
    content: str
    status: Literal["end"] = "end"
    retry_after_s: int | msgspec.UnsetType = msgspec.UNSET


class Done(Event, frozen=True, kw_only=True, tag="DONE"):
    pass


class StageEvent(Event, frozen=True, kw_only=True, tag="stage"):
    stage: str
    lane: str
    status: Literal["start", "end"]


class Sources(Event, frozen=True, kw_only=True, tag="sources"):
    """What retrieval found, before anything is cited; provisional."""

    items: tuple[Source, ...]
    status: Literal["provisional"] = "provisional"


class Withheld(Event, frozen=True, kw_only=True, tag="withheld"):
    content: str
    flags: tuple[Flag, ...]


class Queued(Event, frozen=True, kw_only=True, tag="queued"):
    """The question waits for its turn; 1 begins next."""

    position: int


class VerdictEvent(Event, frozen=True, kw_only=True, tag="verdict"):
    re_gate: str
    confidence: str | None
    outcome: str


#: Events that every client gets.
type AnswerEvent = Token | TokensEnd | References | Passages | Error | Done
#: Events added by `events=all`.
type ProgressEvent = StageEvent | Sources | Withheld | VerdictEvent | Queued
type StreamEvent = AnswerEvent | ProgressEvent

ANSWER_EVENTS: tuple[type[Event], ...] = get_args(AnswerEvent.__value__)
PROGRESS_EVENTS: tuple[type[Event], ...] = get_args(ProgressEvent.__value__)
EVENT_TYPES = ANSWER_EVENTS + PROGRESS_EVENTS

DONE_LINE = b'{"type":"DONE"}'
FIRST, TOKENS, PHASE, AFTER = "Gw-First", "Gw-Tokens", "Gw-Phase", "Nats-Expected-Last-Subject-Sequence"
#: The evidence's number for each number of the text shown so far, where they are not the same: `4,2` for [1] and [2].
CITED = "Gw-Cited"
_encode = msgspec.json.Encoder().encode

#: A token of shown text: non-space characters with the space before them; Chinese is sent two characters at a time.
_TOKEN = re.compile(rf"\s*(?:[{HAN}][{HAN}、，。！？；：]?|[^\s{HAN}]+)|\s+")


def tokens_of(text: str) -> list[str]:
    """The pieces a text is streamed in; concatenated, they are the text."""
    return _TOKEN.findall(text)


_NUMBERS = re.compile(r"[0-9]{1,3}(?:,[0-9]{1,3}){0,999}")


class Superseded(Exception):
    """Another writer has continued this run, so this one must not write any more."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run's stream has come.

    `phase`: open, ended (its tokens are complete, or an error replaced them) or closed (DONE is written). `cited`: the evidence's
    numbers behind the numbers of the text; empty where they are the same.
    """

    events: int = 0
    tokens: int = 0
    phase: Literal["open", "ended", "closed"] = "open"
    sequence: int = 0
    cited: tuple[int, ...] = ()

    def after(self, events: Sequence[Event]) -> "Progress":
        """The progress after these events were added; `sequence` is unchanged."""
        kinds = list(map(type, events))
        phase = "closed" if Done in kinds else "ended" if TokensEnd in kinds or Error in kinds else self.phase
        return Progress(self.events + len(kinds), self.tokens + kinds.count(Token), phase, self.sequence)


class EventStore(Protocol):
    """Where frames of events are kept: the journal, or memory in a replay."""

    async def last_frame(self, run_id: str) -> EventFrame | None: ...
    async def frames(self, run_id: str) -> list[EventFrame]: ...
    async def add_frame(self, run_id: str, data: bytes, headers: Mapping[str, str]) -> int | None:
        """The new frame's sequence; None when the last frame is not the frame of `AFTER`. Raises Unavailable."""
        ...

    async def add_aside(self, run_id: str, data: bytes) -> None: ...


class Emitter:
    """The power `emit`: adds to one run's stream, in order, each event once.

    The first write assumes an empty stream; a writer that may not be the first calls `progress` or `shown` before it.
    """

    def __init__(self, store: EventStore, run_id: str, *, everything: bool = False, first: bool = False) -> None:
        """`first`: no frame can exist yet; if there is one, the fence refuses the first write."""
        self.store = store
        self.run_id = run_id
        self.everything = everything
        self.first = first
        self.first_shown_at = 0.0  # epoch seconds; 0 until a token is written
        self._at: Progress | None = None

    async def progress(self) -> Progress:
        """The progress of the stream, read from the store. Raises Unavailable."""
        last = await self.store.last_frame(self.run_id)
        self._at = _progress_after(last)
        return self._at

    async def shown(self) -> str:
        """The text the client has been shown so far."""
        if self.first and self._at is None:
            return ""
        if (self._at or await self.progress()).tokens == 0:
            return ""
        return shown_text(await self.store.frames(self.run_id))

    async def unverified(self) -> tuple[UnverifiedSentence, ...]:
        """What of the text shown so far was marked as unverified."""
        return unverified_in(await self.store.frames(self.run_id))

    async def tokens(
        self, pieces: Sequence[str], *, cited: Sequence[int] = (), unverified: Sequence[Stretch] = ()
    ) -> None:
        """Show these pieces, as one frame. Raises Superseded when another writer came between, Unavailable.

        `cited`: the evidence's numbers behind those of the text, with these pieces; a later attempt continues them.
        `unverified`: stretches of these pieces that go beyond their sources.
        """
        if not pieces:
            return
        at = self._at or Progress()
        marks = _marks(pieces, unverified) if unverified else [msgspec.UNSET] * len(pieces)
        tokens = [
            Token(content=piece, index=at.tokens + n, unverified=mark)
            for n, (piece, mark) in enumerate(zip(pieces, marks, strict=True), start=1)
        ]
        own = any(n != place for place, n in enumerate(cited, start=1))
        await self._write(tokens, {CITED: ",".join(map(str, cited))} if own else {})
        self.first_shown_at = self.first_shown_at or time.time()

    async def text(self, text: str, *, unverified: Sequence[Stretch] = ()) -> None:
        await self.tokens(tokens_of(text), unverified=unverified)

    async def events(self, *events: Event) -> None:
        """Add events other than tokens, as one frame. Raises Superseded, Unavailable."""
        if events:
            await self._write(events)

    async def aside(self, event: Event) -> None:
        """Send what only `events=all` shows: not fenced, and lost if the process dies."""
        if self.everything:
            await self.store.add_aside(self.run_id, _encode(event))

    async def _write(self, events: Sequence[Event], more: Mapping[str, str] | None = None) -> None:
        at = self._at or Progress()
        if at.phase == "closed":
            raise Superseded(f"run {self.run_id} is over")
        after = at.after(events)
        data = b"\n".join(_encode(event) for event in events)
        headers = {
            FIRST: str(at.events + 1),
            TOKENS: str(after.tokens),
            PHASE: after.phase,
            AFTER: str(at.sequence),
            **(more or {}),
        }
        sequence = await self.store.add_frame(self.run_id, data, headers)
        if sequence is None:
            sequence = await self._written_before(data, at)
        self._at = replace(after, sequence=sequence)

    async def _written_before(self, data: bytes, at: Progress) -> int:
        """Whether the refused frame is already in the stream because its ack was lost. Raises Superseded if not."""
        last = await self.store.last_frame(self.run_id)
        if last is not None and last.data == data and last.headers.get(FIRST) == str(at.events + 1):
            return last.sequence
        raise Superseded(f"another writer has continued run {self.run_id}")


def _progress_after(frame: EventFrame | None) -> Progress:
    if frame is None:
        return Progress()
    phase = frame.headers.get(PHASE, "open")
    return Progress(
        count_in(frame.headers, FIRST, 1) + frame.data.count(b"\n"),
        count_in(frame.headers, TOKENS, 0),
        "closed" if phase == "closed" else "ended" if phase == "ended" else "open",
        frame.sequence,
        numbers_behind(frame),
    )


def numbers_behind(frame: EventFrame) -> tuple[int, ...]:
    """The evidence's numbers behind those of the text up to this frame; empty where they are the same."""
    said = frame.headers.get(CITED, "")
    return tuple(map(int, said.split(","))) if said and _NUMBERS.fullmatch(said) else ()


class _Tag(msgspec.Struct):
    type: str
    status: str = ""


_tag = msgspec.json.Decoder(_Tag)
_end = msgspec.json.Decoder(TokensEnd)
# Token and TokensEnd share a tag; only TokensEnd has a status.
_events: Any = msgspec.json.Decoder(Union[*(each for each in EVENT_TYPES if each is not TokensEnd)])


def decode_event(line: bytes) -> StreamEvent:
    """Decode an event from its wire form. Raises msgspec.DecodeError."""
    tag = _tag.decode(line)
    event: StreamEvent = _end.decode(line) if (tag.type, tag.status) == ("token", "end") else _events.decode(line)
    return event


def shown_text(frames: Sequence[EventFrame]) -> str:
    """The concatenated tokens of a run's frames; lines that are no events are left out."""
    return "".join(token.content for token in _tokens_in(frames))


def unverified_in(frames: Sequence[EventFrame]) -> tuple[UnverifiedSentence, ...]:
    """What of that text was marked as unverified, without the reasons."""
    places: list[Stretch] = []
    text = ""
    for token in _tokens_in(frames):
        start, text = len(text), text + token.content
        if token.unverified is True:
            joined = bool(places) and places[-1][1] == start
            places.append((places.pop()[0] if joined else start, len(text)))
    return tuple(UnverifiedSentence(text=text[a:b], answer_start=a, answer_end=b) for a, b in places)


def _tokens_in(frames: Sequence[EventFrame]) -> list[Token]:
    lines = (line for frame in frames if frame.fenced for line in frame.data.split(b"\n"))
    return [event for event in map(event_in, filter(None, lines)) if isinstance(event, Token)]


def _marks(pieces: Sequence[str], stretches: Sequence[Stretch]) -> Iterator[bool | msgspec.UnsetType]:
    """Of each piece whether its words belong to one of the stretches."""
    at = 0
    for piece in pieces:
        start, at = at + len(piece) - len(piece.lstrip()), at + len(piece)
        yield True if any(begin < at and start < end for begin, end in stretches) else msgspec.UNSET


def is_event(line: bytes) -> bool:
    """Whether a line of any writer can be passed on: one JSON object of some type, perhaps of a newer version."""
    try:
        _tag.decode(line)
        # Parts that are skipped need not be text; and a reader of server-sent events takes a CR for the end of a line.
        return "\r" not in line.decode()
    except UNREADABLE as error:
        set_aside("event", repr(line[:80]), error)
        return False


def event_in(line: bytes) -> StreamEvent | None:
    """The event of a line of any writer; None if it is no event."""
    try:
        return decode_event(line)
    except UNREADABLE as error:
        set_aside("event", repr(line[:80]), error)
        return None
