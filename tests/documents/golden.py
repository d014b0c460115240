"""The blocks read from each written document, kept in `golden/`, a file for each format.

uv run python -m tests.documents.golden        # write them again; look at what changed
"""

import re
from functools import cache
from pathlib import Path

from index.model import Document
from index.readers import Source, by_suffix, read
from tests.documents.described import LANGUAGES, described
from tests.documents.writers import WRITERS
from tests.documents.written import lines, quoted

FOLDER = Path(__file__).parent / "golden"
_LANGUAGE = re.compile(r"^== (\w\w)\n", re.MULTILINE)


@cache
def document(suffix: str, language: str) -> Document:
    data = WRITERS[suffix].write(described(language))
    return read(Source(data, f"shed{suffix}", "shed", suffix))


def told(suffix: str, language: str) -> str:
    """The result of reading: the document's metadata, then a line for each block."""
    made = document(suffix, language)
    about = made.metadata
    said = (made.title, made.language or "", about.author, about.date, ", ".join(about.tags))
    return "\n".join([" | ".join(map(quoted, said)), *lines(made)]) + "\n"


def kept(suffix: str) -> dict[str, str]:
    """The golden text of each language."""
    parts = _LANGUAGE.split((FOLDER / f"{suffix[1:]}.txt").read_text(encoding="utf-8"))
    return {language: text.rstrip("\n") + "\n" for language, text in zip(parts[1::2], parts[2::2], strict=True)}


def listed() -> list[str]:
    """The formats, by their suffix, that have a golden list."""
    return [suffix for suffix in WRITERS if (FOLDER / f"{suffix[1:]}.txt").exists()]


def able(suffix: str) -> list[str]:
    """The languages that the format's program writes."""
    unable = dict(WRITERS[suffix].unable)
    return [language for language in LANGUAGES if language not in unable]


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for suffix in WRITERS:
        if suffix in by_suffix():
            text = "\n".join(f"== {language}\n{told(suffix, language)}" for language in able(suffix))
            (FOLDER / f"{suffix[1:]}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
