"""The same documents written by pandoc and LibreOffice, where a machine has them: what their files look like is their own."""

import shutil
import subprocess
from pathlib import Path

import pytest

from index.model import Document
from index.readers import Source, by_suffix, read
from tests.documents.described import (
    Code,
    Definition,
    Described,
    Heading,
    Item,
    Items,
    Quotation,
    Table,
    described,
    joined_header,
    spread,
    words,
)
from tests.documents.golden import listed
from tests.documents.test_documents import assert_sliced
from tests.documents.writers import WRITERS
from tests.documents.writers.markup import markdown

#: A format of pandoc's, its suffix, and a language; together they are all six.
BY_PANDOC = [
    ("docx", ".docx", "ko"),
    ("docx", ".docx", "ar"),
    ("pptx", ".pptx", "fr"),
    ("odt", ".odt", "es"),
    ("epub", ".epub", "zh"),
    ("html", ".html", "ar"),
    ("rst", ".rst", "en"),
    ("ipynb", ".ipynb", "zh"),
]
#: Features that pandoc cannot write in a format, or no longer writes.
LOST_BY_PANDOC = {
    ".ipynb": ("definition",),
    ".odt": ("definition",),
    ".rst": ("heading", "definition"),  # below the title, which is a heading of its own
    ".pptx": ("code", "definition", "heading", "quotation", "list_item"),
}
#: What LibreOffice makes of our own files: the suffix of the file, that of the one wanted, the language.
BY_OFFICE = [(".xlsx", ".ods", "ko"), (".xlsx", ".xls", "fr"), (".docx", ".odt", "ar"), (".docx", ".docx", "zh")]


@pytest.mark.parametrize(("form", "suffix", "language"), BY_PANDOC)
def test_what_pandoc_writes(form: str, suffix: str, language: str, tmp_path: Path) -> None:
    program = shutil.which("pandoc")
    if program is None:
        pytest.skip("no pandoc on this machine")
    if suffix not in by_suffix() or (suffix in WRITERS and suffix not in listed()):
        pytest.skip(f"{suffix} has no golden list to compare with")
    source = described(language)
    written = tmp_path / f"shed{suffix}"
    command = [program, "--standalone", "--from=markdown", f"--to={form}", f"--output={written}"]
    subprocess.run(command, input=markdown(source), check=True, capture_output=True)
    made = read(Source(written.read_bytes(), written.name, "shed", suffix))
    assert_kept(made, source, LOST_BY_PANDOC.get(suffix, ()))


@pytest.mark.parametrize(("given", "suffix", "language"), BY_OFFICE)
def test_what_libreoffice_writes(given: str, suffix: str, language: str, tmp_path: Path) -> None:
    """Its words alone: it is free in how it writes the rest."""
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("no LibreOffice on this machine")
    if suffix not in by_suffix():
        pytest.skip(f"{suffix} is not read")
    source = described(language)
    ours, folder = tmp_path / f"shed{given}", tmp_path / "written"
    ours.write_bytes(WRITERS[given].write(source))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [program, profile, "--headless", "--convert-to", suffix[1:], "--outdir", str(folder), str(ours)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    made = read(Source((folder / f"shed{suffix}").read_bytes(), "shed", "shed", suffix))
    assert_sliced(made)
    assert [word for word in words(source) if word not in made.text] == []


def assert_kept(made: Document, source: Described, lost: tuple[str, ...]) -> None:
    assert_sliced(made)
    assert [word for word in words(source) if word not in made.text] == []
    found = {(block.kind, block.level, made.text[block.start : block.end]) for block in made.blocks}
    assert [one for one in expected(source) if one[0] not in lost and one not in found] == []


def expected(source: Described) -> list[tuple[str, int, str]]:
    """The blocks that are the same in every format."""
    blocks: list[tuple[str, int, str]] = []
    for block in source.blocks:
        match block:
            case Heading():
                blocks.append(("heading", block.level, block.text))
            case Items():
                blocks += _items(block.items, ordered=block.ordered)
            case Table():
                names, rows = joined_header(block), spread(block)[block.header :]
                blocks.append(("table_header", 0, " | ".join(names)))
                blocks += [
                    ("table_row", 0, " | ".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True)))
                    for row in rows
                ]
            case Code():
                blocks.append(("code", 0, block.text))
            case Quotation():
                blocks.append(("quotation", 0, block.text))
            case Definition():
                blocks.append(("definition", 0, f"{block.term}: {block.text}"))
            case _:
                pass
    return blocks


def _items(items: list[Item], level: int = 1, *, ordered: bool = False) -> list[tuple[str, int, str]]:
    found: list[tuple[str, int, str]] = []
    for number, item in enumerate(items, 1):
        found.append(("list_item", level, f"{f'{number}.' if ordered else '-'} {item.text}"))
        if item.code:
            found.append(("code", 0, item.code))
        found += _items(item.inner, level + 1)
    return found
