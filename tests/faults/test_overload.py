"""Overload: refused questions get an immediate error and never run, and the others are answered in time."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import msgspec
import pytest

from actors.stream_references import closing
from bus.delivery.actor import Actor, actor
from bus.journal.canary import admit_canary
from bus.powers.events import Error
from bus.runs.run_record import RunRecord
from bus.runs.runs import Runs
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked, QuestionReady, RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import CANARY, RUNS, finished, key_of
from runtime.settings import EdgeSettings, Settings
from tests.bus.toys import READY, answered, ask, ended, working
from tests.bus.wires import Server, Wire, wired
from tests.polling import until
from tests.runtime.served import open_edge

#: How much later than its deadline an answer may arrive, apart from the time for which this process's loop was stopped.
SLACK_S = 1.0


@dataclass
class Machine:
    """A bus, a client of it, and a pipeline that does one question at a time. `done`: what it has answered, in order.

    Holding `turn` pauses it.
    """

    folder: Path
    server: Server
    settings: BusSettings
    done: list[str]
    wire: Wire = field(init=False)
    runs: Runs = field(init=False)
    actors: tuple[Actor, ...] = ()
    work_s: float = 0.03
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


@pytest.fixture
async def machine(server: Server, tmp_path: Path) -> AsyncIterator[Machine]:
    settings = BusSettings(url=server.url, ack_wait_s=60.0, janitor_period_s=0.02, deadline_s=60.0)
    made = Machine(tmp_path, server, settings, [])

    @actor()
    async def intake(message: QuestionAsked) -> QuestionReady:
        question = msgspec.structs.replace(READY.question, text=message.question, asked=message.question)
        return msgspec.structs.replace(READY, question=question)

    @actor()
    async def end(message: QuestionReady) -> RunFinished:
        async with made.turn:
            await anyio.sleep(made.work_s)  # the work itself
        made.done.append(message.question.text)
        return answered()

    made.actors = (intake, end)
    async with wired(settings) as made.wire:
        made.runs = Runs(made.wire.journal, patience_s=0.3)
        await made.runs.start()
        yield made
        await made.runs.stop()


@contextlib.asynccontextmanager
async def door(machine: Machine) -> AsyncIterator[aiohttp.ClientSession]:
    """An edge in front of the machine, which has answered a few questions."""
    edge = EdgeSettings(port=0, canary_s=0)
    settings = Settings(bus=machine.settings, edge=edge, state=str(machine.folder / "state"))
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        open_edge(settings) as address,
        working(machine.settings, *machine.actors),
        aiohttp.ClientSession(address, connector=connector) as session,
    ):
        for n in range(4):
            await read(session, f"warm {n}")
        yield session


@contextlib.asynccontextmanager
async def flooded(
    machine: Machine, session: aiohttp.ClientSession, count: int, done: int = 8
) -> AsyncIterator[list["asyncio.Task[int]"]]:
    """So many batch questions, of which so many are done; what is left of them at the end is given up."""
    flood = [asyncio.create_task(read(session, f"b {n}", priority="batch")) for n in range(count)]
    await until(lambda: len(machine.done) > done, what="the flood to be under way")
    yield flood
    for task in flood:
        task.cancel()
    await asyncio.gather(*flood, return_exceptions=True)


async def read(session: aiohttp.ClientSession, question: str, **fields: object) -> int:
    """Ask and read to the end: the status."""
    async with session.post("/v1/runs", json={"question": question, **fields}) as response:
        await response.read()
        return response.status


@contextlib.asynccontextmanager
async def lateness() -> AsyncIterator[list[float]]:
    """The seconds by which each tick of the loop was late: its clients, the edge and the actors share one core here."""
    late: list[float] = []

    async def tick() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + 0.05
            await asyncio.sleep(0.05)
            late.append(loop.time() - due)

    ticking = asyncio.create_task(tick())
    try:
        yield late
    finally:
        ticking.cancel()


async def asked(machine: Machine) -> int:
    """How many questions the journal holds."""
    info = await machine.wire.journal.js.stream_info(RUNS, subjects_filter="gw.question_asked.*")
    return len(info.state.subjects or {})


async def test_refusal_is_in_time_and_leaves_no_trace(machine: Machine) -> None:
    loop = asyncio.get_running_loop()
    refusals: list[float] = []
    answers: list[float] = []

    async with door(machine) as session:
        await asyncio.gather(*(read(session, f"measured {n}") for n in range(60)))

        async def one(n: int) -> None:
            began = loop.time()
            async with session.post("/v1/runs", json={"question": f"q {n}", "deadline_s": 3.0}) as response:
                if response.status == 429:
                    assert response.content_type == "application/problem+json"
                    assert (await response.json(content_type=None))["code"] == "overloaded"
                    assert 1 <= int(response.headers["Retry-After"]) <= 120
                    refusals.append(loop.time() - began)
                else:
                    assert b'"DONE"' in await response.read()
                    answers.append(loop.time() - began)

        async with lateness() as late:
            await asyncio.gather(*(one(n) for n in range(200)))
        assert len(refusals) > 50
        assert len(answers) > 10
        assert await asked(machine) == 64 + len(answers)
        assert len(machine.done) == 64 + len(answers)
        assert max(*answers, *refusals) < 3.0 + SLACK_S + sum(late)
        async with session.get("/metrics") as response:
            metrics = await response.text()
        assert f'decision="refused",priority="interactive"}} {len(refusals)}.0' in metrics
        assert "groundwire_edge_admission_limit" in metrics


async def test_refusal_uses_its_transport_form(machine: Machine) -> None:
    async with door(machine) as session, flooded(machine, session, 200, done=60):
        hurried = {"question": "no time", "priority": "batch", "deadline_s": 0.05}
        async with session.ws_connect("/v1/ws") as socket:
            await socket.send_json(hurried)
            events = [(await socket.receive_json(timeout=30))["event"] for _ in range(2)]
        assert [(event["type"], event.get("code")) for event in events] == [("error", "overloaded"), ("DONE", None)]
        assert 1 <= events[0]["retry_after_s"] <= 120
        body = {"model": "general", "messages": [{"role": "user", "content": "no time"}], "priority": "batch"}
        async with session.post("/v1/chat/completions", json={**body, "deadline_s": 0.05}) as response:
            assert response.status == 429
            assert "Retry-After" in response.headers
            error = (await response.json())["error"]
            assert (error["code"], error["type"]) == ("overloaded", "rate_limit_error")
        arguments = {"question": "no time", "priority": "batch", "deadline_s": 0.05}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": arguments}}
        async with session.post(
            "/mcp", json=call, headers={"Accept": "application/json, text/event-stream"}
        ) as response:
            result = (await response.json(content_type=None))["result"]
        assert result["isError"]
        assert 1 <= result["_meta"]["groundwire/retry_after_s"] <= 120


async def test_interactive_question_passes_a_batch_flood(machine: Machine) -> None:
    async with door(machine) as session, flooded(machine, session, 60, done=10) as flood:
        before = len(machine.done)
        assert await read(session, "person") == 200
        assert len(machine.done) - before < 20
        assert sum(task.done() for task in flood) < 40
        assert await asyncio.gather(*flood) == [200] * 60


async def queued_lines(machine: Machine, session: aiohttp.ClientSession) -> list[bytes]:
    """The stream of a question that had to wait behind others."""
    question = {"question": "waits", "priority": "batch", "events": "all"}
    async with flooded(machine, session, 120), session.post("/v1/runs", json=question) as response:
        lines = [line async for line in response.content if line.startswith(b"data:")]
    assert lines[0].startswith(b'data: {"type":"queued","position":')
    return lines


async def test_waiting_question_gets_its_position(machine: Machine) -> None:
    async with door(machine) as session:
        lines = await queued_lines(machine, session)
        assert b'"DONE"' in lines[-1]


async def test_error_in_storing_a_queued_question_ends_its_stream(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = Runs.submit_and_read

    async def full_disk(self: Runs, question: QuestionAsked, *args: Any, **more: Any) -> Any:
        if question.events == "all":
            raise Unavailable("the disk is full")
        return await really(self, question, *args, **more)

    monkeypatch.setattr(Runs, "submit_and_read", full_disk)
    async with door(machine) as session:
        lines = await queued_lines(machine, session)
        assert b'"unavailable"' in lines[-2]
        assert b'"DONE"' in lines[-1]


async def test_slow_store_opens_no_stream(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question has a run id for its client only when it is stored or has a position in the queue."""

    async def slow(*_: Any, **__: Any) -> Any:
        await asyncio.sleep(1.5)
        raise Unavailable("the disk is full")

    async with door(machine) as session:
        monkeypatch.setattr(Runs, "submit_and_read", slow)
        assert await read(session, "waits", events="all") == 503


