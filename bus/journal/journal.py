"""The journal: every record of every run, each key written once.

The server refuses a second write to a key, which gives at-least-once execution with exactly one kept result; a refused write
counts as success. `bus.journal.records` defines a record; long ones are stored packed (`bus.journal.records`).
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import APIError, ServiceUnavailableError

from bus.journal.records import Record, Stage, encode, pack, unpack
from bus.transport.configuration import ApiError, ApiReply
from bus.transport.connection import inbox_of, status_of
from bus.transport.envelope import count_in, set_aside
from bus.wire.errors import Unavailable
from bus.wire.messages import Message
from bus.wire.subjects import EVENTS, RUNS, BadId, Key, event_subject, is_fenced, parse, progress_subject, run_filters

STORE_FAILED = 10077  # a limit of the stream was hit; only the description names it
KEY_EXISTS = "maximum messages per subject exceeded"
WRONG_LAST = 10071  # "wrong last sequence"
NO_ROOM = {10023, 10047, 10051, 10122}  # insufficient resources, storage, memory, limits

NOT_THERE = {10043, 10057}  # sequence not found, no message found

#: The pause before a write is tried again, in seconds.
AGAIN_S = 0.05
#: How often a read is tried, with that pause.
TRIES = 40
#: How long a failed write counts when no other is tried, in seconds.
FAILURE_COUNTS_S = 10.0
NOT_STORED: Final = "the journal did not store the last record; is the disk of nats-server full?"
#: How often a leader is asked that has not heard of most of the others lately, before it counts as cut off.
MAJORITY_TRIES = 20
#: The problem when one server of a cluster lacks a record that another has stored.
LAGS = "the nats-server here lags behind the others of its cluster; ask again in a moment"

#: The server's headers on a message that is read back; of two headers with one name, its own comes last and counts.
SUBJECT, SEQUENCE, TIME = "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp"


@dataclass(frozen=True, slots=True)
class Usage:
    """How full a stream is. `limit_bytes` is 0 where there is none; `first` and `last` are sequences, 0 where it never had one."""

    size_bytes: int
    limit_bytes: int
    messages: int
    first: int
    last: int


class Journal:
    """Reads and writes RUNS, and reads EVENTS back. One per connection."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.js: JetStreamContext = client.jetstream(timeout=2.0)
        self._inbox = inbox_of(client)
        self._failed_at: float | None = None  # on the loop's clock; None once a write was stored

    @property
    def in_cluster(self) -> bool:
        """Whether the server is one of several, and any of them may answer a read."""
        return bool(self.client._server_info.get("cluster"))

    @property
    def failure(self) -> str:
        """The problem while the last write was not stored, or has waited for a second, as when the server's disk is full."""
        failed = self._failed_at is not None and asyncio.get_running_loop().time() - self._failed_at < FAILURE_COUNTS_S
        return NOT_STORED if failed else ""

    async def write(
        self,
        key: Key,
        message: Message,
        *,
        stage: Stage | None = None,
        headers: Mapping[str, str] | None = None,
        patience_s: float = 30.0,
    ) -> int | None:
        """Write once: the record's sequence. None: the key exists already, and the stored record is the result.

        Retries while the server is away. Raises Unavailable after `patience_s`, or at once when the stream is full.
        """
        return await self.publish(key.subject, encode(message, stage), headers=headers, patience_s=patience_s)

    async def publish(
        self, subject: str, data: bytes, *, headers: Mapping[str, str] | None = None, patience_s: float = 30.0
    ) -> int | None:
        """Like `write`, for bytes that are already a record, or could not become one.

        A leader that was cut off refuses a second try because of the first, which it holds and will never store: only what can
        be read exists.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + patience_s
        while True:
            left_s = give_up - loop.time()
            sequence = await self._put(RUNS, subject, pack(subject, data), headers, patience_s=left_s)
            if sequence is not None:
                return sequence
            if await self.latest([subject]):
                return None
            if loop.time() > give_up:
                raise Unavailable(f"the stream {RUNS} takes no record, and has none; is nats-server with the others?")
            await asyncio.sleep(AGAIN_S)

    async def add_frame(self, run_id: str, data: bytes, headers: Mapping[str, str]) -> int | None:
        """Add a frame to a run's events: its sequence, or None when another frame came first (see its headers).

        Raises Unavailable.
        """
        return await self._put(EVENTS, event_subject(run_id), data, headers, patience_s=30.0)

    async def add_aside(self, run_id: str, data: bytes) -> None:
        """Add an event that only `events=all` shows: unordered, and lost if the process dies."""
        await self.client.publish(progress_subject(run_id), data)

    async def _put(
        self, stream: str, subject: str, data: bytes, headers: Mapping[str, str] | None, *, patience_s: float
    ) -> int | None:
        """The sequence it was stored under; None when a rule of the stream refuses it. Raises Unavailable."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + patience_s
        while True:
            last: object
            try:
                reply = await self.client.request(
                    subject, data, timeout=1.0, headers={**(headers or {}), "Nats-Expected-Stream": stream}
                )
                ack = _acks.decode(reply.data)
                if ack.error is None:
                    self._failed_at = None
                    return ack.seq
                last = ack.error.description
                if ack.error.err_code == WRONG_LAST or (ack.error.err_code == STORE_FAILED and last == KEY_EXISTS):
                    return None
                self._failed_at = loop.time()
                if (problem := full_or_down(ack.error)) is not None:
                    raise problem
            except (nats.errors.Error, TimeoutError) as error:
                self._failed_at, last = loop.time(), error
            if loop.time() > give_up:
                raise Unavailable(f"the stream {stream} does not answer ({last}); is nats-server running?")
            await asyncio.sleep(AGAIN_S)

    async def latest(self, filters: Sequence[str], *, behind: tuple[str, int] | None = None) -> list[Record]:
        """Every record that matches the filters, oldest first. One request, by `multi_last`, which nats-py lacks.

        `behind`: the subject and sequence of a record that is stored. Any server of a cluster may answer, also one that lags
        behind; what was stored before that record is then missed by none. Raises Unavailable.
        """
        if behind is None:
            return _records(await self._raw(RUNS, _all_of(filters)))
        subject, sequence = behind
        asked_for = any(_covers(each, subject) for each in filters)
        found = _records(await self._raw(RUNS, _all_of([*filters, *([] if asked_for else [subject])]), up_to=sequence))
        return found if asked_for else [each for each in found if each.key.subject != subject]

    async def stored(self, filters: Sequence[str]) -> list[Record]:
        """As `latest`, with the bytes as they are stored."""
        return _records(await self._raw(RUNS, _all_of(filters)), as_stored=True)

    async def newest(self, subject: str) -> Record | None:
        """The last record of a filter; None when there is none. Raises Unavailable."""
        return next(iter(_records(await self._raw(RUNS, {"last_by_subj": subject}))), None)

    async def at(self, sequence: int) -> Record | None:
        return next(iter(_records(await self._raw(RUNS, {"seq": sequence}))), None)

    async def oldest(self, subject: str, *, after: int = 0, count: int = 1) -> tuple[list[Record], int]:
        """The first records of a filter with a sequence above `after`, oldest first, and the last sequence looked at.

        That is 0 when there are no more. A record under an id that no run can have is left out.
        """
        found = await self._raw(RUNS, {"seq": after + 1, "next_by_subj": subject, "batch": count})
        last = int((found[-1].headers or {})[SEQUENCE]) if found else 0
        return _records([msg for msg in found if _parses(msg)]), last

    async def usage(self, stream: str = RUNS) -> Usage:
        """How full the journal is, or another stream. Raises Unavailable."""
        try:
            info = await self.js.stream_info(stream)
        except (nats.errors.Error, TimeoutError) as error:
            raise Unavailable(
                f"the stream {stream} cannot be read ({error}); is nats-server running with -js?"
            ) from None
        state = info.state
        return Usage(state.bytes, max(0, info.config.max_bytes or 0), state.messages, state.first_seq, state.last_seq)

    async def lost_bytes(self) -> int:
        """What nats-server dropped of damaged files since it started. Raises Unavailable."""
        reply = await self._api(f"STREAM.INFO.{RUNS}", {"deleted_details": True}, patience_s=10.0)
        return reply.state.lost.bytes if reply.state.lost is not None else 0

    async def subjects(self, subject: str) -> list[str]:
        """The subject of every record of a filter, in no order. Raises Unavailable."""
        found: list[str] = []
        while True:
            page = await self._info(RUNS, subject, offset=len(found), patience_s=10.0)
            names = page.state.subjects or {}
            found += names
            if not names or len(found) >= page.total:
                return found

    async def _info(self, stream: str, subject: str, *, offset: int = 0, patience_s: float = 2.0) -> ApiReply:
        """The stream leader's view of the subjects of a filter. Raises Unavailable, also for one that was cut off."""
        asked = {"subjects_filter": subject, "offset": offset}
        for _ in range(MAJORITY_TRIES):
            page = await self._api(f"STREAM.INFO.{stream}", asked, patience_s=patience_s)
            if page.error is not None:  # as while a cluster elects its leaders
                raise Unavailable(f"the stream {stream} cannot be looked at ({page.error.description})")
            if page.has_majority:
                return page
            await asyncio.sleep(0.1)
        raise Unavailable(LAGS)

    async def remove(self, sequence: int) -> bool:
        """Remove one record. False: it was gone. Raises Unavailable."""
        reply = await self._api(f"STREAM.MSG.DELETE.{RUNS}", {"seq": sequence, "no_erase": True}, patience_s=2.0)
        if reply.error is not None and reply.error.err_code not in NOT_THERE:
            raise Unavailable(f"the stream {RUNS} removes nothing ({reply.error.description})")
        return reply.error is None

    async def _api(self, subject: str, request: dict[str, object], *, patience_s: float) -> ApiReply:
        try:
            msg = await self.client.request(f"$JS.API.{subject}", json.dumps(request).encode(), timeout=patience_s)
        except (nats.errors.Error, TimeoutError) as error:
            raise Unavailable(f"JetStream does not answer ({error}); is nats-server running with -js?") from None
        return msgspec.json.decode(msg.data, type=ApiReply)

    async def run(self, run_id: str) -> list[Record]:
        """The whole trace of a run, in the order it was written."""
        return await self.latest(run_filters(run_id))

    async def frames(self, run_id: str, *, progress: bool = False, up_to: int = 0) -> list["EventFrame"]:
        """The event frames of a run so far, in order; with `progress` also those that `events=all` adds.

        `up_to`: a sequence that the stream is known to have. Raises Unavailable.
        """
        found = await self._all_events(event_subject(run_id), up_to)
        if progress:
            found += await self._all_events(progress_subject(run_id), up_to)
            found.sort(key=lambda frame: frame.sequence)
        return found

    async def last_frame(self, run_id: str) -> "EventFrame | None":
        found = await self._raw(EVENTS, {"last_by_subj": event_subject(run_id)})
        return frame_of(found[-1]) if found else None

    async def _all_events(self, subject: str, up_to: int) -> list["EventFrame"]:
        """As many as the stream's leader counts: any server of a cluster may answer, also one that lags behind."""
        if not self.in_cluster:
            return await self._events(subject)
        for _ in range(TRIES):
            state = (await self._info(EVENTS, subject)).state
            frames = await self._events(subject)
            if state.last_seq >= up_to and len(frames) >= (state.subjects or {}).get(subject, 0):
                return frames
            await asyncio.sleep(AGAIN_S)
        raise Unavailable(LAGS)

    async def _events(self, subject: str) -> list["EventFrame"]:
        frames: list[EventFrame] = []
        while True:
            start = frames[-1].sequence + 1 if frames else 1
            batch = await self._raw(EVENTS, {"seq": start, "next_by_subj": subject, "batch": 256})
            frames += [frame_of(msg) for msg in batch]
            if len(batch) < 256:
                return frames

    async def _raw(self, stream: str, request: dict[str, object], *, up_to: int = 0) -> list[Msg]:
        """Direct get of one or more messages; an empty list when there is none. Raises Unavailable.

        `up_to`: a sequence that the answering server must have.
        """
        for _ in range(TRIES):
            queue: asyncio.Queue[Msg] = asyncio.Queue()
            reply = await self._inbox.open(queue.put_nowait)
            try:
                await self.client.publish(f"$JS.API.DIRECT.GET.{stream}", json.dumps(request).encode(), reply=reply)
                return await self._drain(queue, single="batch" not in request, up_to=up_to)
            except (TimeoutError, nats.errors.Error):
                await asyncio.sleep(AGAIN_S)
            finally:
                self._inbox.close(reply)
        raise Unavailable(f"the stream {stream} cannot be read; is nats-server running with -js?")

    @staticmethod
    async def _drain(queue: asyncio.Queue[Msg], *, single: bool, up_to: int) -> list[Msg]:
        found: list[Msg] = []
        while True:
            async with asyncio.timeout(2.0):
                msg = await queue.get()
            # A stored message may carry any header, a `Status` too; the server's own answers have no sequence.
            status = "" if SEQUENCE in (msg.headers or {}) else status_of(msg)
            if status in ("404", "204"):
                if up_to and count_in(msg.headers or {}, "Nats-UpTo-Sequence", 0) < up_to:
                    raise ServiceUnavailableError
                return found
            if status == "413":
                raise Unavailable("the run has more records than one read can return")
            if status:
                raise ServiceUnavailableError
            found.append(msg)
            if single:
                return found


