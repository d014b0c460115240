"""`groundwire profiles`: list the profiles, print one in full, check files."""

import sys
from pathlib import Path
from typing import Any

import click
import msgspec
import tomli_w
from rich.table import Table

from prompts.profiles import BUILT_IN, Profile, ProfileError, find, load, names, read
from runtime.commands.consoles import plain_console
from runtime.commands.options import end_if_wrong, own_folder
from runtime.terminal import say

FOLDER = own_folder("Folder of your own profiles; they replace built-in ones of the same name.")


@click.group("profiles")
def profiles_group() -> None:
    """Work with profiles: what the service answers about, how it writes, how strict it is."""


@profiles_group.command("list")
@FOLDER
def list_profiles(folder: Path | None) -> None:
    """Print every profile, one row each."""
    table = Table(box=None, pad_edge=False)
    for heading in ("profile", "languages", "simple / complex", "release", "voice", "verifier", "from", "what it is"):
        table.add_column(heading, overflow="fold")
    wrong = []
    for name in names(folder):
        path = find(name, folder)
        try:
            profile = load(name, folder)
        except ProfileError as problem:
            wrong.append(str(problem))
            continue
        styles = f"{profile.simple_style} / {profile.complex_style}"
        languages, verifier = " ".join(profile.languages), "yes" if profile.verify else "no"
        place = "built in" if path.parent == BUILT_IN else str(path.parent)
        voice = profile.answers.voice or "by setting"
        table.add_row(name, languages, styles, profile.release, voice, verifier, place, profile.description)
    plain_console(width=None if sys.stdout.isatty() else 200).print(table)
    end_if_wrong(wrong)


@profiles_group.command("show")
@click.argument("name")
@FOLDER
def show_profile(name: str, folder: Path | None) -> None:
    """Print a profile as TOML, with inherited values and defaults."""
    try:
        profile = load(name, folder)
    except ProfileError as problem:
        end_if_wrong([str(problem)])
        return
    say(to_toml(profile), nl=False)


@profiles_group.command("check")
@click.argument("which", nargs=-1)
@FOLDER
def check_profiles(which: tuple[str, ...], folder: Path | None) -> None:
    """Check profiles by name or file; all of them by default. Exits 2 when one is wrong."""
    wrong: list[str] = []
    for one in which or names(folder):
        try:
            path = Path(one) if one.endswith(".toml") else find(one, folder)
        except ProfileError as problem:
            wrong.append(str(problem))
            continue
        problems = read(path, folder or path.parent)[1]
        wrong += [f"{path}: {problem}" for problem in problems]
        if not problems:
            say(f"{path.stem}: good")
    end_if_wrong(wrong)


def to_toml(profile: Profile) -> str:
    """A profile as TOML that `load` reads back unchanged; None is left out and the name is a comment."""
    raw = _said(msgspec.to_builtins(profile))
    return f"# {raw.pop('name')}\n\n{tomli_w.dumps(raw)}"


def _said(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: _said(value) if isinstance(value, dict) else value for key, value in raw.items() if value is not None}
