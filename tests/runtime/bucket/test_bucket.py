"""Snapshots through a bucket: whole, once, after every interruption, and no more of them than are kept."""

import asyncio
import shutil
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import psutil
import pytest
from click.testing import CliRunner

import bus.journal.bucket
from bus.journal.bucket import FILES, PART, PARTS, SNAPSHOTS, Absent, Bucket, Damaged, sha256
from bus.transport.connection import Client
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from index.errors import IndexProblem
from index.snapshot import snapshot
from index.snapshot.arriving import Arriving
from runtime.bucket.push import prune
from runtime.cli import groundwire
from tests.chaos.house import disk
from tests.runtime.bucket.conftest import Shelf, noise

LONG = PART * 5 + 1234
FIRST = {
    "manifest": b"",
    "passages/1.bin": noise(1, 5000),
    "vectors/graph.bin": noise(2, LONG),
    "vectors/ids": noise(3, 999),
}


class Interrupted(Bucket):
    """Breaks off after so many objects written or read."""

    left = 3

    async def put(self, name: str, data: bytes, digest: str) -> None:
        self._count()
        await super().put(name, data, digest)

    async def read_digest(self, digest: str) -> bytes:
        data = await super().read_digest(digest)
        if len(data) == PART:
            self._count()
        return data

    def _count(self) -> None:
        if self.left == 0:
            raise Unavailable("broken off")
        self.left -= 1


async def test_push_then_pull_copies_only_changed_files(shelf: Shelf) -> None:
    name = shelf.snap(FIRST)
    pushed = await shelf.push()
    assert (pushed.snapshot, pushed.sent_files, pushed.sent_bytes) == (name, 3, pushed.size_bytes)
    assert (await shelf.pull()).fetched_bytes == pushed.size_bytes
    assert shelf.arrived
    assert (await shelf.push()).sent_bytes == 0
    assert (await shelf.pull()).size_bytes == 0

    longer = FIRST["vectors/graph.bin"][: 4 * PART] + noise(4, LONG)
    shelf.snap(FIRST | {"vectors/graph.bin": longer})
    held = snapshot.hold(shelf.cache)
    assert (await shelf.push()).sent_bytes == LONG
    await shelf.pull()
    assert shelf.arrived
    ids = "vectors/ids"
    assert (shelf.cache / "snapshots" / snapshot.current(shelf.cache) / ids).samefile(held.directory / ids)
    assert len(snapshot.names(shelf.cache)) == 2  # one is being read
    held.close()


async def test_any_object_store_client_reads_a_bucket(shelf: Shelf, client: Client) -> None:
    name = await shelf.send(FIRST)
    store = await client.jetstream().object_store(shelf.bucket.name)
    manifest = (await store.get("current")).data
    assert manifest == (shelf.index / "snapshots" / name / "manifest.json").read_bytes()
    small = FIRST["passages/1.bin"]
    assert (await store.get(FILES + sha256(small))).data == small
    listed = (await store.get(PARTS + sha256(FIRST["vectors/graph.bin"]))).data
    assert [len((await store.get(FILES + part)).data or b"") for part in listed.decode().split()] == [PART] * 5 + [1234]


async def test_interrupted_push_continues(shelf: Shelf, client: Client) -> None:
    shelf.snap(FIRST)
    with pytest.raises(Unavailable, match="broken off"):
        await replace(shelf, bucket=Interrupted(client, shelf.bucket.name)).push()
    with pytest.raises(Absent, match="holds no index; send one with"):
        await shelf.pull()
    pushed = await shelf.push()
    assert 0 < pushed.sent_bytes < pushed.size_bytes
    await shelf.pull()
    assert shelf.arrived


