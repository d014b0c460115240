"""What the readers make of small sources. `cases/SUFFIX.txt` holds of each case its name, its source and what is read of it.

uv run python -m tests.index.readers.test_cases        # write what is read again; look at what changed
"""

import re
from pathlib import Path

import msgspec
import pytest

from index.readers import Source, read
from tests.documents.written import lines, quoted

FOLDER = Path(__file__).parent / "cases"
_CASE, _READ = re.compile(r"^== (.+)\n", re.MULTILINE), "\n=>\n"


def cases(path: Path) -> dict[str, tuple[str, str]]:
    """By name, the source and what is read of it."""
    parts = _CASE.split(path.read_text(encoding="utf-8"))[1:]
    pairs = (text.removesuffix("\n").partition(_READ) for text in parts[1::2])
    return {name: (source, told) for name, (source, _, told) in zip(parts[::2], pairs, strict=True)}


def told(source: str, suffix: str) -> str:
    """What the document says of itself, a line for each field that is not empty, then a line for each block."""
    document = read(Source(source.encode(), f"x{suffix}", "x", suffix))
    own = {"title": document.title if document.title != "x" else "", "url": document.url, "language": document.language}
    about = own | msgspec.to_builtins(document.metadata)
    said = [
        f"{name}: {quoted(', '.join(value) if isinstance(value, list | tuple) else str(value))}"
        for name, value in about.items()
        if value
    ]
    return "\n".join([*said, *lines(document)])


EACH = [
    pytest.param(f".{path.stem}", *case, id=f"{path.stem}-{name}")
    for path in sorted(FOLDER.iterdir())
    for name, case in cases(path).items()
]


@pytest.mark.parametrize(("suffix", "source", "expected"), EACH)
def test_source_is_read_as_in_its_case(suffix: str, source: str, expected: str) -> None:
    assert told(source, suffix) == expected


def write() -> None:
    for path in FOLDER.iterdir():
        parts = (
            f"== {name}\n{source}{_READ}{told(source, f'.{path.stem}')}\n" for name, (source, _) in cases(path).items()
        )
        path.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    write()
