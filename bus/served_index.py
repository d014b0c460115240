"""What a search process serves and since when, and which files could not be read: request and reply on `gw.index`."""

from collections.abc import Awaitable, Callable

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.envelope import read, set_aside
from bus.errors import Poison, Unavailable
from bus.subjects import INDEX


class SkippedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is not in the index. `failed`: it should be, but could not be read."""

    name: str
    reason: str
    failed: bool


class ServedIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The snapshot that is served. `served_since` is when this process took it up, `created` when it was made, `read_at` when its
    files were last looked at. `languages` counts passages, `formats` documents. `skipped` are the first 200 of `skipped_count`,
    those that failed before the others.
    """

    snapshot: str
    served_since: str
    created: str
    documents: int
    passages: int
    languages: dict[str, int]
    formats: dict[str, int]
    embedder: str
    read_at: str
    skipped: tuple[SkippedFile, ...] = ()
    skipped_count: int = 0
    failed_count: int = 0


class _Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    served: ServedIndex | None = None
    problem: str = ""


_replies = msgspec.json.Decoder(_Reply)


async def answer_served_index(client: Client, served: Callable[[], Awaitable[ServedIndex]]) -> None:
    """Answer for this process until its connection closes; one of several answers each request."""

    async def answer(msg: Msg) -> None:
        try:
            reply = _Reply(served=await served())
        except Unavailable as failure:
            reply = _Reply(problem=str(failure))
        if msg.reply:
            await client.publish(msg.reply, msgspec.json.encode(reply))

    await client.subscribe(INDEX, queue="search", cb=answer)


async def served_index(client: Client, *, timeout_s: float) -> ServedIndex:
    """Raises Unavailable."""
    try:
        msg = await client.request(INDEX, b"", timeout=timeout_s)
    except (nats.errors.Error, TimeoutError) as error:
        raise Unavailable(f"no search process answers ({error}); start one with `groundwire up`") from None
    try:
        reply = read(_replies, msg.data, "this reply")
    except Poison as poison:
        set_aside("reply", INDEX, poison)
        raise Unavailable(str(poison)) from None
    if reply.served is None:
        raise Unavailable(reply.problem)
    return reply.served
