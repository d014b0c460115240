"""Any one of three hosts may be lost, and any one link be cut, while questions are asked: none is lost, and none ends twice.

The two sides of a partition: the one with one host refuses, the other serves. Long: run with `-m slow`. With `-s` it prints
how long answers took around each fault.
"""

import asyncio
import contextlib
import itertools
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from bus.journal.journal import Journal
from bus.wire.errors import Unavailable
from bus.wire.messages import RunFinished, message_type
from runtime.keys import KeyFile
from tests.chaos.client import DONE, Asked, Client
from tests.chaos.house import ASKED, build
from tests.cluster.network import HOSTS, Network, NotPermitted, network
from tests.cluster.stack import EDGES, PATIENCE_S, Cluster
from tests.polling import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

AT_ONCE = 4
#: A question may be refused, or wait, for so long after a fault, in seconds: NATS elects a leader in 4 to 9.
BACK_S = 20.0
#: Below which a question that is asked later is answered: far above what it takes on a machine with nothing else to do.
SETTLED_S = 10.0


class Failover(Client):
    """Comes back to the other edge where one does not answer."""

    def __init__(self, http: aiohttp.ClientSession, urls: list[str]) -> None:
        super().__init__(http, urls[0])
        self._urls = itertools.cycle([*urls[1:], urls[0]])

    def _request(
        self, asked: Asked, body: dict[str, object]
    ) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        @contextlib.asynccontextmanager
        async def request() -> AsyncIterator[aiohttp.ClientResponse]:
            try:
                async with super(Failover, self)._request(asked, body) as response:
                    if response.status == 503:
                        self.url = next(self._urls)
                    yield response
            except (aiohttp.ClientError, ConnectionError, TimeoutError) as away:
                self.url = next(self._urls)
                raise aiohttp.ClientError("another edge is asked") from away

        return request()


@dataclass
class Load:
    """`asked`: every question."""

    urls: list[str]
    headers: dict[str, str]
    asked: list[Asked] = field(default_factory=list)

    async def run(self, over: asyncio.Event) -> None:
        numbers = itertools.count()
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=1.0, sock_read=5.0)
        async with aiohttp.ClientSession(timeout=timeout, headers=self.headers) as http, asyncio.TaskGroup() as group:
            for client in range(AT_ONCE):
                urls = self.urls[client % 2 :] + self.urls[: client % 2]
                group.create_task(self._keep_asking(Failover(http, urls), numbers, over))

    async def _keep_asking(self, client: Client, numbers: Iterator[int], over: asyncio.Event) -> None:
        while not over.is_set():
            number = next(numbers)
            asked = Asked(f"{ASKED[number % len(ASKED)]} ({number})", time.monotonic())
            self.asked.append(asked)
            await client.ask(asked, {"idempotency_key": f"cluster-{number}"})
            asked.ended = time.monotonic()
            await asyncio.sleep(0.1)

    def answered_since(self, began: float) -> int:
        return sum(bool(each.ended) for each in self.asked if each.began >= began)

    def shown(self, what: str, began: float, ended: float) -> str:
        took = sorted(each.ended - each.began for each in self.asked if began <= each.began < ended and each.ended)
        if not took:
            return f"{what}: nothing asked"
        return f"{what}: {len(took)} answered, median {statistics.median(took):.2f} s, longest {took[-1]:.2f} s"


@pytest.fixture
def hosts() -> Iterator[Network]:
    try:
        with network() as made:
            yield made
    except NotPermitted as why:
        pytest.skip(f"three hosts need network namespaces: {why}")


@pytest.fixture
async def cluster(hosts: Network, tmp_path: Path) -> AsyncIterator[tuple[Cluster, Load]]:
    """All of it, ready, and under load until the test is over."""
    made = Cluster(hosts, tmp_path)
    token = KeyFile(tmp_path / "keys.json").add("load", ("ask", "search", "read"), now=time.time(), groups=("*",))
    made.lay_out((tmp_path / "keys.json").read_bytes())
    for host in HOSTS:
        made.start_nats(host)
    made.client = await made.connect()
    index = await asyncio.to_thread(build, tmp_path / "built")
    await made.push(index)
    for host in HOSTS:
        made.start_roles(host)
    load = Load([made.edge(host) for host in EDGES], {"Authorization": f"Bearer {token}"})
    await ready(load, EDGES, made)
    over = asyncio.Event()
    asking = asyncio.create_task(load.run(over))
    try:
        yield made, load
    finally:
        over.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asking, BACK_S)
        await made.client.close()


async def status(load: Load, url: str, question: str = "") -> int:
    """The status of readiness there, or of an attempt to ask; 0 for no answer."""
    timeout = aiohttp.ClientTimeout(total=10.0)
    with contextlib.suppress(aiohttp.ClientError, ConnectionError, TimeoutError):
        async with aiohttp.ClientSession(timeout=timeout, headers=load.headers) as http:
            if not question:
                async with http.get(f"{url}/readyz") as response:
                    return response.status
            async with http.post(f"{url}/v1/runs", json={"question": question}) as response:
                return response.status
    return 0


