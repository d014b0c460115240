import asyncio
from types import SimpleNamespace

import pytest

from runtime.engines.mlx.queue import Waiting
from runtime.engines.mlx.tickets import Ticket


async def job(name, priority, seconds):
    ticket = Ticket(name, priority, asyncio.get_running_loop().time() + seconds)
    return SimpleNamespace(ticket=ticket, submitted=0.0)


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ([("a", "background", 9), ("b", "judge", 9), ("c", "check", 9), ("d", "answer", 9)], "dcba"),
        ([("a", "judge", 30), ("b", "judge", 10), ("c", "judge", 20)], "bca"),
        ([("a", "judge", 1), ("b", "answer", 60)], "ba"),
    ],
)
async def test_priority_then_deadline(asked, order):
    waiting = Waiting()
    for entry in asked:
        waiting.put(await job(*entry))
    assert "".join(waiting.pop().ticket.request_id for _ in asked) == order


async def test_equal_deadlines_keep_their_order():
    waiting, ticket = Waiting(), (await job("x", "judge", 5)).ticket
    jobs = [SimpleNamespace(ticket=ticket, submitted=float(n)) for n in range(5)]
    for each in jobs:
        waiting.put(each)
    assert [waiting.pop() for _ in jobs] == jobs


async def test_expired_and_cancelled_leave():
    waiting = Waiting()
    late, soon, kept = [await job(n, "judge", s) for n, s in (("late", -1), ("soon", 5), ("kept", 50))]
    for each in (late, soon, kept):
        waiting.put(each)
    assert waiting.take_expired(late.ticket.expires + 0.5) == [late]
    assert waiting.take(soon.ticket) == [soon]
    assert waiting.first() is kept
    assert len(waiting) == 1
