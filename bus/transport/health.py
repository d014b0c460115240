"""Health checks: a core NATS request on `gw.health.<role>`, answered with JSON.

A process with failed background tasks reports them, and is not ready.
"""

from collections.abc import Callable, Mapping

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.transport.envelope import read, set_aside
from bus.transport.watched import Watch
from bus.wire.errors import Poison


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """`ready` once the process can do its work; `detail` names the loaded model or index, or the missing part.

    `problem`: the fault that needs an operator; empty while the process only has to wait.
    """

    ready: bool = False
    detail: str = ""
    problem: str = ""


class ProcessHealth(Health, frozen=True, kw_only=True):
    """A process's report on itself. `set_aside`: messages that could not be read, by kind. `restarts`: of its tasks."""

    set_aside: dict[str, int] = {}
    restarts: dict[str, int] = {}


_states = msgspec.json.Decoder(ProcessHealth)


def process_health(said: Health, *watches: Watch) -> ProcessHealth:
    """This process's report, with the state of its background tasks."""
    down = {name: why for watch in watches for name, why in watch.down.items()}
    restarts = {name: count for watch in watches for name, count in watch.restarts.items()}
    if down:
        told = "; ".join(f"{name} is down ({why[:200]})" for name, why in down.items())
        said = Health(detail=f"{told}; it is started again by itself")
    return ProcessHealth(**msgspec.structs.asdict(said), set_aside=dict(set_aside.counts), restarts=restarts)


async def answer_health(client: Client, role: str, state: Callable[[], Mapping[str, object]], *watches: Watch) -> None:
    """Answer for this process, and its background tasks, until its connection closes."""

    async def answer(msg: Msg) -> None:
        if msg.reply:
            said = msgspec.convert(state(), Health)
            await client.publish(msg.reply, msgspec.json.encode(process_health(said, *watches)))

    await client.subscribe(f"gw.health.{role}", cb=answer)


async def answer_text(
    client: Client, subject: str, text: Callable[[], bytes], *, only: Callable[[], bool] = lambda: True
) -> None:
    """Answer requests on a subject with the current result of `text`, while `only` is true."""

    async def answer(msg: Msg) -> None:
        if msg.reply and only():
            await client.publish(msg.reply, text())

    await client.subscribe(subject, cb=answer)


async def text_of(client: Client, subject: str, *, timeout_s: float = 0.3) -> bytes:
    """The answer on that subject; empty without one."""
    try:
        return bytes((await client.request(subject, b"", timeout=timeout_s)).data)
    except (nats.errors.Error, TimeoutError):
        return b""


async def health_of(client: Client, role: str, *, timeout_s: float = 0.3) -> ProcessHealth | None:
    """The health of that role; None without an answer."""
    subject = f"gw.health.{role}"
    try:
        msg = await client.request(subject, b"", timeout=timeout_s)
        return read(_states, msg.data, "its health")
    except (nats.errors.Error, TimeoutError):
        return None
    except Poison as poison:
        set_aside("reply", subject, poison)
        return ProcessHealth(detail=str(poison))
