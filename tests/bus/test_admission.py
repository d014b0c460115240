"""Admission: order, waiting and `Retry-After`, on a simulated clock."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Self

import pytest

from bus.delivery.admission import BURST_S, Admission, Overloaded
from bus.delivery.limit import Limit
from prompts.vocabulary import Urgency

ALONE_S = 0.1


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Door:
    """A door on a pretended clock, for runs that take `ALONE_S` one after the other, so ten a second."""

    def __init__(self, *, brief: bool = True) -> None:
        self.clock = Clock()
        self.admission = Admission(Limit(first=1, most=1), brief=brief, clock=self.clock)
        self.begun: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """No caller is left waiting and no refusal unread: asyncio would log either during another test."""
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)

    async def measure(self) -> None:
        for n in range(8):
            await self.admission.enter(f"first{n}", "interactive", 10.0)
            self.clock.now += ALONE_S
            self.admission.leave(f"first{n}")
        self.clock.now += 10 * BURST_S

    async def ask(self, run_id: str, urgency: Urgency = "interactive", deadline_s: float = 60.0, key: str = "") -> None:
        async def entering() -> None:
            await self.admission.enter(run_id, urgency, deadline_s, key=key)
            self.begun.append(run_id)

        self.tasks[run_id] = asyncio.create_task(entering())
        await asyncio.sleep(0)

    async def work(self, seconds: float) -> None:
        """Let time pass while the runs under way are done."""
        end = self.clock.now + seconds
        while self.clock.now + ALONE_S <= end + 1e-9 and self.admission.limit.runs:
            self.clock.now += ALONE_S
            self.admission.leave(next(iter(self.admission.limit.runs)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        self.clock.now = max(self.clock.now, end)

    def refused(self) -> dict[str, float]:
        """The refused callers, with their wait."""
        found = {name: task.exception() for name, task in self.tasks.items() if task.done()}
        return {name: error.retry_after_s for name, error in found.items() if isinstance(error, Overloaded)}


@pytest.fixture
async def unmeasured() -> AsyncIterator[Door]:
    async with Door() as made:
        yield made


@pytest.fixture
async def door(unmeasured: Door) -> Door:
    await unmeasured.measure()
    return unmeasured


async def ask_many(door: Door, names: Sequence[str], **fields: object) -> None:
    for name in names:
        await door.ask(name, **fields)  # type: ignore[arg-type]


async def test_burst_is_answered_for_a_second_rest_refused(door: Door) -> None:
    await ask_many(door, [f"q{n}" for n in range(100)])
    assert door.admission.waiting() in (9, 10)
    assert len(door.refused()) == 99 - door.admission.waiting()
    await door.work(2.0)
    assert len(door.begun) in (10, 11)


async def test_return_after_retry_after_is_admitted(door: Door) -> None:
    """A hundred at once, each of which comes back once, after its `Retry-After` (in whole seconds, as in HTTP)."""
    await ask_many(door, [f"q{n}" for n in range(100)])
    told = sorted((-(-after_s // 1), name) for name, after_s in door.refused().items())
    began = door.clock.now
    for after_s, name in told:
        await door.work(began + after_s - door.clock.now)
        await door.ask(f"{name} again")
    await door.work(2.0)
    assert len([name for name in door.begun if "again" in name]) >= 0.8 * len(told)
    assert told[-1][0] <= 2 * len(told) * ALONE_S


async def test_admitted_requests_hardly_wait_in_a_standing_queue(door: Door) -> None:
    waits: dict[str, float] = {}
    for n in range(2000):  # twenty times what can be done, for ten seconds
        await door.ask(f"q{n}")
        waits[f"q{n}"] = door.clock.now
        if n % 20 == 19:
            before = len(door.begun)
            await door.work(ALONE_S)
            for name in door.begun[before:]:
                waits[name] = door.clock.now - waits[name]
    late = [waits[name] for name in door.begun[len(door.begun) // 2 :]]
    assert len(door.begun) >= 95  # of the hundred that can be done in ten seconds
    assert max(late) <= 2 * ALONE_S + 1e-6


async def test_batch_waits_behind_interactive_until_its_deadline(door: Door) -> None:
    await ask_many(door, [f"b{n}" for n in range(1000)], urgency="batch", deadline_s=60.0)
    assert 590 <= door.admission.waiting("batch") <= 600  # a minute at ten a second
    assert len(door.refused()) >= 399
    await door.ask("person")
    assert door.begun[-1] == "person"
    await ask_many(door, ["one", "two"])
    await door.work(3 * ALONE_S + ALONE_S)
    assert door.begun[:4] == ["b0", "person", "one", "two"]


async def test_flooding_key_delays_no_other(door: Door) -> None:
    await ask_many(door, [f"flood{n}" for n in range(50)], key="flood")
    await ask_many(door, ["quiet0", "quiet1"], key="quiet")
    assert not [name for name in door.refused() if name.startswith("quiet")]
    await door.work(5 * ALONE_S)
    assert door.begun[:5] == ["flood0", "flood1", "quiet0", "flood2", "quiet1"]


async def test_flooding_keys_share_alike(door: Door) -> None:
    for n in range(30):
        for key in ("a", "b", "c"):
            await door.ask(f"{key}{n}", "batch", key=key)
    await door.work(3.0)
    shares = Counter(name[0] for name in door.begun[1:])
    assert max(shares.values()) - min(shares.values()) <= 1


async def test_leaving_the_queue_leaves_no_trace(door: Door) -> None:
    await ask_many(door, ["under way", "leaves", "stays"])
    door.tasks["leaves"].cancel()
    await asyncio.gather(door.tasks["leaves"], return_exceptions=True)
    assert door.admission.waiting() == 1
    await door.work(1.0)
    assert door.begun == ["under way", "stays"]
    assert door.admission.limit.runs == {}


async def test_unused_slot_is_passed_on(door: Door) -> None:
    async def breaks() -> None:
        async with door.admission.entered("breaks", "interactive", 10.0):
            await door.ask("next")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await breaks()
    await asyncio.sleep(0)
    assert door.begun == ["next"]


async def test_hopeless_deadline_is_refused_with_a_wait(door: Door) -> None:
    await ask_many(door, [f"b{n}" for n in range(101)], urgency="batch", deadline_s=600.0)
    await door.ask("hurried", "batch", 5.0)
    assert door.refused()["hurried"] == pytest.approx(5.3, abs=0.5)


async def test_wait_past_its_deadline_is_refused(unmeasured: Door) -> None:
    await unmeasured.ask("under way")
    await unmeasured.ask("waits", deadline_s=0.05)  # it is let into the queue, for nothing is measured yet
    with pytest.raises(Overloaded):
        await unmeasured.tasks["waits"]
    assert unmeasured.admission.waiting() == 0


async def test_active_run_may_enter_again(door: Door) -> None:
    for _ in range(2):
        await door.ask("twice")
    assert door.begun == ["twice", "twice"]
    await door.work(1.0)
    assert door.admission.limit.runs == {}


async def test_first_requests_do_not_all_wait(unmeasured: Door) -> None:
    await ask_many(unmeasured, [f"q{n}" for n in range(500)])
    assert 10 < unmeasured.admission.waiting() < 100