async def test_queued_question_can_be_cancelled(machine: Machine) -> None:
    async with (
        door(machine) as session,
        flooded(machine, session, 120) as flood,
        session.ws_connect("/v1/ws") as socket,
    ):
        await socket.send_json({"question": "waits", "priority": "batch", "events": "all"})
        accepted, queued = [await socket.receive_json(timeout=30) for _ in range(2)]
        assert queued["event"]["type"] == "queued"
        await socket.send_json({"type": "cancel", "run_id": accepted["run_id"]})
        events = [queued["event"]]
        while events[-1]["type"] != "DONE":
            events.append((await socket.receive_json(timeout=30))["event"])
        assert events[-2]["code"] == "cancelled"
        await asyncio.gather(*flood)
        assert "waits" not in machine.done


async def test_question_leaving_the_queue_is_not_written(machine: Machine) -> None:
    async with door(machine) as session:
        async with flooded(machine, session, 60):
            pass
        assert await read(session, "last") == 200
        assert await asked(machine) < 50


async def test_a_repeated_question_is_not_refused(machine: Machine) -> None:
    async with door(machine) as session:
        key = {"idempotency_key": "again", "priority": "batch"}
        assert await read(session, "known", **key) == 200
        async with flooded(machine, session, 60) as flood:
            assert await read(session, "known", **key) == 200
            assert sum(task.done() for task in flood) < 50
            assert len(machine.done) == len(set(machine.done))


