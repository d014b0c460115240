"""Every process is killed twice, two at a time, while 300 questions run; nothing is lost, nothing is shown twice."""

import asyncio
import collections
import contextlib
import itertools
import json
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import aiohttp
import pytest

from actors.pipeline import ACTORS
from bus.connection import connect
from bus.subjects import RUNS
from index import snapshot
from index.build import Build
from index.model import Document
from runtime.processes.nats_server import free_port
from runtime.processes.supervisor import Stack, kill
from runtime.settings import ActorsSettings, EdgeSettings, IndexSettings, InferenceSettings, Settings

QUESTIONS = 300
AT_ONCE = 16
OTHERS = ("nats", "inference", "search", "edge")

#: The actors in four processes, cut where a run hands over: what is asked, what is read, what is answered, how it ends.
READ = ("open_lanes", "retrieve", "judge_relevance", "judge_sufficiency", "select_evidence")
ANSWERED = ("guard_language", "verify_answer", *(a.name for a in ACTORS if a.priority == "answer"))
ENDED = ("settle_answer", "stream_answer", "stream_references")
IN_FOUR = "; ".join(",".join(group) for group in (READ, ANSWERED, ENDED))
EACH_ALONE = "; ".join(a.name for a in ACTORS)

FACTS = [
    ("refunds", "Refunds are paid within 14 days. The buyer must return the goods unused. Shipping costs 3,000 won."),
    (
        "opening",
        "The library opens at nine in the morning. On Sundays it stays closed. Every visitor must show a card.",
    ),
    (
        "ladders",
        "Ladders must be checked every 6 months. A broken ladder must not be used. The foreman keeps the list.",
    ),
]
ASKED = [
    "How many days until refunds are paid?",
    "When does the library open in the morning?",
    "How often must ladders be checked?",
    "How many days until refunds are paid, and how often must ladders be checked?",
    "hello",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("chaos") / "index"
    folder.mkdir()
    with snapshot.writing(folder):
        making = Build(folder)
        for name, text in FACTS:
            making.put(Document(source_id=name, title=name.capitalize(), text=text))
        making.publish()
    return folder


@contextlib.asynccontextmanager
async def stack(index: Path, folder: Path, processes: str) -> AsyncIterator[Stack]:
    settings = Settings(
        index=IndexSettings(dir=str(index)),
        inference=InferenceSettings(cache_entries=0),
        edge=EdgeSettings(port=free_port()),
        actors=ActorsSettings(processes=processes),
    )
    running = Stack(settings, folder / "state", ("search", "inference", "actors", "edge"))
    try:
        await running.start()
        await running.ready()
        yield running
    finally:
        await running.stop()


class Client:
    """Asks over HTTP and comes back by Last-Event-ID whenever it is cut off."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.url = url
        self.reconnects = 0

    async def ask(self, number: int) -> tuple[str, list[bytes]]:
        """The run's id, and its events as they came over however many connections."""
        body = {"question": ASKED[number % len(ASKED)], "idempotency_key": f"chaos-{number}"}
        run_id = ""
        lines: list[bytes] = []
        last = 0
        while True:
            try:
                if run_id:
                    headers = {"Last-Event-ID": str(last)}
                    request = self.session.get(f"{self.url}/v1/runs/{run_id}/events", headers=headers)
                else:
                    request = self.session.post(f"{self.url}/v1/runs", json=body)
                async with request as response:
                    if response.status == 204:
                        return run_id, lines
                    if response.status != 200:
                        assert response.status == 503, await response.text()
                        raise aiohttp.ClientError("not yet")
                    run_id = response.headers["X-Run-Id"]
                    async for number_, data in events(response):
                        if number_ <= last:
                            continue  # a repeated POST begins at the beginning
                        assert number_ == last + 1
                        last = number_
                        lines.append(data)
                        if data == b'{"type":"DONE"}':
                            return run_id, lines
            except (aiohttp.ClientError, ConnectionError, TimeoutError):
                pass
            self.reconnects += 1
            await asyncio.sleep(0.05)


async def events(response: aiohttp.ClientResponse) -> AsyncIterator[tuple[int, bytes]]:
    number = 0
    async for line in response.content:
        if line.startswith(b"id: "):
            number = int(line[4:])
        elif line.startswith(b"data: "):
            if not line.endswith(b"\n"):
                raise aiohttp.ClientError("cut off in the middle of a line")
            yield number, line[6:].rstrip(b"\n")


@pytest.mark.timeout(600)
async def test_every_accepted_question_ends_once_whoever_is_killed(index: Path, tmp_path: Path) -> None:
    async with stack(index, tmp_path, IN_FOUR) as running:
        actors = [name for name in running.processes if name.startswith("actors")]
        assert len(actors) == 4
        # Two at a time: each of the others twice, each process of the actors twice, and with another one the second time.
        await chaos(running, [*zip(OTHERS, actors, strict=True), *zip(OTHERS, reversed(actors), strict=True)])


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_every_actor_alone_may_be_killed(index: Path, tmp_path: Path) -> None:
    async with stack(index, tmp_path, EACH_ALONE) as running:
        actors = [name for name in running.processes if name.startswith("actors")]
        assert len(actors) == len(ACTORS)
        await chaos(running, [(name,) for name in actors])


async def chaos(stack: Stack, victims: Sequence[Sequence[str]]) -> None:
    """Kill the victims, group after group, while questions run; then check that each run ended once and was shown once."""
    url = f"http://127.0.0.1:{stack.settings.edge.port}"
    numbers = itertools.count()
    runs: dict[str, list[bytes]] = {}
    killing_over = asyncio.Event()
    timeout = aiohttp.ClientTimeout(total=None, sock_read=20)
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=64)) as session:
        client = Client(session, url)

        async def keep_asking() -> None:
            for number in numbers:
                if number >= QUESTIONS and killing_over.is_set():
                    return
                run_id, lines = await client.ask(number)
                runs[run_id] = lines
                if not killing_over.is_set():
                    await asyncio.sleep(random.uniform(0.0, 0.3))

        async def keep_killing() -> None:
            for group in victims:
                await asyncio.sleep(random.uniform(0.3, 0.8))
                for victim in group:
                    kill(stack, victim)
                await asyncio.sleep(0.5)
                await stack.ready()
            killing_over.set()

        await asyncio.gather(keep_killing(), *(keep_asking() for _ in range(AT_ONCE)))
        assert len(runs) >= QUESTIONS
        for run_id, lines in runs.items():
            assert lines.count(b'{"type":"DONE"}') == 1
            assert lines[-1] == b'{"type":"DONE"}'
            ends = [line for line in lines if b'"status":"end"' in line and b"references" not in line]
            assert len(ends) == 1, lines
            async with session.get(f"{url}/v1/runs/{run_id}/events?after=0") as response:
                never_cut = [data async for _, data in events(response)]
            assert never_cut == lines
        outcomes = collections.Counter([await outcome(session, url, run_id) for run_id in runs])
    print(f"\n{len(runs)} questions, {client.reconnects} reconnects, outcomes {dict(outcomes)}")
    assert outcomes["failed"] == 0
    assert set(outcomes) <= {"answered", "declined"}
    await check_journal(stack, set(runs))


async def outcome(session: aiohttp.ClientSession, url: str, run_id: str) -> str:
    async with session.get(f"{url}/v1/runs/{run_id}") as response:
        record = json.loads(await response.read())
    return str(record["outcome"])


async def check_journal(stack: Stack, runs: set[str]) -> None:
    """No key stands twice, and each run has one end."""
    client = await connect(stack.settings.bus, name="check")
    info = await client.jetstream().stream_info(RUNS, subjects_filter=">")
    subjects = info.state.subjects or {}
    assert max(subjects.values()) == 1
    assert {s.split(".")[2] for s in subjects if s.startswith("gw.run_finished.")} >= runs
    assert not [s for s in subjects if s.startswith("gw.poison.")]
    await client.close()
