"""Source code, data files and notebooks as a person reads them."""

import json

import nbformat
import pytest

from index.documents.files import unsupported
from index.readers import Source, Unreadable, read
from tests.index.readers.office import blocks, given


def test_long_data_is_cut_at_its_keys() -> None:
    many = json.dumps({f"key{number}": [1] * 8 for number in range(40)})
    assert len(given(many.encode(), ".json").blocks) > 10


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.js", "x" * 6000, "minified"),
        ("a.json", '{"a": "' + "x" * 1_100_000 + '"}', "more than 1 MB"),
        ("package-lock.json", "{}", "list of versions"),
    ],
)
def test_what_programs_wrote_is_left_out(name: str, text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason) as caught:
        read(Source(text.encode(), name, "a", "." + name.rpartition(".")[2]))
    assert not caught.value.failed


def test_unread_format_has_its_remedy() -> None:
    assert str(unsupported("plans.XPS")) == "not read: XPS; print it as PDF"
    assert "asciidoctor" in str(unsupported("guide.adoc"))
    assert unsupported("a.py") is None


def test_deeply_nested_json_is_kept_unformatted() -> None:
    text = '{"pump": ' + "[" * 5000 + "1" + "]" * 5000 + "}"
    assert blocks(given(text.encode(), ".json")) == [("code", text)]


def test_cells_and_what_they_wrote() -> None:
    v4 = nbformat.v4
    outputs = [
        v4.new_output("stream", name="stdout", text="\x1b[31mred\x1b[0m\n" + "line\n" * 600),
        v4.new_output("execute_result", data={"text/plain": "<Figure size 640x480>", "image/png": "AAAA"}),
        v4.new_output("display_data", data={"text/plain": "320", "text/html": "<b>320</b>"}),
        v4.new_output("error", ename="ValueError", evalue="too hot", traceback=["long"]),
    ]
    notebook = v4.new_notebook(
        metadata={"language_info": {"name": "python"}, "authors": [{"name": "Ada Stein"}]},
        cells=[
            v4.new_markdown_cell("# The furnace\n\nIt is hot."),
            v4.new_code_cell("pour()", outputs=outputs),
            v4.new_code_cell("%%bash\nls"),
        ],
    )
    document = given(nbformat.writes(notebook).encode(), ".ipynb")
    assert (document.title, document.metadata.author) == ("The furnace", "Ada Stein")
    kinds = [(block.kind, block.syntax) for block in document.blocks]
    assert kinds == [("heading", ""), ("prose", ""), ("code", "python"), *[("code", "text")] * 3, ("code", "bash")]
    texts = [document.text[block.start : block.end] for block in document.blocks]
    assert texts[1:3] == ["It is hot.", "pour()"]
    assert texts[3].startswith("red\nline")
    assert texts[3].endswith("line\n…")
    assert len(texts[3]) < 2010
    assert texts[4:6] == ["320", "ValueError: too hot"]


@pytest.mark.parametrize("data", [b"{}", b"no json", b'{"nbformat": 4, "cells": 3}', b"[1]"])
def test_invalid_notebook_has_a_reason(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"notebook|no text"):
        given(data, ".ipynb")
