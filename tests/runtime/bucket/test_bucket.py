"""Snapshots through a bucket: whole, once, after every interruption, and no more of them than are kept."""

import asyncio
import shutil
import time
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
from runtime.bucket.pull import pull
from runtime.bucket.push import prune, push
from runtime.cli import groundwire
from tests.chaos.house import disk
from tests.runtime.bucket.conftest import Snap, noise, same

LONG = PART * 5 + 1234
FIRST = {
    "manifest": b"",
    "passages/1.bin": noise(1, 5000),
    "vectors/graph.bin": noise(2, LONG),
    "vectors/ids": noise(3, 999),
}


def quiet(task: str, done: int, total: int) -> None:
    """Prints no progress."""


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


async def test_push_then_pull_copies_only_changed_files(
    bucket: Bucket, index: Path, snap: Snap, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    name = snap(FIRST)
    pushed = await push(bucket, index, quiet, keep=3)
    assert (pushed.snapshot, pushed.sent_files, pushed.sent_bytes) == (name, 3, pushed.size_bytes)
    assert (await pull(bucket, cache, quiet)).fetched_bytes == pushed.size_bytes
    assert same(index, cache)
    assert (await push(bucket, index, quiet, keep=3)).sent_bytes == 0
    assert (await pull(bucket, cache, quiet)).size_bytes == 0

    longer = FIRST["vectors/graph.bin"][: 4 * PART] + noise(4, LONG)
    snap(FIRST | {"vectors/graph.bin": longer})
    held = snapshot.hold(cache)
    assert (await push(bucket, index, quiet, keep=3)).sent_bytes == LONG
    await pull(bucket, cache, quiet)
    assert same(index, cache)
    ids = "vectors/ids"
    assert (cache / "snapshots" / snapshot.current(cache) / ids).samefile(held.directory / ids)
    assert len(snapshot.names(cache)) == 2  # one is being read
    held.close()


async def test_any_object_store_client_reads_a_bucket(bucket: Bucket, client: Client, index: Path, snap: Snap) -> None:
    name = snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    store = await client.jetstream().object_store(bucket.name)
    manifest = (await store.get("current")).data
    assert manifest == (index / "snapshots" / name / "manifest.json").read_bytes()
    small = FIRST["passages/1.bin"]
    assert (await store.get(FILES + sha256(small))).data == small
    listed = (await store.get(PARTS + sha256(FIRST["vectors/graph.bin"]))).data
    assert [len((await store.get(FILES + part)).data or b"") for part in listed.decode().split()] == [PART] * 5 + [1234]


async def test_interrupted_push_continues(
    bucket: Bucket, client: Client, index: Path, snap: Snap, tmp_path: Path
) -> None:
    snap(FIRST)
    with pytest.raises(Unavailable, match="broken off"):
        await push(Interrupted(client, bucket.name), index, quiet, keep=3)
    with pytest.raises(Absent, match="holds no index; send one with"):
        await pull(bucket, tmp_path / "cache", quiet)
    pushed = await push(bucket, index, quiet, keep=3)
    assert 0 < pushed.sent_bytes < pushed.size_bytes
    await pull(bucket, tmp_path / "cache", quiet)
    assert same(index, tmp_path / "cache")


@pytest.fixture(params=[0.0, 0.2], ids=["quick", "slow"])
def disk_takes_its_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came is written at once, or after the transfer has broken off."""
    write = Arriving.write

    def slowly(self: Arriving, digest: str, offset: int, data: bytes) -> None:
        time.sleep(request.param)
        write(self, digest, offset, data)

    monkeypatch.setattr(Arriving, "write", slowly)


@pytest.mark.usefixtures("disk_takes_its_time")
async def test_interrupted_pull_continues(
    bucket: Bucket, client: Client, index: Path, snap: Snap, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    with pytest.raises(Unavailable, match="broken off"):
        await pull(Interrupted(client, bucket.name), cache, quiet)
    with pytest.raises(IndexProblem, match="holds no finished index"):
        snapshot.current(cache)
    pulled = await pull(bucket, cache, quiet)
    assert pulled.fetched_bytes <= pulled.size_bytes - 3 * PART
    assert same(index, cache)
    assert not (cache / "arriving").exists()


@pytest.fixture
def no_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    """One server, which lags behind no other."""
    monkeypatch.setattr(bus.journal.bucket, "LAG_S", 0.0)


async def test_resend_repairs_a_damaged_object(
    bucket: Bucket, client: Client, index: Path, snap: Snap, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    part = sha256(FIRST["vectors/graph.bin"][:PART])
    await client.jetstream().publish(f"$O.{bucket.name}.C.{part}", noise(9, PART))
    with pytest.raises(Damaged, match=f"sha256/{part} in the bucket {bucket.name} is damaged; send it again with"):
        await pull(bucket, cache, quiet)
    await push(bucket, index, quiet, keep=3, resend=True)
    await pull(bucket, cache, quiet)
    assert same(index, cache)


async def test_foreign_object_is_reported_as_damaged(
    bucket: Bucket, client: Client, index: Path, snap: Snap, tmp_path: Path
) -> None:
    snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    listed = b"../../escaped\n"
    await bucket.put(PARTS + sha256(FIRST["vectors/graph.bin"]), listed, sha256(listed))
    with pytest.raises(Damaged, match=f"{PARTS}{sha256(FIRST['vectors/graph.bin'])} in the bucket"):
        await pull(bucket, tmp_path / "cache", quiet)
    await client.jetstream().publish(bucket._record("current"), b"\xff{", headers={"Nats-Rollup": "sub"})
    with pytest.raises(Damaged, match=f"current in the bucket {bucket.name} is damaged"):
        await pull(bucket, tmp_path / "cache", quiet)


@pytest.mark.usefixtures("no_lag")
async def test_next_push_sends_a_missing_object(bucket: Bucket, index: Path, snap: Snap, tmp_path: Path) -> None:
    snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    part = sha256(FIRST["vectors/graph.bin"][:PART])
    await bucket.forget([FILES + part])
    await bucket.remove([part])
    with pytest.raises(Absent, match=f"the bucket {bucket.name} has no sha256/{part}; push the index again"):
        await pull(bucket, tmp_path / "cache", quiet)
    assert (await push(bucket, index, quiet, keep=3)).sent_bytes == PART
    await pull(bucket, tmp_path / "cache", quiet)
    assert same(index, tmp_path / "cache")


async def test_bytes_of_a_killed_push_are_reused(bucket: Bucket, index: Path, snap: Snap, tmp_path: Path) -> None:
    snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    await bucket.forget([FILES + sha256(FIRST["vectors/graph.bin"][:PART])])
    assert (await push(bucket, index, quiet, keep=3)).sent_bytes == 0
    await pull(bucket, tmp_path / "cache", quiet)
    assert same(index, tmp_path / "cache")


@pytest.mark.usefixtures("no_lag")
@pytest.mark.parametrize("of", ["a part", "the list of the parts"])
async def test_pruned_bytes_are_sent_again(bucket: Bucket, index: Path, snap: Snap, tmp_path: Path, of: str) -> None:
    snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    graph = FIRST["vectors/graph.bin"]
    gone = sha256(graph[:PART]) if of == "a part" else (await bucket.stored(PARTS + sha256(graph))).digest
    await bucket.remove([gone])
    assert (await push(bucket, index, quiet, keep=3)).sent_bytes == (PART if of == "a part" else 0)
    await pull(bucket, tmp_path / "cache", quiet)
    assert same(index, tmp_path / "cache")


async def test_damaged_local_file_is_fetched_again(bucket: Bucket, index: Path, snap: Snap, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    name = snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    await pull(bucket, cache, quiet)
    graph = cache / "snapshots" / name / "vectors" / "graph.bin"
    graph.unlink()
    graph.write_bytes(noise(5, LONG))
    assert (await pull(bucket, cache, quiet)).size_bytes == 0
    assert (await pull(bucket, cache, quiet, distrust=True)).fetched_bytes == LONG
    assert same(index, cache)


async def test_a_changed_file_is_not_pushed(bucket: Bucket, index: Path, snap: Snap) -> None:
    name = snap(FIRST)
    (index / "snapshots" / name / "vectors" / "ids").write_bytes(noise(6, 999))
    with pytest.raises(IndexProblem, match="ids has changed; see 'groundwire index verify'"):
        await push(bucket, index, quiet, keep=3)
    assert await bucket.current() is None


async def test_bucket_keeps_only_the_newest_snapshots(bucket: Bucket, index: Path, snap: Snap) -> None:
    names = []
    for round_ in range(4):
        names.append(snap(FIRST | {"vectors/graph.bin": noise(20 + round_, LONG)}))
        await push(bucket, index, quiet, keep=2)
    held = await bucket.names()
    assert {name for name in held if name.startswith(SNAPSHOTS)} == {SNAPSHOTS + name for name in names}  # a moment old
    assert await prune(bucket, 2, grace_s=0.0) == 2
    held = await bucket.names()
    assert {name for name in held if name.startswith(SNAPSHOTS)} == {SNAPSHOTS + name for name in names[2:]}
    # Two graphs of six parts, two small files, two lists of parts, two manifests.
    assert len(await bucket.digests()) == 2 * 6 + 2 + 2 + 2
    assert {name.removeprefix(FILES) for name in held if name.startswith(FILES)} < await bucket.digests()


@pytest.mark.usefixtures("no_lag")
async def test_pull_of_a_pruned_snapshot_continues_with_the_current(
    bucket: Bucket, client: Client, index: Path, snap: Snap, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    snap({"vectors/graph.bin": noise(8, 4 * LONG)})
    await push(bucket, index, quiet, keep=3)
    reading, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Bucket):
        async def read_digest(self, digest: str) -> bytes:
            data = await super().read_digest(digest)
            if len(data) == PART:
                reading.set()
                await go_on.wait()
            return data

    pulling = asyncio.create_task(pull(Slow(client, bucket.name), cache, quiet))
    await reading.wait()
    name = snap({"passages/1.bin": noise(7, 10)})
    await push(bucket, index, quiet, keep=1)
    await prune(bucket, 1, grace_s=0.0)
    go_on.set()
    assert (await pulling).snapshot == name
    assert same(index, cache)


async def test_late_push_does_not_replace_a_newer_one(bucket: Bucket, index: Path, snap: Snap) -> None:
    snap(FIRST)
    await push(bucket, index, quiet, keep=3)
    found = await bucket.current()
    assert found is not None
    assert await bucket.point_at("s000002-00000000", found.revision)
    assert not await bucket.point_at("s000003-00000000", found.revision)
    now = await bucket.current()
    assert now is not None
    assert now.snapshot == "s000002-00000000"


async def test_full_server_is_one_line_and_keeps_data(
    bucket: Bucket, client: Client, index: Path, snap: Snap, tmp_path: Path
) -> None:
    name = snap({"passages/1.bin": noise(1, 100)})
    await push(bucket, index, quiet, keep=3)
    js = client.jetstream()
    config = (await js.stream_info(f"OBJ_{bucket.name}")).config
    await js.update_stream(config.evolve(max_bytes=3 * PART))
    snap({"vectors/graph.bin": noise(2, 20 * PART)})
    with pytest.raises(Unavailable, match=rf"bucket {bucket.name} has no room \(.*\); free disk space where") as told:
        await push(bucket, index, quiet, keep=3)
    assert told.traceback  # it would keep an open file alive
    assert [each.path for each in psutil.Process().open_files() if each.path.startswith(str(index))] == []
    assert (await pull(bucket, tmp_path / "cache", quiet)).snapshot == name


async def test_replacing_an_index_removes_the_old_one(bucket: Bucket, index: Path, snap: Snap, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for round_ in range(3):
        snap({"passages/1.bin": noise(round_, 100)})
    await push(bucket, index, quiet, keep=3)
    await pull(bucket, cache, quiet)
    await asyncio.to_thread(index.rename, tmp_path / "before")
    name = snap({"passages/1.bin": noise(9, 100)})
    assert snapshot.sequence(name) == 1
    await push(bucket, index, quiet, keep=3)
    await pull(bucket, cache, quiet)
    assert snapshot.names(cache) == [name]


async def test_full_disk_is_one_line(bucket: Bucket, index: Path, snap: Snap, tmp_path: Path) -> None:
    small = tmp_path / "small"
    with disk(small) as mounted:
        if not mounted:
            pytest.skip("no file system can be mounted here")
        name = snap({"vectors/graph.bin": (graph := noise(1, 20 * PART))})
        await push(bucket, index, quiet, keep=3)
        raw = await bucket.read(SNAPSHOTS + name)
        (small / "cache").mkdir()
        arriving = Arriving(small / "cache", name, raw)
        arriving.need_room()
        (small / "filler").write_bytes(bytes(shutil.disk_usage(small).free - 10 * PART))
        no_room = rf"no room in {small}/cache for {name}: 20 MB have to come, \d+ MB are free"
        with pytest.raises(IndexProblem, match=no_room):
            arriving.write(sha256(graph), 0, graph)
        (small / "cache" / "arriving" / sha256(graph)).unlink()
        with pytest.raises(IndexProblem, match=no_room):
            await pull(bucket, small / "cache", quiet)
        (small / "filler").unlink()
        await pull(bucket, small / "cache", quiet)
        assert same(index, small / "cache")


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
async def test_bad_manifest_is_refused_in_one_line(
    bucket: Bucket, index: Path, snap: Snap, tmp_path: Path, change: dict[str, object], says: str
) -> None:
    name = snap({"passages/1.bin": b"1"})
    raw = (index / "snapshots" / name / "manifest.json").read_bytes()
    changed = msgspec.json.encode(msgspec.json.decode(raw) | change)
    await bucket.declare(0)
    await bucket.put(SNAPSHOTS + name, changed, sha256(changed))
    assert await bucket.point_at(name, 0)
    with pytest.raises(IndexProblem, match=says):
        await pull(bucket, tmp_path / "cache", quiet)


async def test_the_commands_say_what_they_did(
    bucket: Bucket, index: Path, snap: Snap, tmp_path: Path, bus_settings: BusSettings
) -> None:
    name = snap(FIRST)
    (index / "skipped.json").write_bytes(b'{"count": 1}')
    environ = {"GROUNDWIRE_BUS_URL": bus_settings.url, "GROUNDWIRE_STATE": str(tmp_path / "state")}

    async def run(command: str, *arguments: str | Path) -> list[str]:
        given = ["index", command, "--bucket", bucket.name, *map(str, arguments)]
        done = await asyncio.to_thread(CliRunner().invoke, groundwire, given, env=environ)
        return [str(done.exit_code), *done.output.strip().splitlines()]

    cache = tmp_path / "cache"
    assert await run("pull", "--index", cache) == [
        "1",
        f"Error: the bucket {bucket.name} holds no index; send one with 'groundwire index push --index DIR'",
    ]
    assert await run("push", "--index", index) == [
        "0",
        f"{name} is in the bucket {bucket.name}: 3 of 4 files sent, 4.9 of 4.9 MB; 0 older snapshots removed",
    ]
    assert await run("pull", "--index", cache) == ["0", f"{name} is in {cache}: 4.9 of 4.9 MB fetched"]
    assert await run("pull", "--index", cache) == ["0", f"{name} is in {cache} already"]
    assert (cache / "skipped.json").read_bytes() == b'{"count": 1}'
    code, *said = await run("push", "--index", tmp_path / "none")
    assert (code, len(said)) == ("1", 1)
    assert "no index at" in said[0]