@pytest.fixture(params=[0.0, 0.2], ids=["quick", "slow"])
def disk_takes_its_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came is written at once, or after the transfer has broken off."""
    write = Arriving.write

    def slowly(self: Arriving, digest: str, offset: int, data: bytes) -> None:
        time.sleep(request.param)
        write(self, digest, offset, data)

    monkeypatch.setattr(Arriving, "write", slowly)


@pytest.mark.usefixtures("disk_takes_its_time")
async def test_interrupted_pull_continues(shelf: Shelf, client: Client) -> None:
    await shelf.send(FIRST)
    with pytest.raises(Unavailable, match="broken off"):
        await replace(shelf, bucket=Interrupted(client, shelf.bucket.name)).pull()
    with pytest.raises(IndexProblem, match="holds no finished index"):
        snapshot.current(shelf.cache)
    pulled = await shelf.pull()
    assert pulled.fetched_bytes <= pulled.size_bytes - 3 * PART
    assert shelf.arrived
    assert not (shelf.cache / "arriving").exists()


@pytest.fixture
def no_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    """One server, which lags behind no other."""
    monkeypatch.setattr(bus.journal.bucket, "LAG_S", 0.0)


async def test_resend_repairs_a_damaged_object(shelf: Shelf, client: Client) -> None:
    await shelf.send(FIRST)
    part = sha256(FIRST["vectors/graph.bin"][:PART])
    await client.jetstream().publish(f"$O.{shelf.bucket.name}.C.{part}", noise(9, PART))
    with pytest.raises(
        Damaged, match=f"sha256/{part} in the bucket {shelf.bucket.name} is damaged; send it again with"
    ):
        await shelf.pull()
    await shelf.push(resend=True)
    await shelf.pull()
    assert shelf.arrived


async def test_foreign_object_is_reported_as_damaged(shelf: Shelf, client: Client) -> None:
    await shelf.send(FIRST)
    listed = b"../../escaped\n"
    await shelf.bucket.put(PARTS + sha256(FIRST["vectors/graph.bin"]), listed, sha256(listed))
    with pytest.raises(Damaged, match=f"{PARTS}{sha256(FIRST['vectors/graph.bin'])} in the bucket"):
        await shelf.pull()
    await client.jetstream().publish(shelf.bucket._record("current"), b"\xff{", headers={"Nats-Rollup": "sub"})
    with pytest.raises(Damaged, match=f"current in the bucket {shelf.bucket.name} is damaged"):
        await shelf.pull()


@pytest.mark.usefixtures("no_lag")
@pytest.mark.parametrize(
    ("forgotten", "removed", "sent"),
    [(True, "part", PART), (True, "", 0), (False, "part", PART), (False, "list of the parts", 0)],
    ids=["missing object", "killed push", "pruned part", "pruned list"],
)
async def test_next_push_sends_what_is_missing(shelf: Shelf, forgotten: bool, removed: str, sent: int) -> None:
    await shelf.send(FIRST)
    graph = FIRST["vectors/graph.bin"]
    part = sha256(graph[:PART])
    if forgotten:
        await shelf.bucket.forget([FILES + part])
    if removed:
        await shelf.bucket.remove(
            [part if removed == "part" else (await shelf.bucket.stored(PARTS + sha256(graph))).digest]
        )
    if forgotten and removed:
        with pytest.raises(Absent, match=f"the bucket {shelf.bucket.name} has no sha256/{part}; push the index again"):
            await shelf.pull()
    assert (await shelf.push()).sent_bytes == sent
    await shelf.pull()
    assert shelf.arrived


async def test_damaged_local_file_is_fetched_again(shelf: Shelf) -> None:
    name = await shelf.send(FIRST)
    await shelf.pull()
    graph = shelf.cache / "snapshots" / name / "vectors" / "graph.bin"
    graph.unlink()
    graph.write_bytes(noise(5, LONG))
    assert (await shelf.pull()).size_bytes == 0
    assert (await shelf.pull(distrust=True)).fetched_bytes == LONG
    assert shelf.arrived


async def test_a_changed_file_is_not_pushed(shelf: Shelf) -> None:
    name = shelf.snap(FIRST)
    (shelf.index / "snapshots" / name / "vectors" / "ids").write_bytes(noise(6, 999))
    with pytest.raises(IndexProblem, match="ids has changed; see 'groundwire index verify'"):
        await shelf.push()
    assert await shelf.bucket.current() is None


async def test_bucket_keeps_only_the_newest_snapshots(shelf: Shelf) -> None:
    names = []
    for round_ in range(4):
        names.append(shelf.snap(FIRST | {"vectors/graph.bin": noise(20 + round_, LONG)}))
        await shelf.push(keep=2)
    held = await shelf.bucket.names()
    assert {name for name in held if name.startswith(SNAPSHOTS)} == {SNAPSHOTS + name for name in names}  # a moment old
    assert await prune(shelf.bucket, 2, grace_s=0.0) == 2
    held = await shelf.bucket.names()
    assert {name for name in held if name.startswith(SNAPSHOTS)} == {SNAPSHOTS + name for name in names[2:]}
    # Two graphs of six parts, two small files, two lists of parts, two manifests.
    assert len(await shelf.bucket.digests()) == 2 * 6 + 2 + 2 + 2
    assert {name.removeprefix(FILES) for name in held if name.startswith(FILES)} < await shelf.bucket.digests()


@pytest.mark.usefixtures("no_lag")
async def test_pull_of_a_pruned_snapshot_continues_with_the_current(shelf: Shelf, client: Client) -> None:
    await shelf.send({"vectors/graph.bin": noise(8, 4 * LONG)})
    reading, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Bucket):
        async def read_digest(self, digest: str) -> bytes:
            data = await super().read_digest(digest)
            if len(data) == PART:
                reading.set()
                await go_on.wait()
            return data

    pulling = asyncio.create_task(replace(shelf, bucket=Slow(client, shelf.bucket.name)).pull())
    await reading.wait()
    name = shelf.snap({"passages/1.bin": noise(7, 10)})
    await shelf.push(keep=1)
    await prune(shelf.bucket, 1, grace_s=0.0)
    go_on.set()
    assert (await pulling).snapshot == name
    assert shelf.arrived


async def test_late_push_does_not_replace_a_newer_one(shelf: Shelf) -> None:
    await shelf.send(FIRST)
    found = await shelf.bucket.current()
    assert found is not None
    assert await shelf.bucket.point_at("s000002-00000000", found.revision)
    assert not await shelf.bucket.point_at("s000003-00000000", found.revision)
    now = await shelf.bucket.current()
    assert now is not None
    assert now.snapshot == "s000002-00000000"


async def test_full_server_is_one_line_and_keeps_data(shelf: Shelf, client: Client) -> None:
    name = await shelf.send({"passages/1.bin": noise(1, 100)})
    js = client.jetstream()
    config = (await js.stream_info(f"OBJ_{shelf.bucket.name}")).config
    await js.update_stream(config.evolve(max_bytes=3 * PART))
    shelf.snap({"vectors/graph.bin": noise(2, 20 * PART)})
    with pytest.raises(
        Unavailable, match=rf"bucket {shelf.bucket.name} has no room \(.*\); free disk space where"
    ) as told:
        await shelf.push()
    assert told.traceback  # it would keep an open file alive
    assert [each.path for each in psutil.Process().open_files() if each.path.startswith(str(shelf.index))] == []
    assert (await shelf.pull()).snapshot == name


async def test_replacing_an_index_removes_the_old_one(shelf: Shelf, tmp_path: Path) -> None:
    for round_ in range(3):
        await shelf.send({"passages/1.bin": noise(round_, 100)})
    await shelf.pull()
    await asyncio.to_thread(shelf.index.rename, tmp_path / "before")
    name = shelf.snap({"passages/1.bin": noise(9, 100)})
    assert snapshot.sequence(name) == 1
    await shelf.push()
    await shelf.pull()
    assert snapshot.names(shelf.cache) == [name]


async def test_full_disk_is_one_line(shelf: Shelf, tmp_path: Path) -> None:
    small = tmp_path / "small"
    with disk(small) as mounted:
        if not mounted:
            pytest.skip("no file system can be mounted here")
        name = await shelf.send({"vectors/graph.bin": (graph := noise(1, 20 * PART))})
        raw = await shelf.bucket.read(SNAPSHOTS + name)
        shelf.cache = small / "cache"
        shelf.cache.mkdir()
        arriving = Arriving(shelf.cache, name, raw)
        arriving.need_room()
        (small / "filler").write_bytes(bytes(shutil.disk_usage(small).free - 10 * PART))
        no_room = rf"no room in {shelf.cache} for {name}: 20 MB have to come, \d+ MB are free"
        with pytest.raises(IndexProblem, match=no_room):
            arriving.write(sha256(graph), 0, graph)
        (shelf.cache / "arriving" / sha256(graph)).unlink()
        with pytest.raises(IndexProblem, match=no_room):
            await shelf.pull()
        (small / "filler").unlink()
        await shelf.pull()
        assert shelf.arrived


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 99}, "is of format 99, this version reads"),
        ({"files": {"../../outside": (1, "0" * 64)}}, "a manifest that is not its own"),
        ({"files": {"/outside": (1, "0" * 64)}}, "a manifest that is not its own"),
        ({"files": {"inside": (PART + 1, "../../outside")}}, "a manifest that is not its own"),
        ({"files": {"inside": (-1, "0" * 64)}}, "a manifest that is not its own"),
        ({"snapshot": "s000009-00000000"}, "a manifest that is not its own"),
        ({"files": 3}, "a manifest that cannot be read"),
    ],
)
async def test_bad_manifest_is_refused_in_one_line(shelf: Shelf, change: dict[str, object], says: str) -> None:
    name = shelf.snap({"passages/1.bin": b"1"})
    raw = (shelf.index / "snapshots" / name / "manifest.json").read_bytes()
    changed = msgspec.json.encode(msgspec.json.decode(raw) | change)
    await shelf.bucket.declare(0)
    await shelf.bucket.put(SNAPSHOTS + name, changed, sha256(changed))
    assert await shelf.bucket.point_at(name, 0)
    with pytest.raises(IndexProblem, match=says):
        await shelf.pull()


async def test_the_commands_say_what_they_did(shelf: Shelf, bus_settings: BusSettings, tmp_path: Path) -> None:
    name = shelf.snap(FIRST)
    (shelf.index / "skipped.json").write_bytes(b'{"count": 1}')
    environ = {"GROUNDWIRE_BUS_URL": bus_settings.url, "GROUNDWIRE_STATE": str(tmp_path / "state")}

    async def run(command: str, *arguments: str | Path) -> list[str]:
        given = ["index", command, "--bucket", shelf.bucket.name, *map(str, arguments)]
        done = await asyncio.to_thread(CliRunner().invoke, groundwire, given, env=environ)
        return [str(done.exit_code), *done.output.strip().splitlines()]

    assert await run("pull", "--index", shelf.cache) == [
        "1",
        f"Error: the bucket {shelf.bucket.name} holds no index; send one with 'groundwire index push --index DIR'",
    ]
    assert await run("push", "--index", shelf.index) == [
        "0",
        f"{name} is in the bucket {shelf.bucket.name}: 3 of 4 files sent, 4.9 of 4.9 MB; 0 older snapshots removed",
    ]
    assert await run("pull", "--index", shelf.cache) == ["0", f"{name} is in {shelf.cache}: 4.9 of 4.9 MB fetched"]
    assert await run("pull", "--index", shelf.cache) == ["0", f"{name} is in {shelf.cache} already"]
    assert (shelf.cache / "skipped.json").read_bytes() == b'{"count": 1}'
    code, *said = await run("push", "--index", tmp_path / "none")
    assert (code, len(said)) == ("1", 1)
    assert "no index at" in said[0]
