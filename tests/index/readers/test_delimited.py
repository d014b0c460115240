"""CSV and TSV: any delimiter, quotes and header are detected."""

import csv
import io
import time

import pytest
from hypothesis import given as each
from hypothesis import strategies as st

from index.text.passages import cut
from tests.index.readers.office import blocks, given

TABLES = {
    "commas": ("a,b\n1,2\n", ["a | b", "a: 1 | b: 2"]),
    "semicolons, with decimal commas": ("Ville;Prix\nLyon;1,5\nNice;2,5\n", ["Ville | Prix", "Ville: Lyon | Prix: 1,5"]),
    "bars": ("a|b\n1|2, 3\n4|5, 6\n", ["a | b", "a: 1 | b: 2, 3"]),
    "tabs in a .csv": ("a\tb\n1\t2\n", ["a | b", "a: 1 | b: 2"]),
    "a byte order mark": ("\ufeffa,b\n1,2\n", ["a | b", "a: 1 | b: 2"]),
    "line breaks and delimiters in quotes": (
        'name,text\nAnn,"one, two\n\nthree"\nBo,"say ""no"""\n',
        ["name | text", "name: Ann | text: one, two three", 'name: Bo | text: say "no"'],
    ),
    "no header": ("01,Andalucía\n02,Aragón\n", ["01 | Andalucía", "02 | Aragón"]),
    "a title above": ("Fees of 2024\n\na,b\nx,1\n", ["Fees of 2024", "a | b", "a: x | b: 1"]),
    "rows of unequal length": ("a,b,c\n1,2\n3,4,5,6\n", ["a | b | c", "a: 1 | b: 2", "a: 3 | b: 4 | c: 5 | 6"]),
    "empty cells and rows": ("a,b,c\n1,,3\n,,\n\n4,5,6\n", ["a | b | c", "a: 1 | c: 3", "a: 4 | b: 5 | c: 6"]),
    "a quote that is never closed": ('a,b\n5" pipe,1\n"odd,2\nx,3\n', ["a | b", 'a: 5" pipe | b: 1', 'a: "odd | b: 2']),
    "one column": ("name\nAnn\nBo\n", ["name", "name: Ann", "name: Bo"]),
    "a header alone": ("a,b\n", ["a | b"]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_with(name: str) -> None:
    text, rows = TABLES[name]
    assert [found for _, found in blocks(given(text.encode(), ".csv"))][: len(rows)] == rows


def test_kinds() -> None:
    assert [kind for kind, _ in blocks(given(b"a\tb\n1\t2\n", ".tsv"))] == ["table_header", "table_row"]
    assert [kind for kind, _ in blocks(given(b"1,2\n3,4\n", ".csv"))] == ["table_row", "table_row"]


@each(
    st.lists(
        st.lists(st.text("ab ,;|\t\"'\né한", max_size=8), min_size=2, max_size=4).filter(
            lambda row: any(map(str.strip, row))
        ),
        max_size=5,
    ),
    st.sampled_from(",;\t|"),
)
def test_every_cell_is_kept(rows: list[list[str]], delimiter: str) -> None:
    file = io.StringIO()
    names = ["first", "second", "third", "fourth"]
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([names, *rows, ["1", "2", "3", "4"]])
    text = given(file.getvalue().encode(), ".csv").text
    for cells in rows:
        for cell in cells:
            assert " ".join(cell.split()) in text


def test_a_large_file_is_quick() -> None:
    data = ("id,name,town\n" + "".join(f"{number},Name {number},Town\n" for number in range(100_000))).encode()
    began = time.monotonic()
    assert len(given(data, ".csv").blocks) == 100_001
    assert time.monotonic() - began < 15


def test_split_row_repeats_its_key_and_columns() -> None:
    names = ["Country", "Code", *(f"column {number}" for number in range(50))]
    rows = [[country, code, *["some text of a cell"] * 50] for country, code in (("France", "FR"), ("Korea", "KR"))]
    file = io.StringIO()
    csv.writer(file).writerows([names, *rows])
    passages = [one for one in cut(given(file.getvalue().encode(), ".csv"), 0) if one.blocks[0].kind == "table_row"]
    assert len(passages) > 3
    for passage in passages:
        begins = passage.text.startswith(("Country: France | Code: FR", "Country: Korea | Code: KR"))
        assert begins or passage.intros[-1].startswith(("Country: France | Code: FR", "Country: Korea | Code: KR"))
        assert all(": " in cell for cell in passage.text.strip(" |").replace("\n", " | ").split(" | ") if cell)


@pytest.mark.parametrize("cell", ["word " * 40_000, '"' + "a line\n" * 30_000 + '"'], ids=["bare", "in quotes"])
def test_very_long_cell_is_read(cell: str) -> None:
    rows = blocks(given(f"name,text\nAnn,{cell}\nBo,short\n".encode(), ".csv"))
    assert [kind for kind, _ in rows] == ["table_header", "table_row", "table_row"]
    assert rows[1][1].startswith("name: Ann | text: ")
    assert rows[2][1] == "name: Bo | text: short"
