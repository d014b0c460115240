"""Health checks: a core NATS request on `gw.health.<role>`, answered with JSON."""

from collections.abc import Callable, Mapping

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """`ready` once the process can do its work; `detail` says what it has loaded or is waiting for.

    `problem`: what somebody has to change before it can; empty while it only has to wait.
    """

    ready: bool = False
    detail: str = ""
    problem: str = ""


async def answer_health(client: Client, role: str, state: Callable[[], Mapping[str, object]]) -> None:
    """Answer for this process until its connection closes."""

    async def answer(msg: Msg) -> None:
        if msg.reply:
            await client.publish(msg.reply, msgspec.json.encode(dict(state())))

    await client.subscribe(f"gw.health.{role}", cb=answer)


async def answer_text(client: Client, subject: str, text: Callable[[], bytes]) -> None:
    """Answer requests on a subject with whatever `text` returns at that moment."""

    async def answer(msg: Msg) -> None:
        if msg.reply:
            await client.publish(msg.reply, text())

    await client.subscribe(subject, cb=answer)


async def text_of(client: Client, subject: str, *, timeout_s: float = 0.3) -> bytes:
    """The answer on that subject; empty when nobody answers."""
    try:
        return bytes((await client.request(subject, b"", timeout=timeout_s)).data)
    except (nats.errors.Error, TimeoutError):
        return b""


async def health_of(client: Client, role: str, *, timeout_s: float = 0.3) -> Health | None:
    """The health of that role; None when nobody answers."""
    try:
        msg = await client.request(f"gw.health.{role}", b"", timeout=timeout_s)
    except (nats.errors.Error, TimeoutError):
        return None
    return msgspec.json.decode(msg.data, type=Health)
