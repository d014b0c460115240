"""A backup taken while questions are asked brings back index, runs, keys and settings elsewhere; a damaged one brings nothing."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from bus.messages import QuestionAsked
from index import snapshot
from runtime.backup.contents import FORMAT, LIST, BackupProblem, Contents, digests, read
from runtime.commands.stack import stack_for
from runtime.settings import IndexSettings, Settings

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "runtime" / "demo" / "documents" / "handbook-en"
ASKED = QuestionAsked(question="What must everyone wear in the laboratory?")


class Place:
    """A folder with an index and a state of its own, as on another machine."""

    def __init__(self, folder: Path) -> None:
        self.index, self.state, self.config = folder / "handbook.index", folder / "state", folder / "groundwire.toml"
        folder.mkdir(exist_ok=True)

    def command(self, *arguments: object) -> tuple[list[str], dict[str, str]]:
        environ = {**os.environ, "GROUNDWIRE_STATE": str(self.state), "COLUMNS": "200"}
        return [sys.executable, "-m", "runtime", *map(str, arguments)], environ

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        command, environ = self.command(*arguments)
        return subprocess.run(
            command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    @property
    def settings(self) -> Settings:
        return Settings(state=str(self.state), index=IndexSettings(dir=str(self.index)))


async def asked(place: Place, backup: Path) -> str:
    """A run that had finished before a backup, which is taken while others are asked."""
    async with stack_for(place.settings, say=lambda line: None) as runs:

        async def one(question: QuestionAsked) -> str:
            run_id = (await runs.submit(question)).run_id
            async for _ in runs.events(run_id):
                pass
            return run_id

        run_id = await one(ASKED)
        command, environ = place.command("backup", backup, "--index", place.index, "--config", place.config)
        copying = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
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
    built = place.run("index", "build", DOCUMENTS, "--out", place.index)
    assert built.returncode == 0, built.stderr
    assert place.run("keys", "add", "me").returncode == 0
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


def test_it_is_restored_elsewhere_and_an_old_run_replays(backup: tuple[Path, str], tmp_path: Path) -> None:
    folder, run_id = backup
    new = Place(tmp_path / "new")
    done = new.run("restore", folder, "--index", new.index, "--config", new.config)
    assert done.returncode == 0, done.stderr
    replayed = new.run("replay", run_id, "--index", new.index)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert "me" in new.run("keys", "list").stdout
    assert "helpful" in new.config.read_text(encoding="utf-8")
    answered = new.run("ask", "--index", new.index, "--config", new.config, "--profile", "mine", ASKED.question)
    assert "safety goggles" in answered.stdout, answered.stderr

    again = new.run("restore", folder, "--index", new.index)
    assert again.returncode == 1
    assert "add --force" in again.stderr
    forced = new.run("restore", folder, "--index", new.index, "--force")
    assert forced.returncode == 0, forced.stderr


def test_a_damaged_backup_restores_nothing(backup: tuple[Path, str], tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(backup[0], damaged)
    stream = damaged / "journal" / "RUNS.stream"
    stream.write_bytes(stream.read_bytes()[:-1] + b"?")
    new = Place(tmp_path / "new")
    done = new.run("restore", damaged, "--index", new.index, "--config", new.config)
    assert done.returncode == 1
    assert not new.config.exists()
    assert "RUNS.stream is missing or damaged" in done.stderr
    assert not new.index.exists()
    (damaged / LIST).unlink()
    assert "no finished backup" in new.run("restore", damaged, "--index", new.index, "--config", new.config).stderr
    assert not new.config.exists()


def test_only_its_owner_reads_it_and_a_full_folder_is_left_alone(backup: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = backup
    assert folder.stat().st_mode & 0o077 == 0
    new = Place(tmp_path / "new")
    assert new.run("restore", folder, "--index", new.index).returncode == 0
    done = new.run("backup", folder, "--index", new.index)
    assert done.returncode == 1
    assert "is not empty" in done.stderr


def test_what_is_there_stays_while_a_build_writes(backup: tuple[Path, str], tmp_path: Path) -> None:
    new = Place(tmp_path / "new")
    (new.state / "keys.json").parent.mkdir()
    (new.state / "keys.json").write_text("{}", encoding="utf-8")
    with snapshot.writing(new.index):
        done = new.run("restore", backup[0], "--index", new.index, "--force")
    assert done.returncode == 1
    assert "another process is writing" in done.stderr
    assert (new.state / "keys.json").read_text(encoding="utf-8") == "{}"


def written(folder: Path, name: str = "s000001-00000000", streams: tuple[str, ...] = ()) -> Path:
    """A backup of a manifest, whose list names a snapshot and these streams."""
    manifest = folder / "index" / "snapshots" / name / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text("{}", encoding="utf-8")
    contents = Contents(format=FORMAT, created="", snapshot=name, streams=streams, files=digests(folder))
    (folder / LIST).write_bytes(msgspec.json.encode(contents))
    return folder


@pytest.mark.parametrize(
    ("name", "streams"), [("../../outside", ()), ("s000001-00000000", ("../x",)), ("s000001-00000000", ("RUNS",))]
)
def test_a_list_that_names_what_no_backup_holds_is_refused(tmp_path: Path, name: str, streams: tuple[str, ...]) -> None:
    with pytest.raises(BackupProblem, match="is not what `groundwire backup` writes"):
        read(written(tmp_path / "backup", name, streams))


def test_what_the_list_does_not_name_is_not_restored(tmp_path: Path) -> None:
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
