"""An index that goes away, or breaks, while it is served: searches go on where they can, and it comes back by itself."""

import asyncio
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import aiohttp
import msgspec
import pytest

from bus.powers.searching import LARGEST_K, PROBLEM_S, SearchClient, SearchReply, SearchRequest
from bus.transport.connection import connect
from bus.transport.health import health_of
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from index.errors import IndexProblem
from index.model import Groups
from index.opensearch import client as cluster
from index.search.local_backend import LocalSnapshots
from index.search.searcher import Searcher
from index.snapshot import snapshot
from runtime.edge.timeouts import Timeouts
from runtime.processes import kept_index, search
from runtime.processes.kept_index import KeptIndex
from runtime.processes.search import Threads
from runtime.processes.served import HeldFor
from runtime.settings import IndexSettings, Settings
from tests.index.brought_in import gate_index
from tests.polling import until
from tests.runtime.served import edge_of, open_search

GATE = SearchRequest(query="When does the gate open?", language="en", k=3)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of two snapshots: the gate opens at six in the older one, at nine in the current one."""
    index = gate_index(tmp_path_factory.mktemp("built"), "six", "nine")
    assert len(snapshot.names(index)) == 2
    return index


@pytest.fixture
def index(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "index"))


@pytest.fixture
def kept(index: Path) -> Iterator[KeptIndex]:
    found = KeptIndex(LocalSnapshots(index), lambda name: Searcher.open(index, name))
    yield found
    found.close()


def hour(kept: KeptIndex) -> str:
    text = kept.searcher().search(GATE.query, language="en", k=1)[0].text
    return next(each for each in ("six", "nine") if each in text)


def files(index: Path, name: str) -> list[Path]:
    folder = index / "snapshots" / name
    return [path for path in folder.rglob("*") if path.is_file() and path.name not in ("readers", "manifest.json")]


def flipped(whole: bytes) -> bytes:
    """The same with the bytes of its second half flipped: opening reads only the first half."""
    middle = len(whole) // 2
    return whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle:])


def damage(path: Path) -> Callable[[], None]:
    """Flip bytes of a file in place, apart from its hard links; returns what mends it."""
    whole = path.read_bytes()
    path.unlink()
    path.write_bytes(flipped(whole))

    def mend() -> None:
        path.unlink()
        path.write_bytes(whole)

    return mend


def test_open_index_is_searched_without_its_folder(index: Path, kept: KeptIndex) -> None:
    assert kept.look()
    assert not kept.problem
    away = index.rename(index.with_name("away"))
    assert not kept.look()
    assert hour(kept) == "nine"
    assert "no index at" in kept.problem
    away.rename(index)
    assert not kept.look()
    assert not kept.problem


def test_late_index_folder_is_opened(index: Path, kept: KeptIndex) -> None:
    away = index.rename(index.with_name("away"))
    assert not kept.look()
    with pytest.raises(IndexProblem, match="no index at"):
        kept.searcher()
    away.rename(index)
    assert kept.look()
    assert hour(kept) == "nine"


@pytest.mark.parametrize("what", ["removed", "cut", "flipped"])
def test_older_complete_snapshot_is_served(index: Path, kept: KeptIndex, what: str) -> None:
    current = snapshot.current(index)
    passages = next(path for path in files(index, current) if path.suffix == ".bin")
    whole = passages.read_bytes()
    passages.unlink()
    if what != "removed":
        passages.write_bytes(whole[: len(whole) // 2] if what == "cut" else flipped(whole))
    assert kept.look()
    if what == "flipped":  # which is seen when the files are read through, right after they were opened
        assert kept.look()
    assert (kept.snapshot, hour(kept)) == (snapshot.names(index)[0], "six")
    assert not kept.look()
    assert f"snapshot {current} is damaged" in kept.problem
    passages.unlink(missing_ok=True)
    passages.write_bytes(whole)
    assert kept.look()
    assert (kept.snapshot, kept.problem, hour(kept)) == (current, "", "nine")


def test_snapshot_that_breaks_is_replaced_by_the_older(
    index: Path, kept: KeptIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_index, "SUSPECT_AGAIN_S", 0.0)
    monkeypatch.setattr(kept_index, "SHARE", 1e9)
    assert kept.look()
    assert not kept.look()
    current = kept.snapshot
    mend = damage(next(path for path in files(index, current) if path.suffix == ".bin"))
    kept.suspect()
    assert kept.look()
    assert hour(kept) == "six"
    mend()
    assert kept.look()
    assert (kept.snapshot, hour(kept)) == (current, "nine")


def test_repaired_snapshot_is_opened_again(index: Path, kept: KeptIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a search reads is mapped: a file put in its place is not what was opened."""
    monkeypatch.setattr(kept_index, "SUSPECT_AGAIN_S", 0.0)
    monkeypatch.setattr(kept_index, "SHARE", 1e9)
    mend = damage(next(path for path in files(index, snapshot.current(index)) if path.suffix == ".bin"))
    assert kept.look()
    mend()
    assert not kept.look()
    with pytest.raises((msgspec.MsgspecError, IndexProblem, UnicodeDecodeError)):
        hour(kept)
    kept.suspect()
    assert not kept.look()
    assert (kept.problem, hour(kept)) == ("", "nine")


