"""A request and its one reply over core NATS, both ends: the server always replies, and a failure carries its reason.

`gw.ask` and `gw.health` work otherwise: the first is answered in pieces, the second by every process.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.transport.connection import receive
from bus.transport.envelope import read, set_aside
from bus.wire.errors import Failure, Poison, Unavailable

log = logging.getLogger("groundwire.bus")


async def reply_to[Reply](
    client: Client,
    subject: str,
    request: bytes,
    replies: msgspec.json.Decoder[Reply] | msgspec.msgpack.Decoder[Reply],
    *,
    timeout_s: float,
) -> Reply:
    """What a search process replies. Raises Unavailable."""
    try:
        msg = await client.request(subject, request, timeout=timeout_s)
        return read(replies, msg.data, "this reply")
    except (nats.errors.Error, TimeoutError) as error:
        raise Unavailable(f"no search process answers ({error}); start one with `groundwire up`") from None
    except Poison as poison:
        set_aside("reply", subject, poison)
        raise Unavailable(str(poison)) from None


async def reply_with(
    client: Client,
    subject: str,
    answer: Callable[[Msg], Awaitable[bytes]],
    failed: Callable[[str], bytes],
    *,
    queue: str = "search",
    what: str,
) -> Callable[[], Awaitable[None]]:
    """Answer requests, several at a time. Returns a function that stops it.

    `failed` is the reply with the reason of a failure: after a Failure, a Poison, or a bug in `what`.
    """
    tasks: set[asyncio.Task[None]] = set()

    async def replied(msg: Msg) -> None:
        try:
            reply = await answer(msg)
        except Failure as failure:
            reply = failed(str(failure))
        except Poison as poison:
            set_aside("request", subject, poison)
            reply = failed(str(poison))
        except Exception as bug:
            # The outermost handler of this process: the client must not wait for an answer that will never come.
            log.exception("a bug in the %s", what)
            reply = failed(f"the {what} broke ({type(bug).__name__})")
        if msg.reply:
            with contextlib.suppress(nats.errors.Error):
                await client.publish(msg.reply, reply)

    def take(msg: Msg) -> None:
        task = asyncio.create_task(replied(msg))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    subscription = await receive(client, subject, take, queue=queue)

    async def close() -> None:
        await subscription.unsubscribe()
        await asyncio.gather(*tasks, return_exceptions=True)

    return close
