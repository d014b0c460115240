"""Six documents in every format that a program here writes, each compared with its golden list of blocks."""

import msgspec
import pytest

from index.readers import all_formats
from tests.documents.described import (
    Table,
    described,
    words,
)
from tests.documents.golden import able, document, kept, listed, told
from tests.documents.writers import WRITERS
from tests.documents.written import assert_sliced

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
