"""A backup taken while questions are asked brings back index, runs, keys and settings elsewhere; a damaged one brings nothing."""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from actors.question.profile import PROFILES
from bus.transport.settings import BusSettings
from bus.wire.messages import QuestionAsked
from index.snapshot import snapshot
from runtime.backup.contents import FORMAT, LIST, BackupProblem, Contents, digests, read
from runtime.backup.replacing import NEW, Replacing
from runtime.cli import groundwire
from runtime.processes.stack import stack_for
from runtime.settings import IndexSettings, Settings
from tests.chaos.house import disk
from tests.commands import ROOT, begun, environ_of

DOCUMENTS = ROOT / "runtime" / "demo" / "documents" / "handbook-en"
#: A journal that fits on a small disk, with space reserved for its full size.
SMALL = BusSettings(runs_max_bytes=16_000_000, events_max_bytes=16_000_000)
ASKED = QuestionAsked(question="What must everyone wear in the laboratory?")


class Place:
    """A folder with an index and a state of its own, as on another machine."""

    def __init__(self, folder: Path) -> None:
        self.index, self.state, self.config = folder / "handbook.index", folder / "state", folder / "groundwire.toml"
        folder.mkdir(exist_ok=True)

    def run(self, *arguments: object) -> Result:
        """In this process."""
        environ = {"GROUNDWIRE_STATE": str(self.state), "COLUMNS": "200"}
        try:
            return CliRunner().invoke(groundwire, [*map(str, arguments)], env=environ)
        finally:
            PROFILES.use("")

    @property
    def settings(self) -> Settings:
        return Settings(bus=SMALL, state=str(self.state), index=IndexSettings(dir=str(self.index)))


async def asked(place: Place, backup: Path) -> str:
    """A run that had finished before a backup, which is taken while others are asked."""
    async with stack_for(place.settings, say=lambda line: None) as runs:

        async def one(question: QuestionAsked) -> str:
            run_id = (await runs.submit(question)).run_id
            async for _ in runs.events(run_id):
                pass
            return run_id

        run_id = await one(ASKED)
        command = ("backup", backup, "--index", place.index, "--config", place.config)
        copying = await begun(place.state, *command, stderr=asyncio.subprocess.STDOUT)
        said = asyncio.create_task(copying.communicate())
        count = 0
        while not said.done():
            count += 1
            await one(msgspec.structs.replace(ASKED, question=f"{ASKED.question} ({count})"))
        told, _ = await said
        assert copying.returncode == 0, told.decode()
        assert count
        return run_id


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("old"))
    (place.state.parent / "profiles").mkdir()
    (place.state.parent / "profiles" / "mine.toml").write_text('extends = "general"\n', encoding="utf-8")
    place.config.write_text(
        f'profiles = "{place.state.parent / "profiles"}"\n[answers]\nvoice = "helpful"\n', encoding="utf-8"
    )
    built = place.run("index", "build", DOCUMENTS, "--index", place.index)
    assert built.exit_code == 0, built.stderr
    assert place.run("keys", "add", "me").exit_code == 0
    return place


