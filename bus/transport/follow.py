"""Follow a stream from a given point, without end: every message once, in stream order, across server restarts."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import msgspec
import nats.errors
from nats.aio.client import Client

from bus.transport.configuration import ApiReply
from bus.transport.connection import Connection, take
from bus.transport.envelope import Frame, headers_of, place_of, set_aside, status_in
from bus.transport.wake import Wake
from bus.wire.errors import UNREADABLE

BATCH = 1000
HEARTBEAT_S = 1.0
EXPIRES_S = 20.0
#: How many messages at once mean that more are on their way, and that it pays to take them along.
MUCH = 64
#: How often a stream must be found shorter than it was: the new leader of a cluster may not know all of it for a moment.
SHORTER = 10


class Stored(msgspec.Struct, frozen=True, gc=False):
    """A message as a stream delivers it. `header` as it was sent. `pending`: how many more were stored when it was sent."""

    subject: str
    sequence: int
    data: bytes
    header: bytes
    time: float
    pending: int

    @property
    def headers(self) -> dict[str, str]:
        """Read when asked for: that costs more than all else that is done for a message here."""
        return headers_of(self.header)


async def follow(
    client: Client, stream: str, filters: Sequence[str], *, after: int | None = None
) -> AsyncIterator[Stored]:
    """Messages with a sequence above `after`, or from now on."""
    batches = Following(client, stream, filters).batches(after)
    async with contextlib.aclosing(batches):
        async for batch in batches:
            for stored in batch:
                yield stored


@dataclass(frozen=True, slots=True)
class Following:
    """How a stream is followed. Without filters it is the whole stream, which costs the server a tenth of what filters do once a
    follower is behind.

    `ready` is set once it listens. A stream that was deleted and recreated is followed from its beginning, after a call
    to `anew`. `ahead`: how many messages arrive at a time, or a quarter more at most.
    """

    client: Client
    stream: str
    filters: Sequence[str]
    headers_only: bool = False
    ready: asyncio.Event | None = None
    anew: Callable[[], None] | None = None
    ahead: int = BATCH

    async def batches(self, after: int | None = None, since: float | None = None) -> AsyncGenerator[list[Stored]]:
        """As `follow`, all that has arrived at a time; also from those stored since `since`, in epoch seconds.

        Uses an ephemeral pull consumer, recreated from the last message seen when the server was lost or is silent for three
        heartbeats: what nats-py's ordered consumer promises, without the acks that kill its read loop on newer servers.
        """
        last, born, shorter = after, "", 0
        while True:
            try:
                made, newest = await _identity(self.client, self.stream)
                shorter = shorter + 1 if newest < (last or 0) else 0
                other = bool(born) and made != born
                if shorter and not other and shorter < SHORTER:
                    raise TimeoutError("the stream is shorter than it was")
                if other or shorter:
                    last, since = 0, None
                    if self.anew is not None:
                        self.anew()
                born = made
                async with contextlib.aclosing(self._once(last, since)) as found:
                    async for batch in found:
                        last, since = batch[-1].sequence, None
                        yield batch
            except (TimeoutError, nats.errors.Error):  # the next consumer begins after the last message seen
                if last is None and since is None:
                    since = time.time() - 4 * HEARTBEAT_S
                await asyncio.sleep(0.1)

    async def _once(self, after: int | None, since: float | None) -> AsyncGenerator[list[Stored]]:
        """Follow for as long as one consumer lasts. Raises TimeoutError or nats's own errors when it ends."""
        # An inbox of its own: a consumer delivers under the stream's subject, which a shared inbox cannot attribute.
        client, ahead = self.client, self.ahead
        reply = client.new_inbox()
        arrived = _Arrived(reply)
        returns = cast(Connection, client).on_return
        returns.add(arrived.server_lost)
        subscription = await take(client, reply, arrived.put)
        try:
            fetch = f"$JS.API.CONSUMER.MSG.NEXT.{self.stream}.{await self._consumer(after, since)}"
            asked_at = 0.0
            while True:
                batch = arrived.read()
                if arrived.left <= ahead // 4 or time.monotonic() - asked_at > EXPIRES_S:
                    asked_at = time.monotonic()
                    arrived.left = ahead
                    request = {
                        "batch": ahead,
                        "expires": int(EXPIRES_S * 1e9),
                        "idle_heartbeat": int(HEARTBEAT_S * 1e9),
                    }
                    await client.publish(fetch, json.dumps(request).encode(), reply=reply)
                    if self.ready is not None:
                        self.ready.set()
                if batch:
                    yield batch
                if arrived.ended:
                    raise TimeoutError(arrived.ended)
                if not arrived.waiting and not await arrived.wake.wait(3 * HEARTBEAT_S):
                    raise TimeoutError("silent")
                await _all_there_is(arrived)
        finally:
            returns.discard(arrived.server_lost)
            arrived.wake.close()
            with contextlib.suppress(nats.errors.Error):
                await subscription.unsubscribe()

    async def _consumer(self, after: int | None, since: float | None) -> str:
        """The name of a new consumer."""
        config: dict[str, object] = {
            "ack_policy": "none",
            **({"filter_subjects": list(self.filters)} if self.filters else {}),
            "mem_storage": True,
            "num_replicas": 1,
            "inactive_threshold": int(60e9),
            "headers_only": self.headers_only,
        }
        if after is not None:
            config |= {"deliver_policy": "by_start_sequence", "opt_start_seq": after + 1}
        elif since is not None:
            at = datetime.fromtimestamp(max(0.0, since), UTC).isoformat().replace("+00:00", "Z")
            config |= {"deliver_policy": "by_start_time", "opt_start_time": at}
        else:
            config |= {"deliver_policy": "new"}
        request = json.dumps({"stream_name": self.stream, "config": config}).encode()
        reply = await _asked(self.client, f"$JS.API.CONSUMER.CREATE.{self.stream}", request)
        if not reply.name:
            raise TimeoutError("the server does not name the consumer")
        return reply.name


