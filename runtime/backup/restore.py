"""Put a backup back: into empty places, or with `force` in place of other files, which stay until the new are whole."""

import contextlib
import fcntl
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from bus.transport.connection import connect
from bus.transport.stream_copies import CHUNK_BYTES, Description, put_back
from bus.wire.errors import Failure, Unavailable
from index.snapshot import snapshot
from runtime.backup.contents import KEYS_FILE, PROFILES, BackupProblem, Contents, copy, copy_tree
from runtime.backup.replacing import Replacing, finish, remove
from runtime.backup.save import SKIPPED
from runtime.processes.listening import key_file
from runtime.processes.nats_users import FILE as USERS_FILE
from runtime.processes.private_files import open_private, private_folder
from runtime.processes.state_folder import RESTORE_NOTE, running, state_folder, take
from runtime.processes.supervisor import Stack, StackRunning
from runtime.settings import Settings

JOURNAL = "jetstream"
#: Where a nats-server of its own makes the new journal.
SCRATCH = "restoring"


async def restore(folder: Path, contents: Contents, settings: Settings, *, force: bool) -> list[Path]:
    """Put a backup, checked by `read`, where the settings say; returns the places whose content it replaced.

    Raises BackupProblem, IndexProblem, Unavailable, StackRunning.
    """
    index, state = Path(settings.index.dir), state_folder(settings)
    if running(state) is not None:
        raise BackupProblem(f"a stack runs over {index}; stop it first")
    try:
        with _alone(state), snapshot.writing(index):  # before anything goes: a build may be writing
            finish(state / RESTORE_NOTE)
            there = _in_the_way(folder, settings)
            if there and not force:
                raise BackupProblem(
                    f"{', '.join(map(str, there))} would be replaced; add --force if that is what you want"
                )
            try:
                with Replacing(state / RESTORE_NOTE) as new:
                    await _replace(folder, contents, settings, new)
            finally:
                remove(state / SCRATCH)
            return there
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise BackupProblem(
            f"{where}{error.strerror}; nothing was replaced: free some space or make it writable, and restore again"
        ) from None


async def _replace(folder: Path, contents: Contents, settings: Settings, new: Replacing) -> None:
    index, state = Path(settings.index.dir), state_folder(settings)
    _copy_state(folder / "state", settings, new)
    if (folder / "index" / SKIPPED).exists():
        copy(folder / "index" / SKIPPED, new.beside(index / SKIPPED))
    target = index / "snapshots" / contents.snapshot
    building = new.beside(target, index / "building" / contents.snapshot)
    copy_tree(folder / "index" / "snapshots" / contents.snapshot, building)
    (building / "readers").touch()
    if contents.streams:
        try:
            await _make_journal(folder / "journal", contents.streams, settings, new)
        except Failure as problem:
            raise BackupProblem(
                f"{problem}; nothing was replaced: take another backup, or free some space below {state}"
            ) from None
    # Also where the backup has none of it: what is there is not of this backup.
    for place in (index / SKIPPED, state / JOURNAL):
        new.without(place)
    new.beside(index / snapshot.CURRENT).write_text(f"{contents.snapshot}\n", encoding="ascii")
    new.move_in()


@contextlib.contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Keep stacks away from the state folder. Raises StackRunning, OSError."""
    private_folder(state)
    with open_private(state / "lock") as lock:
        if not take(lock, fcntl.LOCK_EX):
            raise StackRunning(f"a stack runs over {state}; stop it first")
        (state / "stack.json").unlink(missing_ok=True)  # of one that was killed
        yield


def _in_the_way(folder: Path, settings: Settings) -> list[Path]:
    """What the restored would take the place of. An index's older snapshots stay; its journal goes as a whole."""
    state = state_folder(settings)
    places = [Path(settings.index.dir) / snapshot.CURRENT, state / JOURNAL]
    if (folder / "state" / KEYS_FILE).exists():
        places.append(key_file(settings).path)
    profiles = Path(settings.profiles) if settings.profiles else None
    if profiles and profiles.is_dir() and any(profiles.iterdir()) and (folder / "state" / PROFILES).exists():
        places.append(profiles)
    return [path for path in places if path.exists()]


def _copy_state(source: Path, settings: Settings, new: Replacing) -> None:
    for name, place in ((USERS_FILE, state_folder(settings) / USERS_FILE), (KEYS_FILE, key_file(settings).path)):
        if (source / name).exists():
            copy(source / name, new.beside(place))
    if settings.profiles and (source / PROFILES).exists():
        copy_tree(source / PROFILES, new.beside(Path(settings.profiles)))


async def _make_journal(source: Path, streams: tuple[str, ...], settings: Settings, new: Replacing) -> None:
    """Through a nats-server of its own, which is gone afterwards."""
    state = state_folder(settings)
    remove(state / SCRATCH)
    stack = Stack(settings, state / SCRATCH, ())
    async with contextlib.AsyncExitStack() as closing:
        await stack.start()
        closing.push_async_callback(stack.stop)
        client = await connect(stack.settings.bus, name="groundwire-restore")
        closing.push_async_callback(client.close)
        for stream in streams:
            try:
                said = msgspec.json.decode((source / f"{stream}.json").read_bytes(), type=Description)
            except (OSError, msgspec.DecodeError) as error:
                raise Unavailable(f"{source / stream}.json cannot be read ({error})") from None
            with (source / f"{stream}.stream").open("rb") as file:
                await put_back(client, stream, said, iter(partial(file.read, CHUNK_BYTES), b""))
    (stack.folder / JOURNAL).rename(new.beside(state / JOURNAL))
