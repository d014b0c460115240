"""`groundwire prompts`: list the prompts, print one to change, check the owner's own, show what they change, and compare two."""

import difflib
from pathlib import Path

import click

from index.languages.toml_check import nearest
from prompts.contracts import PROMPTS
from prompts.files import FOLDER, file_of
from prompts.library import PARTIALS, Library, problems_in
from runtime.commands.lazy_group import LazyGroup
from runtime.commands.options import end_if_wrong, own_folder
from runtime.terminal import say

NAMES = (*(prompt.name for prompt in PROMPTS), *(f"_{name}" for name in PARTIALS))
OWN = own_folder("Folder of your own prompts.")


@click.group("prompts", cls=LazyGroup, parts={"compare": ("prompts_compare", "compare_command")})
def prompts_group() -> None:
    """Work with prompts: a file NAME.prompt in the folder of your profiles replaces the built-in one.

    A file in the folder's subfolder PROFILE replaces it under that profile alone.
    """


@prompts_group.command("list")
@OWN
def list_prompts(folder: Path | None) -> None:
    """Print every prompt with its description and its file."""
    end_if_wrong(list(problems_in(_folders(folder))))
    library = Library(folders=_folders(folder))
    for name in (prompt.name for prompt in PROMPTS):
        path = file_of(name, _folders(folder))
        place = "built in" if path.parent == FOLDER else str(path)
        say(f"{name:<20} {library.file(name).description}  [{place}]")


@prompts_group.command("show")
@click.argument("name")
@OWN
def show_prompt(name: str, folder: Path | None) -> None:
    """Print the file of a prompt, or of a part such as `_cite`: copy it to your folder to change it."""
    if name not in NAMES:
        raise click.UsageError(f"there is no prompt '{name}'{nearest(name, NAMES)}")
    say(file_of(name, _folders(folder)).read_text(encoding="utf-8"), nl=False)


@prompts_group.command("check")
@OWN
def check_prompts(folder: Path | None) -> None:
    """Check your own prompts. Exits 2 when one is wrong."""
    end_if_wrong(list(problems_in(_folders(folder))))
    say(f"{len(_own(folder))} own prompts: good")


@prompts_group.command("diff")
@OWN
def diff_prompts(folder: Path | None) -> None:
    """Print what your own prompts change."""
    for path in _own(folder):
        ours, theirs = (
            each.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True) if each.is_file() else []
            for each in (file_of(path.stem), path)
        )
        lines = difflib.unified_diff(ours, theirs, f"built in/{path.name}", str(path))
        say("".join(lines), nl=False)


def _folders(folder: Path | None) -> tuple[Path, ...]:
    if folder is None:
        return ()
    return (folder, *(below for below in sorted(folder.iterdir()) if below.is_dir()))


def _own(folder: Path | None) -> list[Path]:
    return [path for each in _folders(folder) for path in sorted(each.glob("*.prompt"))]