def test_false_suspicion_reads_the_files_once(index: Path, kept: KeptIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.look()
    read: list[Path] = []
    verify = snapshot.verify_files
    monkeypatch.setattr(
        snapshot, "verify_files", lambda folder, manifest: read.append(folder) or verify(folder, manifest)
    )
    for _ in range(5):
        kept.suspect()
        assert not kept.look()
    assert (len(read), kept.problem) == (1, "")


def test_without_a_whole_snapshot_searches_report_it(index: Path, kept: KeptIndex, tmp_path: Path) -> None:
    for name in snapshot.names(index):
        for path in files(index, name):
            damage(path)
    assert not kept.look()
    with pytest.raises(IndexProblem, match=r"no snapshot in .* is whole; build the index again"):
        kept.searcher()
    shutil.rmtree(index)
    assert gate_index(tmp_path, "six") == index
    assert kept.look()
    assert hour(kept) == "six"


@pytest.mark.parametrize(("format_", "line"), [(4, "groundwire index build PATH --index"), (99, "update Groundwire")])
def test_index_of_another_version_names_the_remedy(index: Path, kept: KeptIndex, format_: int, line: str) -> None:
    for name in snapshot.names(index):
        path = index / "snapshots" / name / "manifest.json"
        path.write_bytes(msgspec.json.encode(msgspec.json.decode(path.read_bytes()) | {"format": format_}))
    for _ in range(2):
        assert not kept.look()
        with pytest.raises(IndexProblem, match=line):
            kept.searcher()


async def test_failing_search_ends_no_thread() -> None:
    calls: list[int] = []
    told: list[str] = []

    def broken() -> Searcher:
        calls.append(1)
        raise RuntimeError("java.lang.OutOfMemoryError")

    threads = Threads(broken, 2, on_broken=lambda: told.append("broken"))
    try:
        for _ in range(6):
            with pytest.raises(Unavailable, match=r"the index could not be searched \(RuntimeError\)"):
                async with asyncio.timeout(10):
                    await threads.find(GATE)
    finally:
        threads.close()
    assert (len(calls), len(told)) == (6, 6)


async def test_search_process_follows_a_disappearing_index(
    bus_settings: BusSettings, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "LOOK_S", 0.05)
    monkeypatch.setattr(kept_index, "SUSPECT_AGAIN_S", 0.0)
    settings = Settings(bus=bus_settings, index=IndexSettings(dir=str(index), threads=2))
    client = await connect(bus_settings.url, name="asks")
    away = index.with_name("away")
    await asyncio.to_thread(index.rename, away)

    async def find(request: SearchRequest = GATE) -> SearchReply:
        reply, _ = await SearchClient(client, time.time() + 30)(request)
        return reply

    async def ready() -> bool:
        health = await health_of(client, "search")
        return health is not None and health.ready

    async with open_search(settings):
        with pytest.raises(Unavailable, match="no index at"):
            await find()
        assert not await ready()
        await asyncio.to_thread(away.rename, index)
        await until(ready, what="the index")
        assert "nine" in (await find()).passages[0].text
        await asyncio.to_thread(index.rename, away)
        for _ in range(5):
            assert "nine" in (await find()).passages[0].text
        await asyncio.to_thread(away.rename, index)
        with pytest.raises(Unavailable, match=r"this search cannot be read: .* <= 1000"):
            await find(msgspec.structs.replace(GATE, bm25_k=2**31))
        assert (await find(msgspec.structs.replace(GATE, bm25_k=LARGEST_K, vector_k=LARGEST_K))).passages
    await client.close()


async def test_silent_cluster_is_reported(
    bus_settings: BusSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Timeouts().search_s > cluster.TIMEOUT_S + PROBLEM_S
    monkeypatch.setattr(cluster, "TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        settings = Settings(bus=bus_settings, index=IndexSettings(url=url))
        client = await connect(bus_settings.url, name="asks")
        async with open_search(settings), edge_of(bus_settings, tmp_path) as edge, aiohttp.ClientSession(edge) as http:
            with pytest.raises(Unavailable, match="did not answer"):  # once it is there
                await SearchClient(client, time.time() + 60)(GATE)
            async with http.post("/v1/search", json={"query": GATE.query}) as response:
                problem = await response.json()
        await client.close()
    assert response.status == 503
    assert f"{url}/groundwire did not answer in 0.3 s" in problem["detail"]


def test_visible_set_is_checked_once_a_change(index: Path, kept: KeptIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept.look()
    looked: list[Groups] = []
    entries = Searcher.entries
    monkeypatch.setattr(Searcher, "entries", lambda self, groups=None: looked.append(groups) or entries(self, groups))
    held_for = HeldFor(kept.searcher)
    assert held_for(None) == held_for(None)
    assert held_for(("staff",)).documents == 1
    assert looked == [None, ("staff",)]
    kept.searcher().withheld = "who may see what is not known"
    with pytest.raises(Unavailable, match="not known"):
        held_for(("staff",))
    assert held_for(None).documents == 1
