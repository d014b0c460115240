"""The `.prompt` files as texts, and a prompt as a model gets it; without the parser of library.py, which takes long to load."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

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


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt ready for a model; `system` is the same in every call of a prompt."""

    system: str
    user: str
    version: str  # digest of the prompt file and what it includes
    schema: dict[str, Any] | None  # None: free text
    temperature: float
    max_tokens: int
    model: str = ""  # this prompt's own model; empty for the engine's
    reasoning_effort: str = ""  # for reasoning models; may be empty
