"""The `.prompt` files as texts, without the parser and renderer, which take long to load."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent

_TAG = re.compile(r"</?([a-z_]+)[ >]")
_REMEMBERED = re.compile(r"^remembered: true$", re.M)


def file_of(name: str, folders: Sequence[Path] = ()) -> Path:
    """The file of that prompt or part: in the first of `folders` that has it, else the built-in one."""
    files = (folder / f"{name}.prompt" for folder in folders)
    return next((file for file in files if file.is_file()), FOLDER / f"{name}.prompt")


def source_of(name: str, folders: Sequence[Path] = ()) -> str:
    """The text of the file of that prompt or part."""
    return file_of(name, folders).read_text(encoding="utf-8")


def is_remembered(source: str) -> bool:
    """Whether replies to a prompt are cached: its front matter has `remembered: true`."""
    return bool(_REMEMBERED.search(source.split("\n---\n", 1)[0]))


def tags_of(sources: Iterable[str]) -> set[str]:
    """The names of the tags that prompts put around their values."""
    return {tag for source in sources for tag in _TAG.findall(source)}