def _all_of(filters: Sequence[str]) -> dict[str, object]:
    """The request for every record that matches one of the filters."""
    return {"multi_last": list(filters), "batch": 1000}


def _covers(pattern: str, subject: str) -> bool:
    """Whether a filter, with stars as its only wildcards, takes a subject, or is the same filter."""
    said, asked = pattern.split("."), subject.split(".")
    return len(said) == len(asked) and all(one in ("*", other) for one, other in zip(said, asked, strict=True))


def _records(found: Sequence[Msg], *, as_stored: bool = False) -> list[Record]:
    records = [record for msg in found if (record := _record_of(msg, as_stored=as_stored)) is not None]
    return sorted(records, key=lambda record: record.sequence)


def _parses(msg: Msg) -> bool:
    try:
        parse((msg.headers or {})[SUBJECT])
    except BadId:
        return False
    return True


@dataclass(frozen=True, slots=True)
class EventFrame:
    """One message of EVENTS: a few events, one JSON object per line."""

    run_id: str
    sequence: int
    data: bytes
    headers: Mapping[str, str]
    fenced: bool


def frame_of(msg: Msg) -> EventFrame:
    headers = msg.headers or {}
    subject = headers.get(SUBJECT, "")
    return EventFrame(subject.rpartition(".")[2], count_in(headers, SEQUENCE, 0), msg.data, headers, is_fenced(subject))