@pytest.fixture(scope="module")
def backup(old: Place, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A backup and a run that is in it; the place itself is lost."""
    folder = tmp_path_factory.mktemp("backups") / "today"
    run_id = asyncio.run(asked(old, folder))
    keys = (old.state / "keys.json").read_bytes()
    for lost in (old.state, old.index, old.state.parent / "profiles"):
        shutil.rmtree(lost)
    assert (folder / "state" / "keys.json").read_bytes() == keys
    return folder, run_id


def test_restored_run_replays_elsewhere(backup: tuple[Path, str], tmp_path: Path) -> None:
    folder, run_id = backup
    new = Place(tmp_path / "new")
    in_the_way = new.run("restore", folder, "--index", new.index, "--config", folder / LIST / "groundwire.toml")
    assert "cannot be written" in in_the_way.stderr
    new.config = tmp_path / "new" / "etc" / "groundwire.toml"  # in a folder that is not there
    done = new.run("restore", folder, "--index", new.index, "--config", new.config)
    assert done.exit_code == 0, done.stderr
    replayed = new.run("replay", run_id, "--index", new.index)
    assert replayed.exit_code == 0, replayed.stdout + replayed.stderr
    assert "me" in new.run("keys", "list").stdout
    assert "helpful" in new.config.read_text(encoding="utf-8")
    answered = new.run("ask", "--index", new.index, "--config", new.config, "--profile", "mine", ASKED.question)
    assert "safety goggles" in answered.stdout, answered.stderr

    again = new.run("restore", folder, "--index", new.index)
    assert again.exit_code == 1
    assert "add --force" in again.stderr
    forced = new.run("restore", folder, "--index", new.index, "--force")
    assert forced.exit_code == 0, forced.stderr


def test_a_damaged_backup_restores_nothing(backup: tuple[Path, str], tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(backup[0], damaged)
    stream = damaged / "journal" / "RUNS.stream"
    stream.write_bytes(stream.read_bytes()[:-1] + b"?")
    new = Place(tmp_path / "new")
    done = new.run("restore", damaged, "--index", new.index, "--config", new.config)
    assert done.exit_code == 1
    assert not new.config.exists()
    assert "RUNS.stream is missing or damaged" in done.stderr
    assert not new.index.exists()
    (damaged / LIST).unlink()
    assert "no finished backup" in new.run("restore", damaged, "--index", new.index, "--config", new.config).stderr
    assert not new.config.exists()


def test_backup_is_private_and_needs_an_empty_folder(backup: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = backup
    assert folder.stat().st_mode & 0o077 == 0
    new = Place(tmp_path / "new")
    assert new.run("restore", folder, "--index", new.index).exit_code == 0
    done = new.run("backup", folder, "--index", new.index)
    assert done.exit_code == 1
    assert "is not empty" in done.stderr


def test_restore_during_a_build_changes_nothing(backup: tuple[Path, str], tmp_path: Path) -> None:
    new = Place(tmp_path / "new")
    (new.state / "keys.json").parent.mkdir()
    (new.state / "keys.json").write_text("{}", encoding="utf-8")
    with snapshot.writing(new.index):
        done = new.run("restore", backup[0], "--index", new.index, "--force")
    assert done.exit_code == 1
    assert "another process is writing" in done.stderr
    assert (new.state / "keys.json").read_text(encoding="utf-8") == "{}"


def written(
    folder: Path, name: str = "s000001-00000000", streams: tuple[str, ...] = (), *, keys: str | None = None
) -> Path:
    """A backup with a list that names a snapshot and these streams, and with this content of its file of keys."""
    if keys is not None:
        (folder / "state").mkdir(parents=True)
        (folder / "state" / "keys.json").write_text(keys, encoding="utf-8", errors="surrogateescape")
    manifest = folder / "index" / "snapshots" / name / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text("{}", encoding="utf-8")
    contents = Contents(format=FORMAT, created="", snapshot=name, streams=streams, files=digests(folder))
    (folder / LIST).write_bytes(msgspec.json.encode(contents))
    return folder


@pytest.mark.parametrize(
    ("name", "streams"), [("../../outside", ()), ("s000001-00000000", ("../x",)), ("s000001-00000000", ("RUNS",))]
)
def test_list_with_foreign_files_is_refused(tmp_path: Path, name: str, streams: tuple[str, ...]) -> None:
    with pytest.raises(BackupProblem, match="is not what `groundwire backup` writes"):
        read(written(tmp_path / "backup", name, streams))


@pytest.mark.parametrize(
    "named", ["../x", "/etc/hostname", "state/../../x", "state/x\0y", "state//x", "./x", "", "state/\ud800"]
)
def test_list_with_other_paths_is_refused(tmp_path: Path, named: str) -> None:
    folder = written(tmp_path / "backup")
    (tmp_path / "x").write_text("", encoding="utf-8")
    contents = json.loads((folder / LIST).read_bytes())
    contents["files"][named] = [0, hashlib.sha256().hexdigest()]
    (folder / LIST).write_text(json.dumps(contents), encoding="utf-8")
    with pytest.raises(BackupProblem, match="take another backup") as refused:
        read(folder)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("place", [LIST, "state/keys.json", "index/snapshots/s000001-00000000/manifest.json"])
def test_pipe_in_a_backup_is_refused(tmp_path: Path, place: str) -> None:
    folder = written(tmp_path / "backup", keys='{"keys": [], "secret": "00"}')
    (folder / place).unlink()
    os.mkfifo(folder / place)
    with pytest.raises(BackupProblem, match=r"no finished backup|is not of this backup"):
        read(folder)


@pytest.mark.parametrize("keys", ["{", "[]", '{"keys": [], "secret": "00"}', "[" * 100_000, "\udcff"])
def test_keys_of_a_backup_are_checked(tmp_path: Path, keys: str) -> None:
    folder = written(tmp_path / "backup", keys=keys)
    new = Place(tmp_path / "new")
    done = new.run("restore", folder, "--index", new.index, "--config", new.config)
    assert (done.exit_code, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert "keys.json is no file of keys" in done.stderr
    assert list((tmp_path / "new").iterdir()) == []


def test_unlisted_files_are_not_restored(tmp_path: Path) -> None:
    folder = written(tmp_path / "backup")
    assert read(folder).files
    stray = folder / "state" / "profiles" / "stray.toml"
    stray.parent.mkdir(parents=True)
    stray.write_text("", encoding="utf-8")
    with pytest.raises(BackupProblem, match=r"stray.toml is not of this backup, .*; remove it"):
        read(folder)
    stray.unlink()
    stray.symlink_to(folder / LIST)
    with pytest.raises(BackupProblem, match=r"stray.toml is not of this backup"):
        read(folder)


def held(*folders: Path) -> dict[Path, bytes]:
    """Every file there, with its content, without locks."""
    return {
        path: path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock" and path.suffix != ".lock"
    }


def test_full_disk_keeps_existing_data(backup: tuple[Path, str], tmp_path: Path) -> None:
    """In its index, in its journal."""
    folder, run_id = backup
    with disk(tmp_path / "small", 128_000_000) as mounted:
        if not mounted:
            pytest.skip("no file system can be mounted here")
        place = Place(tmp_path / "small" / "place")
        first = place.run("restore", folder, "--index", place.index)
        assert first.exit_code == 0, first.stderr
        there = held(place.index, place.state)
        filler = tmp_path / "small" / "filler"
        for room in (size(folder / "state") + 200_000, size(folder / "index") + 500_000):
            fill(filler, leave=room)
            done = place.run("restore", folder, "--index", place.index, "--force")
            filler.unlink()
            assert done.exit_code == 1
            assert "nothing was replaced" in done.stderr
            assert len(done.stderr.splitlines()) == 1
            assert held(place.index, place.state) == there
        again = place.run("restore", folder, "--index", place.index, "--force")
        assert "took the place of" in again.stdout, again.stderr
        assert place.run("replay", run_id, "--index", place.index).exit_code == 0


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*"))


def fill(path: Path, *, leave: int) -> None:
    """Write a file until so much is left of the disk."""
    with path.open("wb", buffering=0) as file:
        while (room := shutil.disk_usage(path.parent).free - leave) > 0:
            file.write(bytes(min(room, 1 << 20)))


def test_interrupted_restore_is_atomic(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.runtime.killed_replacing", tmp_path / "place"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    old = {"current": "old", "jetstream/runs": "old", "keys.json": "old", "skipped.json": "old"}
    new = {"current": "new", "jetstream/runs": "new", "keys.json": "new", "profiles/runs": "new", "users.json": "new"}
    assert all(kept for kept, _ in found)
    turned = [there for _, there in found].index(new)
    assert [there for _, there in found] == [old] * turned + [new] * (len(found) - turned)
    assert 10 < turned < len(found) - 1


#: The command line, killed before it renames a file to this name in the state folder.
KILLED = """
import os, runpy, sys
name = sys.argv.pop(1)
def watch(event, arguments):
    if event == "os.rename" and os.fspath(arguments[1]).endswith("/" + name):
        os._exit(9)
sys.addaudithook(watch)
runpy.run_module("runtime", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(("name", "moves_in"), [("restore.json", False), ("jetstream", True)])
def test_killed_restore_is_finished_or_changes_nothing(
    backup: tuple[Path, str], tmp_path: Path, name: str, moves_in: bool
) -> None:
    folder, run_id = backup
    place = Place(tmp_path / "place")
    assert place.run("restore", folder, "--index", place.index).exit_code == 0
    before = held(place.index, place.state)
    command = (sys.executable, "-c", KILLED, name, "restore", folder, "--index", place.index, "--force")
    environ = environ_of(place.state)
    killed = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=False)
    assert killed.returncode == 9, killed.stderr
    if not moves_in:
        after = held(place.index, place.state)
        assert {path: after.get(path) for path in before} == before
    shown = place.run("trace", "show", run_id, "--index", place.index)
    assert ("a restore that was killed is finished now" in shown.stderr) == moves_in
    assert shown.exit_code == 0, shown.stderr
    again = place.run("restore", folder, "--index", place.index, "--force")
    assert again.exit_code == 0, again.stderr
    assert not [path for path in place.state.rglob("*") if path.name.endswith(NEW) or path.name == "restoring"]


def test_failed_restore_leaves_no_new_files(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text("old")

    def fail() -> None:
        with Replacing(tmp_path / "note") as new:
            new.beside(keys).write_text("new")
            new.beside(tmp_path / "jetstream").mkdir()
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        fail()
    assert keys.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["keys.json"]
