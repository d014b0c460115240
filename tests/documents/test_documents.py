"""Six documents in every format that a program here writes, each compared with its golden list of blocks.

pandoc and LibreOffice write some of them too, on a machine that has them.
"""

import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from index.model import Document
from index.readers import Source, all_formats, by_suffix, read
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
from tests.documents.golden import able, document, kept, listed, told
from tests.documents.writers import WRITERS
from tests.documents.writers.markup import markdown

EACH = [
    pytest.param(suffix, language, id=f"{suffix[1:]}-{language}") for suffix in listed() for language in able(suffix)
]
#: Formats that nothing here writes, with the reason; those that need an extra have their tests where it is installed.
NOT_WRITTEN = {
    "Excel 97–2003, Excel binary": "no library that is kept writes it",
    "XML": "it has no place for such a document",
    "Data": "it has no place for such a document",
    "Source code": "it has no place for such a document",
}


def test_every_format_is_here() -> None:
    here = set(listed())
    absent = {one.name for one in all_formats() if not one.extra and not here & set(one.suffixes)}
    assert absent == set(NOT_WRITTEN)


@pytest.mark.parametrize(("suffix", "language"), EACH)
def test_document_matches_its_golden_list(suffix: str, language: str) -> None:
    assert told(suffix, language) == kept(suffix)[language]


@pytest.mark.parametrize(("suffix", "language"), EACH)
def test_every_block_is_a_slice_with_all_words(suffix: str, language: str) -> None:
    made = document(suffix, language)
    assert_sliced(made)
    holds = WRITERS[suffix].holds
    source = described(language)
    parts = [block for block in source.blocks if not holds or block.__struct_config__.tag in holds]
    if holds:  # and a table's caption has no place either
        parts = [msgspec.structs.replace(block, caption="") if isinstance(block, Table) else block for block in parts]
    text = "\n".join(made.text[block.start : block.end] for block in made.blocks)
    said = words(msgspec.structs.replace(source, blocks=parts))
    assert [word for word in said if word not in text] == []


def assert_sliced(made: Document) -> None:
    """Blocks are in order, do not overlap, and leave nothing out that can be seen."""
    end = 0
    for block in made.blocks:
        assert end <= block.start < block.end <= len(made.text)
        assert not made.text[end : block.start].strip()
        assert block.intro is None or 0 <= block.intro[0] < block.intro[1] <= len(made.text)
        end = block.end
    assert not made.text[end:].strip()


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
