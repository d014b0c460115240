"""Put a backup back: into empty places, or with `force` in place of what is there."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bus.connection import connect
from bus.errors import Unavailable
from bus.stream_copies import CHUNK_BYTES, Description, put_back
from index import snapshot
from runtime.backup.contents import KEYS_FILE, PROFILES, BackupProblem, Contents, copy, copy_tree
from runtime.backup.save import SKIPPED
from runtime.processes.listening import key_file
from runtime.processes.nats_users import FILE as USERS_FILE
from runtime.processes.private_files import private_folder
from runtime.processes.state_folder import running, state_folder
from runtime.processes.supervisor import Stack
from runtime.settings import Settings


async def restore(folder: Path, contents: Contents, settings: Settings, *, force: bool) -> None:
    """Put a backup, checked by `read`, where the settings say. Raises BackupProblem, IndexProblem, Unavailable, StackRunning."""
    index, state = Path(settings.index.dir), state_folder(settings)
    if running(state) is not None:
        raise BackupProblem(f"a stack runs over {index}; stop it first")
    there = _in_the_way(folder, settings)
    if there and not force:
        raise BackupProblem(f"{', '.join(map(str, there))} would be replaced; add --force if that is what you want")
    try:
        with snapshot.writing(index):  # before anything goes: a build may be writing
            for path in there:
                if path != index / snapshot.CURRENT:  # replaced when the new one is there
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            _restore_state(folder / "state", settings)
            _restore_index(folder / "index", index, contents.snapshot)
    except OSError as error:
        raise BackupProblem(f"{error.filename}: {error.strerror}; free some space or make it writable") from None
    if contents.streams:
        await _restore_journal(folder / "journal", contents.streams, settings)


def _in_the_way(folder: Path, settings: Settings) -> list[Path]:
    """What the restored would take the place of. An index's older snapshots stay; its journal goes as a whole."""
    state = state_folder(settings)
    places = [Path(settings.index.dir) / snapshot.CURRENT, state / "jetstream"]
    if (folder / "state" / KEYS_FILE).exists():
        places.append(key_file(settings).path)
    profiles = Path(settings.profiles) if settings.profiles else None
    if profiles and profiles.is_dir() and any(profiles.iterdir()) and (folder / "state" / PROFILES).exists():
        places.append(profiles)
    return [path for path in places if path.exists()]


def _restore_index(source: Path, index: Path, name: str) -> None:
    """Call under `snapshot.writing`."""
    building = index / "building" / name
    copy_tree(source / "snapshots" / name, building)
    raw = (building / "manifest.json").read_bytes()
    shutil.rmtree(index / "snapshots" / name, ignore_errors=True)
    snapshot.adopt(index, building, name, raw)
    (index / SKIPPED).unlink(missing_ok=True)
    if (source / SKIPPED).exists():
        copy(source / SKIPPED, index / SKIPPED)


def _restore_state(source: Path, settings: Settings) -> None:
    state = state_folder(settings)
    private_folder(state)
    if (source / USERS_FILE).exists():
        (state / USERS_FILE).unlink(missing_ok=True)
        copy(source / USERS_FILE, state / USERS_FILE)
    if (source / KEYS_FILE).exists():
        copy(source / KEYS_FILE, key_file(settings).path)
    if settings.profiles and (source / PROFILES).exists():
        copy_tree(source / PROFILES, Path(settings.profiles))


async def _restore_journal(source: Path, streams: tuple[str, ...], settings: Settings) -> None:
    """Through a nats-server of its own, which is gone afterwards."""
    stack = Stack(settings, state_folder(settings), ())
    await stack.start()
    try:
        client = await connect(stack.settings.bus, name="groundwire-restore")
        try:
            for stream in streams:
                try:
                    said = msgspec.json.decode((source / f"{stream}.json").read_bytes(), type=Description)
                except (OSError, msgspec.DecodeError) as error:
                    raise Unavailable(f"{source / stream}.json cannot be read ({error})") from None
                await put_back(client, stream, said, _chunks(source / f"{stream}.stream"))
        finally:
            await client.close()
    finally:
        await stack.stop()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(CHUNK_BYTES):
            yield data
