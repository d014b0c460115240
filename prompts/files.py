"""The `.prompt` files as texts, without the parser and renderer, which take long to load."""

import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent

_TAG = re.compile(r"</?([a-z_]+)[ >]")
_REMEMBERED = re.compile(r"^remembered: true$", re.M)


def source_of(name: str, folder: Path = FOLDER) -> str:
    """The text of the file of that prompt."""
    return (folder / f"{name}.prompt").read_text(encoding="utf-8")


def is_remembered(source: str) -> bool:
    """Whether replies to a prompt are cached: its front matter has `remembered: true`."""
    return bool(_REMEMBERED.search(source.split("\n---\n", 1)[0]))


def tags_of(sources: Iterable[str]) -> set[str]:
    """The names of the tags that prompts put around their values."""
    return {tag for source in sources for tag in _TAG.findall(source)}
