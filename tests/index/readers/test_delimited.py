"""CSV, TSV and JSONL: dialects and headers are detected, broken lines reported."""

import csv
import io
import json
import time

import pytest
from hypothesis import given as each
from hypothesis import strategies as st

from index.model import Document, Metadata
from index.readers import read_records
from index.text.passages import cut
from tests.index.readers.office import blocks, given


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
    data = ("id,name,town\n" + "".join(f"{number},Name {number},Town\n" for number in range(30_000))).encode()
    began = time.monotonic()
    assert len(given(data, ".csv").blocks) == 30_001
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


def test_broken_record_line_is_named() -> None:
    lines = [
        b'{"source_id":"a","text":"one"}',
        b"",
        b'{"source_id":"b","text":',
        b'{"text":"no id"}',
        b'{"source_id":7,"text":"seven","title":"T","url":"https://u.example","language":"ko","more":1}',
        b'{"source_id":"e","text":"  "}',
        b'{"source_id":"f\\n","text":"x"}',
        b'{"source_id":"g","text":"half \\ud800 pair"}',
        b'{"source_id":"","text":"x"}',
        b"\xff\xff",
        b"[1,2]",
    ]
    found = dict(read_records(io.BytesIO(b"\n".join(lines))))
    good = {number: item for number, item in found.items() if isinstance(item, Document)}
    assert sorted(good) == [1, 5, 7, 8] or sorted(good) == [1, 5, 7]
    assert (good[5].source_id, good[5].title, good[5].url, good[5].language) == (
        "7",
        "T",
        "https://u.example",
        "ko",
    )
    assert sorted(set(found) - set(good))[:3] == [3, 4, 6]
    assert "broken JSON" in str(found[3])
    assert "source_id" in str(found[4])


@pytest.mark.parametrize(
    ("source_id", "kept"),
    [("👩\u200d💻", True), ("نمی\u200cخواهم", True), ("資料\u3000一", True), ("[/x] :smile:", True), ("❤\ufe0f", True)]
    + [(f"a{mark}b", False) for mark in ("\x1b[2J", "\x9b", "\n", "\t", "\x7f", "\u202e", "\u2067", "\u2028")],
)
def test_id_allows_any_script_but_no_controls(source_id: str, kept: bool) -> None:
    ((_, found),) = read_records(io.BytesIO(json.dumps({"source_id": source_id, "text": "one"}).encode()))
    assert isinstance(found, Document) is kept
    assert kept or "control character" in str(found)


def test_metadata_of_a_record() -> None:
    record = {
        "source_id": "a",
        "text": "one",
        "author": ["Ann", {"name": "Bo"}],
        "date": "2024/3/1",
        "version": 2,
        "replaces": "old",
        "tags": "x, y",
        "groups": ["staff"],
    }
    ((_, document),) = read_records(io.BytesIO(json.dumps(record).encode()))
    assert isinstance(document, Document)
    assert document.metadata == Metadata(
        author="Ann, Bo", date="2024-03-01", version="2", replaces="old", tags=("x", "y"), groups=("staff",)
    )
