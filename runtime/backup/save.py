"""Write a backup while everything serves: a held snapshot's files, the streams as nats-server gives them, keys and settings."""

import asyncio
import time
from pathlib import Path

import msgspec

from bus.journal.journal import Journal
from bus.transport.stream_copies import take
from bus.wire.subjects import EVENTS, RUNS
from index.durable import replace_file, sync
from index.snapshot import snapshot
from runtime.backup.contents import (
    FORMAT,
    KEYS_FILE,
    LIST,
    PROFILES,
    SETTINGS_FILE,
    BackupProblem,
    Contents,
    copy,
    copy_tree,
    digests,
)
from runtime.processes.listening import key_file
from runtime.processes.nats_users import FILE as USERS_FILE
from runtime.processes.private_files import open_private, private_folder
from runtime.processes.state_folder import state_folder
from runtime.settings import Settings, config_file

SKIPPED = "skipped.json"


async def save(folder: Path, settings: Settings, journal: Journal | None, config: Path | None) -> Contents:
    """Write everything into an empty or new folder. Raises BackupProblem, IndexProblem, Unavailable.

    The journal comes first: no run in it is of a snapshot newer than the one that is copied.
    """
    try:
        await asyncio.to_thread(_begin, folder)
        streams = await _save_journal(journal, folder / "journal") if journal is not None else ()
        return await asyncio.to_thread(_save_files, folder, settings, config, streams)
    except OSError as error:
        raise BackupProblem(f"{folder} cannot be written ({error.strerror}); name another folder") from None


def _begin(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise BackupProblem(f"{folder} is not empty; name a new folder")
    private_folder(folder)


def _save_files(folder: Path, settings: Settings, config: Path | None, streams: tuple[str, ...]) -> Contents:
    name = _save_index(Path(settings.index.dir), folder / "index")
    _save_state(settings, config, folder / "state")
    contents = Contents(
        format=FORMAT,
        created=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        snapshot=name,
        streams=streams,
        files=digests(folder),
    )
    replace_file(folder / LIST, msgspec.json.format(msgspec.json.encode(contents), indent=1), mode=0o600)
    return contents


def _save_index(index: Path, target: Path) -> str:
    held = snapshot.hold(index)
    try:
        name = held.manifest.snapshot
        if problems := snapshot.verify_files(held.directory, held.manifest):
            raise BackupProblem(f"{held.directory}: {problems[0]}; build the index again before it is backed up")
        for path in (*held.manifest.files, "manifest.json"):
            copy(held.directory / path, target / "snapshots" / name / path)
    finally:
        held.close()
    if (index / SKIPPED).exists():
        copy(index / SKIPPED, target / SKIPPED)
    (target / "snapshots" / name / "readers").touch()
    (target / "current").write_text(f"{name}\n", encoding="ascii")
    return name


async def _save_journal(journal: Journal, target: Path) -> tuple[str, ...]:
    """The streams that there are; EVENTS first, so that no event is of a run that the copy lacks for long."""
    private_folder(target)
    taken: list[str] = []
    for stream in (EVENTS, RUNS):
        with open_private(target / f"{stream}.stream") as file:
            description = await take(journal.client, stream, file.write)
        sync(target / f"{stream}.stream")
        if description is None:
            (target / f"{stream}.stream").unlink()
            continue
        replace_file(target / f"{stream}.json", msgspec.json.encode(description), mode=0o600)
        taken.append(stream)
    return tuple(taken)


def _save_state(settings: Settings, config: Path | None, target: Path) -> None:
    for source, name in (
        (key_file(settings).path, KEYS_FILE),
        (state_folder(settings) / USERS_FILE, USERS_FILE),
        (config_file(config), SETTINGS_FILE),
    ):
        if source is not None and source.is_file():
            copy(source, target / name)
    if settings.profiles:
        copy_tree(Path(settings.profiles), target / PROFILES)
