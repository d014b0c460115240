"""Waiting for frequent messages: none is missed, and a silence has its exact length."""

import asyncio

import pytest

from bus.transport.wake import Wake


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
