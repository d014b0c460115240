"""Notebooks as they are written by Jupyter, and by hand."""

import nbformat
import pytest

from index.readers import Source, Unreadable, read


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
    document = read(Source(nbformat.writes(notebook).encode(), "a.ipynb", "a", ".ipynb"))
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
        read(Source(data, "a.ipynb", "a", ".ipynb"))