class _Arrived:
    """What one consumer has sent. `left`: how many more it may send. `ended`: why nothing after this can be relied on."""

    def __init__(self, reply: str) -> None:
        self.waiting: list[Frame] = []
        self.left = 0
        self.ended = ""
        self.wake = Wake()
        self._reply = reply.encode()
        self._expected = 1

    def put(self, frame: Frame) -> None:
        self.waiting.append(frame)
        self.wake.set()

    def server_lost(self) -> None:
        """The server was away, and with it the consumer."""
        self.ended = "the server was lost"
        self.wake.set()

    def read(self) -> list[Stored]:
        """The waiting messages, up to the first gap."""
        frames, self.waiting = self.waiting, []
        found: list[Stored] = []
        for subject, reply, header, data in frames:
            # The server's own answers come under the inbox, and a stored message under the subject it was stored with.
            status = status_in(header) if subject == self._reply and not data else ""
            if status == "100":
                continue
            if status == "408":  # the pull request expired or is used up
                self.left = 0
                continue
            if status:
                self.ended = status
                break
            said = reply.decode(errors="replace")
            place = place_of(said)
            if place is None:
                set_aside("delivery", subject.decode(errors="replace"), f"no place in {said!r}")
                continue
            if place.number != self._expected:
                self.ended = "a message was lost"
                break
            self._expected += 1
            self.left -= 1
            found.append(
                Stored(subject.decode(errors="replace"), place.sequence, data, header, place.time, place.pending)
            )
        return found


async def _all_there_is(arrived: _Arrived) -> None:
    """Read on while many messages come, within the consumer's window: a late reader takes more at a time, and so catches up."""
    had, idle = len(arrived.waiting), 0
    while had >= MUCH and idle < 2:  # what a turn of the loop finds on the socket is read in the next
        await asyncio.sleep(0)
        idle = idle + 1 if len(arrived.waiting) == had else 0
        had = len(arrived.waiting)


async def _identity(client: Client, stream: str) -> tuple[str, int]:
    """When the stream was created, which distinguishes it from another of the same name, and its newest sequence."""
    reply = await _asked(client, f"$JS.API.STREAM.INFO.{stream}", b"")
    if not reply.created:
        raise TimeoutError("the server does not say which stream this is")
    return reply.created, reply.state.last_seq


_replies = msgspec.json.Decoder(ApiReply)


async def _asked(client: Client, subject: str, request: bytes) -> ApiReply:
    """The server's answer. Raises TimeoutError when it refuses or its answer cannot be read, and nats's own errors."""
    answer = await client.request(subject, request, timeout=2)
    try:
        reply = _replies.decode(answer.data)
    except UNREADABLE as error:
        raise TimeoutError(str(error)) from None
    if reply.error is not None:
        raise TimeoutError(reply.error.description)
    return reply
