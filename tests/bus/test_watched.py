"""Background tasks that end are started again; waiting misses no message and measures a silence exactly."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bus.transport import health
from bus.transport.connection import Msg
from bus.transport.health import Health, Watch, answer_health, health_of, process_health
from bus.transport.wake import Wake
from bus.wire.errors import Unavailable
from tests.bus.wires import Wire
from tests.polling import until


@pytest.fixture
async def watch(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watch]:
    monkeypatch.setattr(health, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(health, "STEADY_S", 0.05)
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


async def waiting(wake: Wake, silence_s: float | None = None) -> asyncio.Task[bool]:
    """A wait that has begun."""
    task = asyncio.ensure_future(wake.wait(silence_s))
    await asyncio.sleep(0)
    assert not task.done()
    return task


@pytest.mark.parametrize("silence_s", [None, 30.0])
async def test_what_comes_ends_the_wait(silence_s: float | None) -> None:
    wake = Wake()
    for _ in range(3):
        task = await waiting(wake, silence_s)
        wake.set()
        wake.set()
        assert await task
    wake.close()


async def test_silence_ends_a_wait_after_messages() -> None:
    wake, loop = Wake(), asyncio.get_running_loop()
    for _ in range(3):
        task = await waiting(wake, 0.05)
        wake.set()
        assert await task
    began = loop.time()
    assert not await wake.wait(0.05)
    assert loop.time() - began >= 0.045  # a timer may be a clock's tick early


async def test_shorter_silence_after_a_longer_one() -> None:
    wake = Wake()
    task = await waiting(wake, 60.0)
    wake.set()
    assert await task
    async with asyncio.timeout(30.0):
        assert not await wake.wait(0.01)


async def test_silence_of_an_earlier_wait_ends_no_other() -> None:
    wake = Wake()
    task = await waiting(wake, 0.01)
    wake.set()
    assert await task
    endless = await waiting(wake)
    assert not await Wake().wait(0.05)  # longer than the first might have been silent
    assert not endless.done()
    wake.set()
    assert await endless


async def test_cancelled_wait_leaves_the_next_alone() -> None:
    wake = Wake()
    task = await waiting(wake, 30.0)
    task.cancel()
    wake.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    again = await waiting(wake, 30.0)
    wake.set()
    assert await again
    wake.close()