def _record_of(msg: Msg, *, as_stored: bool = False) -> Record | None:
    """None for a subject that no record has."""
    headers = msg.headers or {}
    try:
        key, at = parse(headers.get(SUBJECT, "")), time_of(headers)
    except BadId as error:
        set_aside("subject", headers.get(SUBJECT, ""), error)
        return None
    return Record(key, count_in(headers, SEQUENCE, 0), at, msg.data if as_stored else unpack(msg.data), headers)


def time_of(headers: Mapping[str, str]) -> float:
    """When a message that was read back was stored, in epoch seconds."""
    try:
        return datetime.fromisoformat(headers.get(TIME, "")).timestamp()
    except (ValueError, OverflowError) as error:
        set_aside("header", f"{TIME}: {headers.get(TIME)}", error)
        return 0.0


class _Ack(msgspec.Struct, frozen=True):
    """The acknowledgement of a stored message. nats-py reads it ten times as slowly."""

    seq: int = 0
    error: ApiError | None = None


_acks = msgspec.json.Decoder(_Ack)


def full_or_down(error: APIError | ApiError) -> Unavailable | None:
    """The failure to report when the server has no room; None when it may just be busy."""
    if error.err_code in NO_ROOM or error.err_code == STORE_FAILED or "no space" in (error.description or ""):
        return Unavailable(
            f"the journal has no room ({error.description}); free disk space, lower bus.runs_max_age_s or raise bus.runs_max_bytes"
        )
    return None
