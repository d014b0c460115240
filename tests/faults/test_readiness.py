"""`/readyz` is correct: it asks a question along the whole path, and leaves no trace of it."""

import asyncio
import contextlib
import re
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from bus.journal import janitor as janitor_module
from bus.journal.journal import NOT_STORED
from bus.powers.searching import SearchReply, SearchRequest
from bus.transport.health import answer_health
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import CANARY, EVENTS, RUNS, key_of
from runtime.edge.timeouts import Timeouts
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.replay.journal_traces import latest_runs
from runtime.settings import ActorsSettings, EdgeSettings, Settings
from tests import whole as whole_module
from tests.chaos.house import disk, fill
from tests.polling import until
from tests.runtime.served import open_edge
from tests.whole import Whole, whole

PERIOD_S = 1.0
QUESTION = "How many days until refunds are paid?"


@dataclass
class House:
    """A pipeline and an edge in front of it; its search can be stopped."""

    pipeline: Whole
    http: aiohttp.ClientSession
    searching: asyncio.Event
    searched: list[SearchRequest] = field(default_factory=list)

    async def readiness(self) -> tuple[int, dict[str, dict[str, object]]]:
        async with self.http.get("/readyz") as response:
            found = await response.json()
            return response.status, found["checks"]

    async def becomes(self, status: int, said: str = "") -> None:
        async def there() -> bool:
            found, checks = await self.readiness()
            return found == status and re.search(said, str(checks["canary"]["detail"])) is not None

        await until(there, within_s=30.0, what=f"{status} {said}")

    async def metric(self, name: str) -> float:
        async with self.http.get("/metrics") as response:
            lines = (await response.text()).splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))

    async def no_canary(self) -> bool:
        """Whether the journal has no canary question now."""
        info = await self.pipeline.journal.js.stream_info(RUNS, subjects_filter=">")
        return not any(CANARY in subject for subject in info.state.subjects or {})


@contextlib.asynccontextmanager
async def house(folder: Path, *, period_s: float = PERIOD_S, actors: int = 1) -> AsyncIterator[House]:
    searching = asyncio.Event()
    searching.set()
    searched: list[SearchRequest] = []

    async def find(request: SearchRequest) -> SearchReply:
        searched.append(request)
        await searching.wait()
        if request.filter is not None:
            return SearchReply(none_passes=True, snapshot="20260101-abc")
        return await whole_module.find(request)

    async with whole(folder, ExtractiveEngine(), find=find) as pipeline:
        client = pipeline.runs.client
        here: Callable[[], dict[str, object]] = lambda: {"ready": True, "detail": "here"}  # noqa: E731
        for name in ("search", "inference"):
            await answer_health(client, name, here)
        await answer_health(client, "actors", pipeline.worker.health, pipeline.worker.watch, pipeline.janitor.watch)
        bus = pipeline.users.bus(pipeline.settings, "edge")
        settings = Settings(
            bus=bus,
            edge=EdgeSettings(port=0, canary_s=period_s),
            actors=ActorsSettings(processes=actors),
            state=str(folder),
        )
        edge = open_edge(settings, Timeouts(health_s=5.0))
        async with edge as address, aiohttp.ClientSession(address) as http:
            try:
                yield House(pipeline, http, searching, searched)
            finally:
                searching.set()


@pytest.fixture(autouse=True)
def soon_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(janitor_module, "KEPT_S", 0.2)


