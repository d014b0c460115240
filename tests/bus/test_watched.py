"""A background task that ends or raises is started again, counted, and shows while it is down."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bus.transport import watched
from bus.transport.connection import Msg
from bus.transport.health import Health, answer_health, health_of, process_health
from bus.transport.watched import Watch
from bus.wire.errors import Unavailable
from tests.bus.wires import Wire
from tests.polling import until


@pytest.fixture
async def watch(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watch]:
    monkeypatch.setattr(watched, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(watched, "STEADY_S", 0.05)
    made = Watch()
    yield made
    await made.stop()


async def _cancelled() -> None:
    waited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waited.cancel()
    await waited


async def _ends() -> None:
    return


async def _fails() -> None:
    raise Unavailable("no server")


async def _breaks() -> None:
    raise KeyError("a bug")


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (_ends, "it ended"),
        (_fails, "no server"),
        (_breaks, "KeyError: 'a bug'"),
        (_cancelled, "something it waited for was cancelled"),
    ],
)
async def test_ended_task_is_restarted(watch: Watch, work: Callable[[], Awaitable[None]], why: str) -> None:
    began = 0

    async def task() -> None:
        nonlocal began
        began += 1
        if began <= 2:
            return await work()
        await asyncio.Event().wait()
        return None

    watch.keep("watched", task)
    await until(lambda: watch.restarts["watched"] == 2)
    assert watch.down == {"watched": why}
    assert not process_health(Health(ready=True), watch).ready
    await until(lambda: not watch.down)
    assert process_health(Health(ready=True), watch).ready
    assert began == 3


async def test_process_names_its_failed_task(watch: Watch, wire: Wire) -> None:
    await answer_health(wire.client, "watched-process", lambda: {"ready": True, "detail": "here"}, watch)
    await wire.client.flush()
    watch.keep("failing", _fails)
    await until(lambda: watch.down)
    health = await health_of(wire.client, "watched-process", timeout_s=5.0)
    assert health is not None
    assert not health.ready
    assert health.detail.startswith("failing is down (no server)")
    assert health.restarts["failing"] >= 1


async def test_unreadable_health_is_not_ready(wire: Wire) -> None:
    async def answer(msg: Msg) -> None:
        await wire.client.publish(msg.reply, b"\xff")

    await wire.client.subscribe("gw.health.broken", cb=answer)
    health = await health_of(wire.client, "broken", timeout_s=5.0)
    assert health is not None
    assert (health.ready, "cannot be read" in health.detail) == (False, True)