async def ready(load: Load, edges: list[str], cluster: Cluster) -> None:
    """Wait until these edges would answer."""
    for host in edges:

        async def answers(url: str = cluster.edge(host)) -> bool:
            assert not (dead := cluster.network.dead()), dead
            return await status(load, url) == 200

        await until(answers, within_s=PATIENCE_S, what=f"the edge on {host}")


async def under_load(load: Load, what: str, began: float, *, settled: bool = True) -> None:
    """Until questions that began well after this were answered; returns the times of answers.

    `settled`: those were answered soon.
    """
    await until(
        lambda: load.answered_since(began + BACK_S) >= 3 * AT_ONCE, within_s=PATIENCE_S, what=f"answers after {what}"
    )
    for start, end in ((-60.0, 0.0), (0.0, 5.0), (5.0, 10.0), (10.0, BACK_S), (BACK_S, 1e9)):
        print(load.shown(f"{what}, asked {start:g} to {end:g} s after", began + start, began + end))
    after = [each.ended - each.began for each in load.asked if each.began >= began + BACK_S and each.ended]
    assert not settled or max(after) < SETTLED_S, after


async def test_lost_host_loses_no_question(cluster: tuple[Cluster, Load]) -> None:
    made, load = cluster
    await until(lambda: load.answered_since(0.0) >= 5 * AT_ONCE, within_s=PATIENCE_S, what="the first answers")
    for host in HOSTS:
        print(f"leaders: {await made.leaders()}")
        began = time.monotonic()
        made.network.unplug(host)
        made.network.kill(host)
        await under_load(load, f"{host} lost", began)
        made.network.plug(host)
        made.start_nats(host)
        made.start_roles(host)
        await ready(load, EDGES, made)
    await check(made, load)


async def test_cut_link_loses_no_question(cluster: tuple[Cluster, Load]) -> None:
    made, load = cluster
    await until(lambda: load.answered_since(0.0) >= 5 * AT_ONCE, within_s=PATIENCE_S, what="the first answers")
    for one, other in itertools.combinations(HOSTS, 2):
        print(f"leaders: {await made.leaders()}")
        began = time.monotonic()
        with made.network.cut(one, other):
            await under_load(load, f"{one}-{other} cut", began, settled=False)  # its ends may elect in turns for longer
        await ready(load, EDGES, made)
    await check(made, load)


async def test_larger_side_of_a_partition_serves(cluster: tuple[Cluster, Load]) -> None:
    made, load = cluster
    await until(lambda: load.answered_since(0.0) >= 2 * AT_ONCE, within_s=PATIENCE_S, what="the first answers")
    began = time.monotonic()
    with made.network.cut("a", "b"), made.network.cut("a", "c"):
        await until(lambda: refuses(load, made.edge("a")), within_s=PATIENCE_S, what="the refusal of the smaller side")
        assert await status(load, made.edge("a"), ASKED[0]) == 503
        await under_load(load, "a alone", began)
        assert await status(load, made.edge("c"), ASKED[0]) == 200
    await ready(load, EDGES, made)
    await check(made, load)


async def refuses(load: Load, url: str) -> bool:
    return await status(load, url) == 503 and await status(load, url, ASKED[0]) == 503


async def told(journal: Journal, asked: Asked) -> tuple[bytes, list[bytes]] | None:
    """The only end of a run, and its events; None where the answering server was cut off until a moment ago."""
    try:
        ends = [one for one in await journal.run(asked.run_id) if one.key.type == message_type(RunFinished)]
        frames = await journal.frames(asked.run_id)
    except Unavailable:
        return None
    assert len(ends) <= 1, asked
    return (ends[0].data, [line for frame in frames for line in frame.data.split(b"\n")]) if ends else None


async def check(cluster: Cluster, load: Load) -> None:
    """Every question that was accepted has one end, and its client saw it once."""
    await until(lambda: all(each.ended for each in load.asked[: -2 * AT_ONCE]), within_s=PATIENCE_S)
    asked = [each for each in load.asked if each.ended]
    assert [each.gap for each in asked if each.gap] == []
    assert all(each.lines.count(DONE) == 1 and each.lines[-1] == DONE for each in asked)
    journal = Journal(cluster.client)
    failed = 0
    for each in asked:

        async def read(one: Asked = each) -> tuple[bytes, list[bytes]] | None:
            return await told(journal, one)

        found = await until(read, within_s=PATIENCE_S, what=f"the end of {each}")
        assert found is not None
        assert each.lines == found[1], each
        failed += b'"failed"' in found[0]
    refused = sum(bool(each.refused) for each in asked)
    print(f"{len(asked)} questions, each with one end; {failed} ended as failed, {refused} were refused at first")
