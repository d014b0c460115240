"""Follow a stream from a given point, without end: every message once, in stream order, across server restarts."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.connection import status_of
from bus.envelope import UNREADABLE, place_of, set_aside

BATCH = 1000
HEARTBEAT_S = 1.0
EXPIRES_S = 20.0
LOOKS = 5  # checks of the connection per heartbeat
#: How often a stream must be found shorter than it was: the new leader of a cluster may not know all of it for a moment.
SHORTER = 10


class Stored(msgspec.Struct, frozen=True, gc=False):
    """A message as a stream delivers it. `pending`: how many more were stored when it was sent."""

    subject: str
    sequence: int
    data: bytes
    headers: dict[str, str]
    time: float
    pending: int


async def follow(
    client: Client,
    stream: str,
    filters: Sequence[str],
    *,
    after: int | None = None,
    since: float | None = None,
    headers_only: bool = False,
    ready: asyncio.Event | None = None,
    anew: Callable[[], None] | None = None,
) -> AsyncIterator[Stored]:
    """Messages with a sequence above `after`, or stored since `since` (epoch seconds), or from now on.

    Uses an ephemeral pull consumer, recreated from the last message seen when the server was lost or is silent for three
    heartbeats: what nats-py's ordered consumer promises, without the acks that kill its read loop on newer servers.
    `ready` is set once it listens. A stream that was deleted and recreated is followed from its beginning, after a call
    to `anew`.
    """
    last, born, shorter = after, "", 0
    while True:
        try:
            made, newest = await _identity(client, stream)
            shorter = shorter + 1 if newest < (last or 0) else 0
            other = bool(born) and made != born
            if shorter and not other and shorter < SHORTER:
                raise TimeoutError("the stream is shorter than it was")
            if other or shorter:
                last, since = 0, None
                if anew is not None:
                    anew()
            born = made
            async with contextlib.aclosing(
                _follow_once(client, stream, filters, last, since, headers_only, ready)
            ) as found:
                async for stored in found:
                    last, since = stored.sequence, None
                    yield stored
        except (TimeoutError, nats.errors.Error):  # the next consumer begins after the last message seen
            if last is None and since is None:
                since = time.time() - 4 * HEARTBEAT_S
            await asyncio.sleep(0.1)


async def _follow_once(
    client: Client,
    stream: str,
    filters: Sequence[str],
    after: int | None,
    since: float | None,
    headers_only: bool,
    ready: asyncio.Event | None,
) -> AsyncGenerator[Stored]:
    """Follow for as long as one consumer lasts. Raises TimeoutError or nats's own errors when it ends."""
    queue: asyncio.Queue[Msg] = asyncio.Queue()
    # An inbox of its own: a consumer delivers under the stream's subject, which a shared inbox cannot attribute.
    reply = client.new_inbox()
    reconnects = client.stats["reconnects"]
    subscription = await client.subscribe(reply, cb=_putter(queue), pending_msgs_limit=-1, pending_bytes_limit=-1)
    try:
        name = await _create(client, stream, filters, after, since, headers_only)
        expected = 1
        fetch = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{name}"
        left = 0
        asked_at = 0.0
        while True:
            if left <= BATCH // 4 or time.monotonic() - asked_at > EXPIRES_S:
                asked_at = time.monotonic()
                left = BATCH
                await client.publish(fetch, _fetch_request(), reply=reply)
                if ready is not None:
                    ready.set()
            msg = await _next(client, queue, reconnects)
            # The server's own answers come under the inbox, and a stored message under the subject it was stored with.
            status = status_of(msg) if msg.subject == reply else ""
            if status == "100":
                continue
            if status == "408":  # the pull request expired or is used up
                left = 0
                continue
            if status:
                raise TimeoutError(status)
            place = place_of(msg.reply)
            if place is None:
                set_aside("delivery", msg.subject, f"no place in {msg.reply!r}")
                continue
            if place.number != expected:
                raise TimeoutError("a message was lost")
            expected += 1
            left -= 1
            yield Stored(msg.subject, place.sequence, msg.data, msg.headers or {}, place.time, place.pending)
    finally:
        with contextlib.suppress(nats.errors.Error):
            await subscription.unsubscribe()


def _putter(queue: asyncio.Queue[Msg]) -> Callable[[Msg], Awaitable[None]]:
    async def put(msg: Msg) -> None:
        queue.put_nowait(msg)

    return put


async def _next(client: Client, queue: asyncio.Queue[Msg], reconnects: int) -> Msg:
    """The next message. Raises TimeoutError on silence, or as soon as the server (and so the consumer) is lost.

    It sets no time limit for messages that have already arrived: that would be a tenth of the whole cost.
    """
    if not queue.empty():
        return queue.get_nowait()
    for _ in range(3 * LOOKS):
        if client.stats["reconnects"] != reconnects:
            raise TimeoutError("the server was lost")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_S / LOOKS):
                return await queue.get()
    raise TimeoutError("silent")


def _fetch_request() -> bytes:
    return json.dumps(
        {"batch": BATCH, "expires": int(EXPIRES_S * 1e9), "idle_heartbeat": int(HEARTBEAT_S * 1e9)}
    ).encode()


async def _identity(client: Client, stream: str) -> tuple[str, int]:
    """When the stream was created, which tells it from another of the same name, and its newest sequence."""
    reply = await _asked(client, f"$JS.API.STREAM.INFO.{stream}", b"")
    if reply.created is None or reply.state is None:
        raise TimeoutError("the server does not say which stream this is")
    return reply.created, reply.state.last_seq


async def _create(
    client: Client,
    stream: str,
    filters: Sequence[str],
    after: int | None,
    since: float | None,
    headers_only: bool,
) -> str:
    config: dict[str, object] = {
        "ack_policy": "none",
        "filter_subjects": list(filters),
        "mem_storage": True,
        "num_replicas": 1,
        "inactive_threshold": int(60e9),
        "headers_only": headers_only,
    }
    if after is not None:
        config |= {"deliver_policy": "by_start_sequence", "opt_start_seq": after + 1}
    elif since is not None:
        at = datetime.fromtimestamp(max(0.0, since), UTC).isoformat().replace("+00:00", "Z")
        config |= {"deliver_policy": "by_start_time", "opt_start_time": at}
    else:
        config |= {"deliver_policy": "new"}
    request = json.dumps({"stream_name": stream, "config": config}).encode()
    reply = await _asked(client, f"$JS.API.CONSUMER.CREATE.{stream}", request)
    if reply.name is None:
        raise TimeoutError("the server does not name the consumer")
    return reply.name


class _State(msgspec.Struct):
    last_seq: int


class _Refusal(msgspec.Struct):
    description: str = "refused"


class _Reply(msgspec.Struct):
    """What is used of the server's answers about streams and consumers."""

    created: str | None = None
    state: _State | None = None
    name: str | None = None
    error: _Refusal | None = None


_replies = msgspec.json.Decoder(_Reply)


async def _asked(client: Client, subject: str, request: bytes) -> _Reply:
    """The server's answer. Raises TimeoutError when it refuses or its answer cannot be read, and nats's own errors."""
    answer = await client.request(subject, request, timeout=2)
    try:
        reply = _replies.decode(answer.data)
    except UNREADABLE as error:
        raise TimeoutError(str(error)) from None
    if reply.error is not None:
        raise TimeoutError(reply.error.description)
    return reply


async def cancel(task: "asyncio.Task[object]") -> None:
    """End a task that follows something, and wait for it."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
