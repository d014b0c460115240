"""Background tasks that must never end, and health checks, which report those that are down.

A task that ends or raises is started again after a pause. A health check is a core NATS request on `gw.health.<role>`, answered
with JSON; a process with failed background tasks is not ready.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.transport.envelope import read, set_aside
from bus.wire.errors import Failure, Poison

log = logging.getLogger("groundwire.bus")

#: The pause before a task is started again: it doubles while the task keeps ending.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
#: A task that has run for this long counts as up again.
STEADY_S = 1.0


class Watch:
    """The background tasks of one part of a process. `down`: why each is not at work now. `restarts`: how often each was needed."""

    def __init__(self) -> None:
        self.down: dict[str, str] = {}
        self.restarts: Counter[str] = Counter()
        self._tasks: list[asyncio.Task[None]] = []

    def keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` until `stop`, from its beginning each time it ends."""
        self._tasks.append(asyncio.create_task(self._keep(name, work), name=name))

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE_S
        while True:
            began = loop.time()
            steady = loop.call_later(STEADY_S, self.down.pop, name, None)
            try:
                await work()
                why = "it ended"
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise
                why = "something it waited for was cancelled"
            except Failure as failure:
                why = str(failure)
            except Exception as bug:
                # After any exception: the task is needed, and nothing else would start it again.
                log.exception("%s: a bug", name)
                why = f"{type(bug).__name__}: {bug}"
            finally:
                steady.cancel()
            if loop.time() - began > STEADY_S:
                pause = FIRST_PAUSE_S
            self.down[name] = why
            self.restarts[name] += 1
            log.warning("%s is down (%s); starting it again in %.1f s", name, why, pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)


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
    answer = await text_of(client, subject, timeout_s=timeout_s)
    try:
        return read(_states, answer, "its health") if answer else None
    except Poison as poison:
        set_aside("reply", subject, poison)
        return ProcessHealth(detail=str(poison))
