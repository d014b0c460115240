"""What the subcommands share: settings, the index folder, and errors as one line."""

from pathlib import Path

import click
import msgspec

from runtime.processes.actor_groups import actor_processes
from runtime.settings import Settings, SettingsError, load


def read_settings(config: Path | None = None, *, index: Path | None = None, port: int | None = None) -> Settings:
    """The settings in force with what the command line adds. Raises click.UsageError."""
    try:
        settings = load(config)
        actor_processes(settings)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    if index is not None:
        changed = msgspec.structs.replace(settings.index, dir=str(index.resolve()))
        settings = msgspec.structs.replace(settings, index=changed)
    if port is not None:
        settings = msgspec.structs.replace(settings, edge=msgspec.structs.replace(settings.edge, port=port))
    return settings


def check_profile(name: str) -> str:
    """The profile's name. Raises click.UsageError with the nearest one there is."""
    from actors.answer.profile import folder
    from prompts import profiles

    try:
        profiles.load(name, folder())
    except profiles.ProfileError as error:
        raise click.UsageError(str(error)) from None
    return name


def check_index(directory: Path) -> Path:
    """The folder, if it holds an index. Raises click.UsageError with the command that makes one."""
    if not (directory / "current").exists():
        what = "does not exist" if not directory.exists() else "holds no index"
        raise click.UsageError(f"{directory} {what}; make one with `groundwire index build PATH --out {directory}`")
    return directory
