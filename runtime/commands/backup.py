"""`groundwire backup` and `groundwire restore`: all that cannot be made again, in one folder."""

import asyncio
import shutil
from pathlib import Path

import click

from bus.runs.runs import NoSuchRun
from bus.wire.errors import Failure
from runtime.backup.contents import SETTINGS_FILE, Contents, read
from runtime.backup.restore import restore
from runtime.backup.save import save
from runtime.commands.options import (
    BUILT_INDEX,
    CONFIG,
    INDEX_FOLDER_PLACE,
    check_index,
    one_line_errors,
    over_index,
    read_settings,
    usage_errors,
)
from runtime.commands.run_sources import journal_of
from runtime.processes.nats_server import NoServer
from runtime.processes.supervisor import StackRunning
from runtime.settings import SettingsError, load
from runtime.terminal import one_line, say

_FOLDER = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
_PROBLEMS = (Failure, NoServer, StackRunning)


@click.command("backup")
@_FOLDER
@BUILT_INDEX
@CONFIG
def backup_command(folder: Path, index: Path, config: Path | None) -> None:
    """Copy the index, its journal of runs, keys, users, profiles and settings into FOLDER, also while it is served.

    The copy holds secrets and documents: only you may read it. Each file's digest is in its list, which restoring checks.
    """
    settings = read_settings(config, index=check_index(index))

    async def work() -> Contents:
        try:
            async with journal_of(settings) as journal:
                return await save(folder, settings, journal, config)
        except NoSuchRun:  # nothing was ever asked
            return await save(folder, settings, None, config)

    with one_line_errors(*_PROBLEMS):
        contents = asyncio.run(work())
    size_bytes = sum(size for size, _ in contents.files.values())
    say(f"{folder}: {contents.snapshot} of {index}, {_journal(contents)}, {size_bytes / 1e6:.1f} MB")


@click.command("restore")
@_FOLDER
@click.option("--index", type=INDEX_FOLDER_PLACE, required=True, help="Where the index goes.")
@click.option("--force", is_flag=True, help="Replace what is there.")
@CONFIG
def restore_command(folder: Path, index: Path, force: bool, config: Path | None) -> None:
    """Put a backup back: its index as --index, its journal, users and keys where that index's are looked for.

    Settings are put where --config says if there is no such file yet, profiles into the folder that the settings name.
    """
    with usage_errors(SettingsError), one_line_errors(*_PROBLEMS):
        contents = read(folder)
        if config is not None and not config.exists() and (folder / "state" / SETTINGS_FILE).exists():
            _put_settings(folder / "state" / SETTINGS_FILE, config)
        settings = over_index(load(config), index)  # whose folder of profiles may be among what is lost
        replaced = asyncio.run(restore(folder, contents, settings, force=force))
    instead = f"; it took the place of {', '.join(map(str, replaced))}" if replaced else ""
    say(f"{index}: {contents.snapshot} of {contents.created}, {_journal(contents)}{instead}")


def _put_settings(kept: Path, config: Path) -> None:
    """Raises click.ClickException."""
    try:
        config.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(kept, config)
    except OSError as error:
        said = f"{config} cannot be written ({error.strerror}); name another --config"
        raise click.ClickException(one_line(said)) from None


def _journal(contents: Contents) -> str:
    return "with its journal" if contents.streams else "without a journal, as nothing was asked"