async def test_canary_questions_leave_no_trace(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with house(tmp_path) as made:
        await made.becomes(200)
        for _ in range(100):  # asked for by many, it is not asked more often
            assert (await made.readiness())[0] == 200
        assert len(made.searched) <= 1 + (loop.time() - began) / PERIOD_S
        await until(lambda: len(made.searched) >= 3)  # and it continues without any caller
        assert await made.metric("groundwire_edge_questions_total") == 0
        assert await latest_runs(made.pipeline.journal, 10) == []

        async def few_events() -> bool:
            return bool((await made.pipeline.journal.js.stream_info(EVENTS)).state.messages <= 2)

        await until(made.no_canary)
        await until(few_events)
        assert (await made.pipeline.ask(QUESTION))[1].outcome == "answered"
        assert [run.question for run in await latest_runs(made.pipeline.journal, 10)] == [QUESTION]


async def test_hanging_search_is_not_ready(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        await made.becomes(200)
        made.searching.clear()
        known = len(made.searched)
        # The search gives up at the question's deadline, which is when readiness looks how far it came.
        await made.becomes(503, r"did not end within 1 s; it came as far as (classify_query|retrieve)")
        assert len(made.searched) - known <= 3  # the first such question reports it, however long that takes here
        made.searching.set()
        await made.becomes(200)


async def test_absent_model_is_not_ready(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        await made.becomes(200)
        await made.pipeline.stop_asks()
        await made.becomes(503, "a question of its own")


async def test_full_disk_is_not_ready(tmp_path: Path) -> None:
    """A failed write of any process shows it, long before the next question of its own."""
    folder = tmp_path / "small"
    with disk(folder, 1 << 36) as mounted:  # the streams reserve their largest size
        if not mounted:
            pytest.skip("no file system can be mounted here")
        async with house(folder, period_s=60.0) as made:
            await made.becomes(200)
            await until(made.no_canary)  # deleting it frees some space
            await asyncio.to_thread(subprocess.run, ["mount", "-o", "remount,size=64m", str(folder)], check=True)
            await asyncio.to_thread(fill, folder / "filler")

            async def ask() -> None:
                async with made.http.post("/v1/runs", json={"question": QUESTION}) as response:
                    await response.read()

            asked = [
                asyncio.create_task(ask()) for _ in range(30)
            ]  # more than fits into the last page of a stream's file
            began = asyncio.get_running_loop().time()
            await made.becomes(503)
            assert asyncio.get_running_loop().time() - began < 5.0
            assert "disk" in str((await made.readiness())[1])
            for each in asked:
                each.cancel()
            await asyncio.gather(*asked, return_exceptions=True)


async def test_one_process_whose_record_is_not_stored_speaks_for_all(tmp_path: Path) -> None:
    async with house(tmp_path, actors=2) as made:
        reports = [{"ready": False, "detail": "a stage is down"}, {"ready": False, "detail": NOT_STORED}]
        await answer_health(made.pipeline.runs.client, "actors-2", lambda: reports[0])
        await made.becomes(200)
        reports.pop(0)
        assert (await made.readiness())[0] == 503


async def test_lost_consumer_is_not_ready(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        await made.becomes(200)
        await made.pipeline.journal.js.delete_consumer(RUNS, "stream_references")
        seen: list[str] = []

        async def back() -> bool:
            status, checks = await made.readiness()
            seen.append(str(checks["actors"]["detail"]))
            return status == 200 and any("stream_references" in each for each in seen)

        await until(back, within_s=20.0)


async def test_client_questions_count_as_ready(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        await made.becomes(200)
        loop = asyncio.get_running_loop()
        answered = loop.time()
        until_then = answered + 2 * PERIOD_S
        own = sum(each.filter is not None for each in made.searched)
        silent = 0
        while answered < until_then:
            assert (await made.pipeline.ask(QUESTION))[1].outcome == "answered"
            assert (await made.readiness())[0] == 200
            before, answered = answered, loop.time()
            silent += int((answered - before) / PERIOD_S)  # where the machine takes so long, it asks meanwhile
        assert sum(each.filter is not None for each in made.searched) <= own + 1 + silent


async def test_cancelled_canary_changes_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as made:
        await made.becomes(200)
        made.searching.clear()
        known = len(made.searched)
        await until(lambda: len(made.searched) > known)
        info = await made.pipeline.journal.js.stream_info(RUNS, subjects_filter="gw.question_asked.*")
        for subject in info.state.subjects or {}:
            await made.pipeline.runs.cancel(subject.rpartition(".")[2])
        made.searching.set()
        for _ in range(50):
            assert (await made.readiness())[0] == 200


async def test_canary_name_is_reserved(tmp_path: Path) -> None:
    async with house(tmp_path, period_s=0) as made:
        taken = f"{CANARY}0123456789abcdef"
        await made.pipeline.journal.write(key_of(QuestionAsked, taken), QuestionAsked(question=QUESTION))
        lines = [line async for _, line in made.pipeline.runs.events(taken)]
        assert lines[-1] == b'{"type":"DONE"}'
        record = await made.pipeline.runs.record(taken)
        assert record is None or (record.outcome, "are reserved for readiness" in record.detail) == ("failed", True)


async def test_it_can_be_turned_off(tmp_path: Path) -> None:
    async with house(tmp_path, period_s=0) as made:
        status, checks = await made.readiness()
        assert (status, "canary" in checks, made.searched) == (200, False, [])


async def test_metrics_count_what_was_set_aside(tmp_path: Path) -> None:
    async with house(tmp_path, period_s=0) as made:
        await made.pipeline.runs.client.publish("gw.ask", b"no ask", reply="nobody")

        async def counted() -> bool:
            return await made.metric('groundwire_set_aside_total{kind="request",process="actors"}') >= 1

        await until(counted)
