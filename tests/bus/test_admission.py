"""Admission in front of simulated servers, in virtual time: order, waits, refusals and `Retry-After`."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest

from bus.delivery.admission import PATIENCE_S, Admission, Overloaded, Position
from bus.delivery.limit import Limit
from bus.wire.messages import QuestionAsked
from prompts.vocabulary import Urgency
from tests.bus.virtual_time import in_virtual_time

LEAST = 4


@dataclass(frozen=True)
class Server:
    """Answers up to `at_once` calls together; the others wait in it. `takes_s`: all `calls` of a question. `spread`: of times."""

    at_once: int
    takes_s: float
    spread: float = 0.0
    calls: int = 1

    @property
    def per_s(self) -> float:
        return self.at_once / self.takes_s


@dataclass(frozen=True)
class End:
    """What became of a question, after how many seconds since it was asked. `retry_after_s`: 0 unless it was refused."""

    run_id: str
    key: str
    urgency: Urgency
    asked: float
    began_s: float
    took_s: float
    retry_after_s: int = 0


@dataclass
class Service:
    """A simulated server behind an admission."""

    server: Server
    least: int = LEAST
    ends: list[End] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.admission = Admission(Limit(self.least), clock=self.loop.time)
        self.up = asyncio.Event()
        self.up.set()
        self.times = 1.0  #: how much longer than usual the answers take
        self._slots = asyncio.Semaphore(self.server.at_once)
        self._chance = random.Random(7)
        self._number = itertools.count()

    async def ask(
        self,
        deadline_s: float | None = 20.0,
        urgency: Urgency = "interactive",
        key: str = "",
        position: Position | None = None,
    ) -> End:
        run_id, asked, began_s = f"run-{next(self._number)}", self.loop.time(), 0.0
        question = QuestionAsked(question="?", priority=urgency, deadline_s=deadline_s)
        refused = 0
        try:
            await self.admission.enter(run_id, question, deadline_s or 120.0, key=key, position=position)
            began_s = self.loop.time() - asked
            await self.work()
            self.admission.leave(run_id)
        except Overloaded as error:
            refused = error.retry_after_s
        end = End(run_id, key, urgency, asked, began_s, self.loop.time() - asked, refused)
        self.ends.append(end)
        return end

    async def work(self) -> None:
        server = self.server
        for _ in range(server.calls):
            async with self._slots:
                await self.up.wait()
                times = self.times * self._chance.uniform(1 - server.spread, 1 + server.spread)
                await asyncio.sleep(times * server.takes_s / server.calls)

    async def burst(
        self, count: int, deadline_s: float | None = 20.0, urgency: Urgency = "interactive", key: str = ""
    ) -> "Result":
        return Result(await asyncio.gather(*(self.ask(deadline_s, urgency, key) for _ in range(count))))

    async def closed(self, clients: int, seconds: float, urgency: Urgency = "interactive") -> "Result":
        """Clients that each ask again when they have their answer."""
        until = self.loop.time() + seconds

        async def client() -> list[End]:
            ends = []
            while self.loop.time() < until:
                ends.append(await self.ask(None, urgency))
                await asyncio.sleep(ends[-1].retry_after_s)
            return ends

        return Result([end for ends in await asyncio.gather(*(client() for _ in range(clients))) for end in ends])

    async def open(self, per_s: float, seconds: float, deadline_s: float = 20.0) -> "Result":
        """Clients that ask at a rate, whatever becomes of it."""
        asked = []
        for _ in range(round(per_s * seconds)):
            asked.append(asyncio.create_task(self.ask(deadline_s)))
            await asyncio.sleep(1 / per_s)
        return Result(await asyncio.gather(*asked))


class Result:
    def __init__(self, ends: Sequence[End]) -> None:
        self.answered = [end for end in ends if not end.retry_after_s]
        self.refused = [end for end in ends if end.retry_after_s]

    @property
    def slowest_s(self) -> float:
        return max(end.took_s for end in self.answered)


type Scene = Callable[[Service], Awaitable[None]]


def run(server: Server, scene: Scene) -> None:
    """`scene` with a service that knows how many questions its server answers together."""

    async def work() -> None:
        await scene(Service(server, max(LEAST, server.at_once)))

    in_virtual_time(work())


def simulated(*servers: Server) -> Callable[[Scene], Callable[[Server], None]]:
    """Makes a scene a test, with each of these servers."""

    def test_of(scene: Scene) -> Callable[[Server], None]:
        @pytest.mark.parametrize("server", servers, ids=lambda server: f"{server.takes_s}s")
        def test(server: Server) -> None:
            run(server, scene)

        return test

    return test_of


PIPELINE = Server(4, 0.15, spread=0.4)  # about 27 a second
SLOW = Server(16, 8.0)
SCRIPTED = Server(8, 2.0)
ONE_BY_ONE = Server(1, 0.2)
#: With a model, each question asks three times.
MODEL = Server(8, 6.0, calls=3)
PLAIN_MODEL = Server(1, 0.6, calls=3)
EVERY = (PIPELINE, SLOW, SCRIPTED, ONE_BY_ONE)


async def nothing(service: Service) -> None:
    pass


async def singles(service: Service) -> None:
    for _ in range(8):
        await service.ask()


async def crowd(service: Service) -> None:
    await service.closed(64, max(8.0, 10 * service.server.takes_s))


async def interrupted(service: Service) -> None:
    """The service stops under load for a while, and again."""
    for _ in range(3):
        load = asyncio.create_task(service.closed(16, 6.0))
        await asyncio.sleep(2.0)
        service.up.clear()
        await asyncio.sleep(5.0)
        service.up.set()
        await load


#: A server whose answers take 8 s is known only after a minute.
SCENES = [
    (server, before)
    for server in EVERY
    for before in (nothing, singles, crowd, interrupted)
    if before is crowd or server.takes_s < (1 if before is interrupted else 8)
]


@pytest.mark.parametrize(("server", "before"), SCENES)
def test_possible_bursts_are_answered(server: Server, before: Callable[[Service], Awaitable[None]]) -> None:
    async def scene(service: Service) -> None:
        await before(service)
        deadline_s = max(20.0, 5 * server.takes_s)
        for count in (50, 200, 800):
            possible = min(count, int((deadline_s - server.takes_s) * server.per_s))
            done = await service.burst(count, deadline_s)
            assert len(done.answered) >= 0.9 * possible if possible < count else not done.refused
            assert done.slowest_s <= deadline_s
            await asyncio.sleep(2.0)

    run(server, scene)


@simulated(*EVERY)
async def test_impossible_questions_are_refused_soon(service: Service) -> None:
    server = service.server
    await crowd(service)
    deadline_s = max(20.0, 5 * server.takes_s)
    done = await service.burst(5000, deadline_s)
    assert len(done.answered) >= 0.9 * (deadline_s - server.takes_s) * server.per_s - server.at_once // 2
    assert done.slowest_s <= deadline_s
    late = [end for end in done.refused if end.took_s > 3.0]
    assert len(late) <= max(1.5 * server.at_once, 0.15 * len(done.answered))


@pytest.mark.parametrize("server", [MODEL, PLAIN_MODEL], ids=["2s", "200ms"])
def test_few_single_questions_show_what_is_impossible(server: Server) -> None:
    async def scene() -> None:
        service = Service(server)
        await singles(service)
        for _ in range(2):
            done = await service.burst(5000, 20.0)
            in_time = [end for end in done.answered if end.took_s <= 20.0]
            assert len(in_time) >= 0.9 * int((20.0 - server.takes_s) * server.per_s)
            assert sum(end.took_s > 3.0 for end in done.refused) <= 0.05 * len(done.refused)

    in_virtual_time(scene())


@simulated(Server(8, 0.15, spread=0.4))
async def test_short_slowdown_refuses_little(service: Service) -> None:
    """The requests of thousands of clients take the processor from the pipeline for some seconds."""
    slow_s, times, deadline_s = 8.0, 3.0, 20.0
    await crowd(service)
    burst = asyncio.create_task(service.burst(5000, deadline_s))
    service.times = times
    await asyncio.sleep(slow_s)
    service.times = 1.0
    assert len((await burst).answered) >= 0.9 * (slow_s / times + deadline_s - slow_s) * service.server.per_s


@simulated(*EVERY)
async def test_closed_loop_has_no_refusals(service: Service) -> None:
    server = service.server
    done = await service.closed(16, 60 * server.takes_s)
    assert not done.refused or server.per_s * PATIENCE_S < 16
    assert len(done.answered) / (60 * server.takes_s) >= 0.85 * server.per_s


@simulated(*EVERY)
async def test_goodput_under_ten_times_the_capacity(service: Service) -> None:
    server = service.server
    await crowd(service)
    began, seconds, deadline_s = service.loop.time(), 40 * server.takes_s, max(5.0, 5 * server.takes_s)
    done = await service.open(10 * server.per_s, seconds, deadline_s)
    good = [end for end in done.answered if end.took_s <= deadline_s]
    assert len(good) / (service.loop.time() - began) >= 0.9 * server.per_s
    assert len(good) >= 0.95 * len(done.answered)


@simulated(PIPELINE)
async def test_return_after_retry_after_is_admitted(service: Service) -> None:
    await crowd(service)
    done = await service.burst(600, 5.0)
    began = done.refused[0].asked

    async def again(end: End) -> End:
        await asyncio.sleep(began + end.retry_after_s - service.loop.time())
        return await service.ask(5.0)

    first = [end for end in done.refused if end.took_s < 1.0]
    assert len(first) > 300
    waiting = [asyncio.create_task(again(end)) for end in first if began + end.retry_after_s > service.loop.time()]
    ends = Result(await asyncio.gather(*waiting))
    assert len(ends.answered) >= 0.8 * len(waiting)


@simulated(PIPELINE)
async def test_person_passes_a_batch_flood(service: Service) -> None:
    await crowd(service)
    alone_s = (await service.ask()).took_s
    flood = asyncio.create_task(service.burst(500, 60.0, "batch"))
    await asyncio.sleep(2.0)
    person = [(await service.ask()).began_s for _ in range(10)]
    assert max(person) <= alone_s
    assert len((await flood).answered) == 500


@simulated(ONE_BY_ONE)
async def test_patience_without_a_deadline_is_ten_seconds(service: Service) -> None:
    await crowd(service)
    done = await service.burst(100, None)
    assert PATIENCE_S - 1 <= max(end.began_s for end in done.answered) <= PATIENCE_S
    assert done.refused


@simulated(ONE_BY_ONE)
async def test_flooding_key_delays_no_other(service: Service) -> None:
    flood = asyncio.create_task(service.burst(50, key="flood"))
    await asyncio.sleep(0.01)
    quiet = await service.burst(2, key="quiet")
    assert max(end.took_s for end in quiet.answered) <= (LEAST + 4) * ONE_BY_ONE.takes_s + 0.01
    await flood


@simulated(ONE_BY_ONE)
async def test_flooding_keys_share_alike(service: Service) -> None:
    await asyncio.gather(*(service.burst(30, 120.0, "batch", key) for key in ("a", "b", "c")))
    shares = Counter(end.key for end in service.ends[LEAST : LEAST + 30])
    assert max(shares.values()) - min(shares.values()) <= 2


@simulated(ONE_BY_ONE)
async def test_earliest_deadline_begins_first_within_a_key(service: Service) -> None:
    patient = asyncio.create_task(service.burst(20, 60.0))
    await asyncio.sleep(0.01)
    hurried = await service.ask(3.0)
    assert hurried.took_s <= (LEAST + 1) * ONE_BY_ONE.takes_s + 0.01
    assert not (await patient).refused


@simulated(ONE_BY_ONE)
async def test_positions_are_reported_each_second(service: Service) -> None:
    places: list[int] = []

    async def position(place: int) -> None:
        places.append(place)

    others = asyncio.create_task(service.burst(20))
    await asyncio.sleep(0.01)
    end = await service.ask(position=position)
    await others
    assert len(places) in (int(end.began_s), int(end.began_s) - 1)
    assert places == sorted(places, reverse=True)
    assert places[0] in (3, 13)


@simulated(ONE_BY_ONE)
async def test_leaving_the_queue_leaves_no_trace(service: Service) -> None:
    begun = [asyncio.create_task(service.ask()) for _ in range(LEAST)]
    leaves, stays = asyncio.create_task(service.ask()), asyncio.create_task(service.ask())
    await asyncio.sleep(0.01)
    leaves.cancel()
    await asyncio.gather(leaves, return_exceptions=True)
    assert service.admission.waiting() == 1
    await asyncio.gather(stays, *begun)
    assert (len(service.ends), service.admission.limit.runs) == (LEAST + 1, {})


@simulated(ONE_BY_ONE)
async def test_unused_slot_is_passed_on(service: Service) -> None:
    admission, question = service.admission, QuestionAsked(question="?")

    for n in range(LEAST):
        await admission.enter(f"run-{n}", question, 10.0)
    following = asyncio.create_task(admission.enter("next", question, 10.0))
    await asyncio.sleep(0.01)
    assert not following.done()
    admission.forget("run-0")
    await following
    assert "next" in admission.limit.runs


@simulated(ONE_BY_ONE)
async def test_active_run_may_enter_again(service: Service) -> None:
    for _ in range(2 * LEAST):
        await service.admission.enter("twice", QuestionAsked(question="?"), 10.0)
    assert len(service.admission.limit.runs) == 1


@simulated(ONE_BY_ONE)
async def test_runs_of_other_processes_take_room(service: Service) -> None:
    for n in range(LEAST):
        service.admission.count(f"elsewhere-{n}", "interactive", 60.0)
    own = [asyncio.create_task(service.ask()) for _ in range(3)]
    await asyncio.sleep(0.1)
    assert service.admission.waiting() == 1  # half the room is this process's own
    for n in range(LEAST):
        service.admission.leave(f"elsewhere-{n}")
    assert service.admission.waiting() == 0
    await asyncio.gather(*own)
