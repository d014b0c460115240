"""JSONL: a document a line, its metadata, and broken lines."""

import io
import json

import pytest

from index.model import Document, Metadata
from index.readers import read_records


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


def test_unreadable_groups_hide_the_document() -> None:
    line = b'{"source_id":"a","text":"one","groups":{"staff":true},"tags":{"odd":1}}'
    ((_, found),) = read_records(io.BytesIO(line))
    assert "groups" in str(found)