# ---------------------------------------------------------------- past the door


async def test_nats_flood_is_answered_as_time_allows(machine: Machine) -> None:
    machine.work_s = 0.1
    async with working(machine.settings, *machine.actors) as worker:
        for n in range(4):
            await ended(machine.wire, await ask(machine.wire, f"warm{n}"))
        runs = [f"flood{n}" for n in range(150)]
        await asyncio.gather(*(ask(machine.wire, run_id, question=run_id, deadline_s=5.0) for run_id in runs))
        ends = await asyncio.gather(*(ended(machine.wire, run_id) for run_id in runs))
        refused = [run_id for run_id, end in zip(runs, ends, strict=True) if end.unrun == "overloaded"]
        assert len(refused) > 60  # in five seconds fifty can be done
        assert sum(end.outcome == "answered" for end in ends) > 15
        assert not set(refused) & set(machine.done)
        assert isinstance(error := closing(ends[runs.index(refused[0])], ended=False)[0], Error)
        assert error.code == "overloaded"
        assert error.retry_after_s in range(1, 121)
        await until(lambda: not worker.intake.limit.runs, what="every place to be given back")


@pytest.mark.parametrize(("run_id", "priority"), [("person", "batch"), (f"{CANARY}1", "interactive")])
async def test_person_passes_batch_and_readiness_passes_all(machine: Machine, run_id: str, priority: str) -> None:
    """Over NATS. `priority`: of the questions before."""
    async with working(machine.settings, *machine.actors):
        others = [f"q{n}" for n in range(60)]
        async with machine.turn:
            await asyncio.gather(*(ask(machine.wire, each, question=each, priority=priority) for each in others))
            if run_id.startswith(CANARY):
                await admit_canary(machine.wire.journal, run_id, patience_s=30.0)
            await ask(machine.wire, run_id, question=run_id)
            await until(lambda: machine.wire.journal.latest([key_of(QuestionReady, run_id).subject]))
        await ended(machine.wire, run_id)
        assert machine.done.index(run_id) < 30
        assert {(await ended(machine.wire, each)).outcome for each in others} == {"answered"}


# ---------------------------------------------------------------- what was refused is not run


async def test_question_abandoned_during_a_server_stop_is_not_run(machine: Machine) -> None:
    """The question lies in the stopped server's socket, and is stored when it goes on."""
    question = QuestionAsked(question="given up", idempotency_key="once")
    process = machine.server.process
    placed = await machine.runs.identify(question)
    await machine.runs.room.check()  # or the question would not even be sent
    process.send_signal(signal.SIGSTOP)
    await asyncio.to_thread(os.waitpid, process.pid, os.WUNTRACED)
    with pytest.raises(Unavailable):
        await machine.runs.submit_and_read(question, run=placed)
    process.send_signal(signal.SIGCONT)
    async with working(machine.settings, *machine.actors):
        settled = await ended(machine.wire, placed.run_id)
        assert (settled.outcome, settled.unrun) == ("failed", "withdrawn")
        assert await machine.wire.journal.latest([key_of(QuestionAsked, placed.run_id).subject])
        assert isinstance(error := closing(settled, ended=False)[0], Error)
        assert error.code == "unavailable"
        # The same request may be made again, and is run then.
        again = await machine.runs.submit(question)
        assert again.run_id != placed.run_id
        assert (await ended(machine.wire, again.run_id)).outcome == "answered"
        assert machine.done == ["given up"]
        assert (await machine.runs.submit(question)).run_id == again.run_id


async def test_question_with_lost_acks_is_not_run(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question is stored, and its writer does not know."""
    client = machine.wire.journal.client
    publish: Callable[..., object] = client.request

    async def lossy(subject: str, *arguments: object, **options: object) -> object:
        ack = await publish(subject, *arguments, **options)  # type: ignore[misc]
        if "question_asked" in subject:
            await asyncio.Event().wait()
        return ack

    monkeypatch.setattr(client, "request", lossy)
    placed = await machine.runs.identify(QuestionAsked(question="lost"))
    with pytest.raises(Unavailable):
        await machine.runs.submit_and_read(QuestionAsked(question="lost"), run=placed)
    monkeypatch.undo()
    async with working(machine.settings, *machine.actors):
        assert (await ended(machine.wire, placed.run_id)).unrun == "withdrawn"
        await ended(machine.wire, await ask(machine.wire, "next", question="next"))
        assert machine.done == ["next"]


async def test_first_stage_checks_for_the_end_of_its_run(machine: Machine) -> None:
    """The end may also come first: over a new connection, while the question still lies in the old one."""
    settled = Settled(outcome="failed", unrun="withdrawn")
    await machine.wire.journal.write(finished("early"), RunFinished(settled=settled))
    await ask(machine.wire, "early", question="early")
    async with working(machine.settings, *machine.actors):
        await ended(machine.wire, await ask(machine.wire, "next", question="next"))
        assert machine.done == ["next"]
    record = await machine.runs.record("early")
    assert isinstance(record, RunRecord)
    assert (record.outcome, record.unrun) == ("failed", "withdrawn")
