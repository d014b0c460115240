"""The queue, and everything at once in an order set by a seed: nothing hangs, and replies that finish are right."""

import asyncio
import json
import random
from types import SimpleNamespace

import pytest

from bus.wire.errors import Failure
from runtime.engines.limits import misfit
from runtime.engines.mlx.jobs import Waiting
from runtime.engines.mlx.model import load
from runtime.engines.mlx.tickets import Ticket
from tests.runtime.engines.mlx.test_faults import Faulty
from tests.runtime.engines.sample import ENDLESS, collect, render, request, shape

NOTE = shape(ok={"type": "boolean"}, note={"type": "string", "maxLength": 30})
PRIORITIES = ("answer", "check", "judge", "background")


async def one(engine, dice):
    """One request of any kind, which may be cancelled or run out of time. Returns its failure, if it had one."""
    priority, seed = dice.choice(PRIORITIES), dice.randrange(1000)
    options = {"priority": priority, "seed": seed}
    long = "word " * dice.choice((1, 40, 300))
    try:
        match dice.randrange(4):
            case 0:
                await collect(engine, request(rendered=render(long, temperature=1.0), **options))
            case 1:
                _, finished = await collect(
                    engine, request(rendered=render(long, schema=NOTE, temperature=1.0, max_tokens=60), **options)
                )
                assert misfit(json.loads(finished.text), NOTE) == ""
            case 2:
                _, finished = await collect(
                    engine, request(rendered=render(long, schema={"type": "boolean"}), **options)
                )
                assert finished.text in ("true", "false")
            case 3:
                seconds = dice.choice((0.01, 0.05, 60))
                stream = engine.generate(
                    request(rendered=render(long, schema=ENDLESS, max_tokens=10_000), seconds=seconds, **options)
                )
                for _ in range(dice.randrange(1, 9)):
                    await anext(stream)
                await stream.aclose()
    except Failure as failure:
        return failure
    return None


@pytest.mark.parametrize("seed", range(2))
async def test_storm(start, seed):
    dice, faults = random.Random(seed), random.Random(seed)

    def loader(settings):
        loaded = load(settings)
        loaded.model = Faulty(loaded.model, lambda inputs: armed and faults.random() < 0.004)
        return loaded

    armed = False
    async with start(loader=loader, settings={"max_rows": 6}) as engine:
        armed = seed > 0
        tasks = [asyncio.create_task(one(engine, dice)) for _ in range(60)]
        failures = [failure for failure in await asyncio.wait_for(asyncio.gather(*tasks), 200) if failure]
        armed = False
        assert len(failures) < len(tasks) / 2 or engine.view().state == "failed"
        if engine.view().state == "ready":
            await collect(engine, request(rendered=render()))
            view = engine.view()
            assert (view.rows_decoding, view.rows_prefilling, sum(view.waiting.values())) == (0, 0, 0)


async def job(name, priority, seconds):
    ticket = Ticket(priority, asyncio.get_running_loop().time() + seconds)
    return SimpleNamespace(name=name, ticket=ticket, submitted=0.0)


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
    assert "".join(waiting.pop().name for _ in asked) == order


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
    assert waiting.take({late.ticket, soon.ticket}) == [late, soon]
    assert waiting.first() is kept
    assert len(waiting) == 1
