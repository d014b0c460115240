"""Lanes opened together and joined once, in any order of completion, over a real nats-server."""

import asyncio
import functools
import itertools

import msgspec

from bus.delivery.actor import Actor, actor
from bus.transport.settings import BusSettings
from bus.wire.messages import PassagesJudged, QuestionAsked, RunFinished, SubQueryPlanned
from bus.wire.subjects import finished
from tests.bus import toys
from tests.bus.toys import (
    answered,
    ask,
    closed,
    judged,
    planned,
    settled_with,
    working,
)
from tests.bus.wires import Wire
from tests.polling import until

DONE = b'{"type":"DONE"}'


class Lanes:
    """Three lanes that finish on the test's command, joined into the end of the run."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.gates: dict[str, asyncio.Event] = {}
        self.joins: list[tuple[str, ...]] = []
        self.calls: list[str] = []

    def gate(self, lane: str) -> asyncio.Event:
        return self.gates.setdefault(lane, asyncio.Event())

    def actors(self) -> tuple[Actor, ...]:
        @actor()
        async def intake(message: QuestionAsked) -> tuple[SubQueryPlanned, ...]:
            return planned(toys.THREE)

        @actor()
        async def lane(message: SubQueryPlanned) -> PassagesJudged:
            self.calls.append(message.sub_query.id)
            await self.gate(message.sub_query.id).wait()
            return judged(message)

        @actor()
        async def join(lanes: tuple[PassagesJudged, ...]) -> RunFinished:
            self.joins.append(tuple(each.sub_query.id for each in lanes))
            return answered()

        return intake, lane, join


IDS = tuple(q.id for q in toys.THREE)


async def stored(wire: Wire, run_id: str, lanes: int) -> bool:
    return len(await wire.journal.latest([f"gw.passages_judged.{run_id}.*"])) == lanes


async def test_lanes_join_once_in_the_order_of_the_plan(own_settings: BusSettings, own_wire: Wire) -> None:
    """Every order in which three lanes may finish, one run after the other over one server."""
    lanes = Lanes()
    async with working(own_settings, *lanes.actors()):
        for order in itertools.permutations(IDS):
            lanes.reset()
            run_id = await ask(own_wire)
            await until(lambda: len(lanes.calls) == 3)
            for n, each in enumerate(order, start=1):
                assert lanes.joins == []
                lanes.gate(each).set()
                await until(functools.partial(stored, own_wire, run_id, n), what=f"{n} lanes")
            await closed(own_wire, run_id)
            assert lanes.joins == [IDS]


async def test_simultaneous_lanes_join_once(own_settings: BusSettings, own_wire: Wire) -> None:
    lanes = Lanes()
    for each in IDS:
        lanes.gate(each).set()
    async with working(own_settings, *lanes.actors()), working(own_settings, *lanes.actors()):
        runs = await asyncio.gather(*(ask(own_wire) for _ in range(30)))
        for run_id in runs:
            await closed(own_wire, run_id)
    assert lanes.joins == [IDS] * 30


async def test_a_run_done_twice_counts_once(impatient: BusSettings, own_wire: Wire) -> None:
    """A worker that counted as dead continues after all: every key is written once."""
    lanes = Lanes()
    deaf = msgspec.structs.replace(impatient, heartbeat_s=1000.0)
    async with working(deaf, *lanes.actors()):
        run_id = await ask(own_wire)
        await until(lambda: len(lanes.calls) >= 6, what="every lane to be delivered twice")
        for each in IDS:
            lanes.gate(each).set()
        await closed(own_wire, run_id)
        await settled_with(own_wire, "intake", delivered=2)
    assert {*lanes.joins} == {IDS}
    assert len(await own_wire.journal.latest([finished(run_id).subject])) == 1
    assert len(await own_wire.journal.latest([f"gw.passages_judged.{run_id}.*"])) == 3
