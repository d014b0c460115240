"""A stream as a file: taken from nats-server while it serves, and put back under the same sequences, with its consumers.

The bytes are the server's own format (S2-compressed), those of `nats stream backup`.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.wire.errors import Unavailable

CHUNK_BYTES = 128 * 1024
#: How long the server may say nothing.
PATIENCE_S = 30.0


class Description(msgspec.Struct, frozen=True):
    """What the server needs besides the bytes: a stream's configuration and state, in its own words."""

    config: dict[str, Any]
    state: dict[str, Any]


class _Reply(msgspec.Struct, frozen=True):
    config: dict[str, Any] = {}
    state: dict[str, Any] = {}
    deliver_subject: str = ""
    error: dict[str, Any] | None = None


async def take(client: Client, stream: str, write: Callable[[bytes], object]) -> Description | None:
    """Hand a stream's bytes to `write` in order; None when there is no such stream. Raises Unavailable."""
    inbox = client.new_inbox()
    arriving: asyncio.Queue[Msg] = asyncio.Queue()

    async def arrived(message: Msg) -> None:
        arriving.put_nowait(message)

    listening = await client.subscribe(inbox, cb=arrived)
    try:
        wanted = {"deliver_subject": inbox, "chunk_size": CHUNK_BYTES, "no_consumers": False, "jsck": True}
        said = await _asked(client, f"$JS.API.STREAM.SNAPSHOT.{stream}", msgspec.json.encode(wanted))
        if said.error is not None and said.error.get("code") == 404:
            return None
        _refuse(said, stream)
        while True:
            async with asyncio.timeout(PATIENCE_S):
                message = await arriving.get()
            if not message.data:
                status = (message.headers or {}).get("Status", "")
                if status[:1] == "4":
                    raise Unavailable(f"nats-server broke off the copy of {stream}; try it again")
                return Description(config=said.config, state=said.state)
            await asyncio.to_thread(write, message.data)
            if message.reply:
                await client.publish(message.reply, b"")
    except TimeoutError:
        raise Unavailable(f"nats-server sends no more of {stream}; try it again") from None
    finally:
        await listening.unsubscribe()


async def put_back(client: Client, stream: str, description: Description, chunks: Iterable[bytes]) -> None:
    """Make a stream again from its bytes, on one server. Raises Unavailable, also where the stream exists."""
    wanted = {"config": {**description.config, "num_replicas": 1}, "state": description.state}
    said = await _asked(client, f"$JS.API.STREAM.RESTORE.{stream}", msgspec.json.encode(wanted))
    _refuse(said, stream)
    for chunk in itertools.chain(chunks, (b"",)):
        answer = await _asked(client, said.deliver_subject, chunk)
        _refuse(answer, stream)


async def _asked(client: Client, subject: str, body: bytes) -> _Reply:
    try:
        answer = await client.request(subject, body, timeout=PATIENCE_S)
    except (nats.errors.Error, TimeoutError) as error:
        raise Unavailable(f"JetStream does not answer ({error}); start nats-server with -js") from None
    return msgspec.json.decode(answer.data, type=_Reply) if answer.data else _Reply()


def _refuse(said: _Reply, stream: str) -> None:
    if said.error is not None:
        raise Unavailable(
            f"nats-server refused the stream {stream}: {said.error.get('description', 'no reason given')}"
        )
