"""The generated tables match the code."""

import pytest

from tests.readme_tables import BLOCK, FILES, PARTS, ROOT, filled


@pytest.mark.parametrize("name", FILES)
def test_tables_are_current(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert filled(text) == text, "write them again: uv run python tests/readme_tables.py"


def test_every_table_is_used() -> None:
    found = {block[1] for name in FILES for block in BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))}
    assert found == set(PARTS)
