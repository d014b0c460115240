"""Watch every device on the bus: each inference process answers on `gw.device.view` with its current state."""

import asyncio
import os
import socket
from collections.abc import Callable

import msgspec

from bus.transport.connection import Client, Msg
from bus.transport.envelope import read, set_aside
from bus.wire.errors import Poison
from runtime.engines.engine import DeviceView

SUBJECT = "gw.device.view"


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """One device and the process that owns it."""

    host: str
    process: int
    view: DeviceView


_watched = msgspec.json.Decoder(Watched)


async def answer_views(client: Client, view: Callable[[], DeviceView]) -> None:
    """Serve this process's view until its connection closes."""

    async def answer(msg: Msg) -> None:
        if msg.reply:
            watched = Watched(host=socket.gethostname(), process=os.getpid(), view=view())
            await client.publish(msg.reply, msgspec.json.encode(watched))

    await client.subscribe(SUBJECT, cb=answer)


async def views(client: Client, *, wait_s: float = 0.25) -> list[Watched]:
    """The views of all devices that answer in time, in a stable order."""
    inbox = client.new_inbox()
    found: list[Watched] = []

    async def take(msg: Msg) -> None:
        try:
            found.append(read(_watched, msg.data, "this view"))
        except Poison as poison:
            set_aside("reply", SUBJECT, poison)

    subscription = await client.subscribe(inbox, cb=take)
    await client.publish(SUBJECT, b"", reply=inbox)
    await asyncio.sleep(wait_s)
    await subscription.unsubscribe()
    return sorted(found, key=lambda watched: (watched.host, watched.process))
