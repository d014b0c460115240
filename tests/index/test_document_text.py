"""A document's text, put together again from its passages."""

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.model import Block, Document, Passage
from index.readers import Source, Unreadable, read
from index.snapshot.prepared import Prepared, prepare
from index.snapshot.segment import write_segment
from index.snapshot.store import PassageStore
from index.text.document_text import Read, stretch

_FILES = sorted(path for path in (Path(__file__).parents[1] / "documents" / "texts").rglob("*") if path.is_file())


def stored(folder: Path, prepared: Prepared) -> Read:
    write_segment(folder / "000000000000.bin", prepared.passages, prepared.hashes)
    store = PassageStore(folder)
    return lambda entry, start, count: [
        store.get(entry.first + place) for place in range(start, min(start + count, entry.count))
    ]


def documents() -> Iterator[Document]:
    for path in _FILES:
        try:
            yield read(Source(path.read_bytes(), path.name, path.stem, path.suffix.lower()))
        except (Unreadable, KeyError):
            continue
    sentence = "The gate of the yard opens at six on weekdays. "
    blocks, text = [], ""
    for n in range(60):
        begin = len(text)
        text += sentence * (1 + n % 50) + f"Part {n}."
        blocks.append(Block(begin, len(text), ("prose", "code", "quotation")[n % 3]))
        text += "\n\n***\n\n" if n % 7 == 0 else "\n\n"
    yield Document(
        source_id="long",
        title="Long",
        text=text,
        blocks=tuple(blocks),
        pages=tuple((n * 997, n + 1) for n in range(40)),
    )
    yield Document(source_id="plain", title="Plain", text=f"\n\n  {sentence * 200}\n \n{sentence}  \n")


def test_any_stretch_matches_the_document(tmp_path: Path) -> None:
    chosen = random.Random(13)
    seen = 0
    for n, document in enumerate(documents()):
        prepared = prepare(document)
        if not prepared.passages:
            continue
        folder = tmp_path / str(n)
        folder.mkdir()
        read_passages = stored(folder, prepared)
        whole = stretch(read_passages, prepared.entry, 0, 10**9)
        assert whole.text == document.text, document.source_id
        assert whole.whole
        shown = [block for block in document.blocks if any(map(str.isalnum, document.text[block.start : block.end]))]
        places = {(block.start, block.end, block.kind) for block in whole.blocks}
        assert places >= {(block.start, block.end, block.kind) for block in shown}, document.source_id
        for _ in range(20):
            start = chosen.randint(0, len(document.text))
            end = chosen.randint(start, len(document.text) + 10)
            part = stretch(read_passages, prepared.entry, start, end)
            assert part.text == document.text[start:end], (document.source_id, start, end)
            assert all(start <= block.start < block.end <= end for block in part.blocks)
            expected = [number for offset, number in document.pages if offset <= start][-1:]
            if document.pages and document.pages[0][0] == 0:
                assert [number for _, number in part.pages[:1]] == expected or part.start == part.end
        seen += 1
    assert seen > 5


@settings(max_examples=40)
@given(st.integers(0, 2000), st.integers(0, 2000))
def test_older_index_keeps_every_place(tmp_path_factory: pytest.TempPathFactory, start: int, length: int) -> None:
    document = Document(
        source_id="d", title="D", text="\n\n".join(["One is said here. " * 40, "Two is said there. " * 60])
    )
    prepared = prepare(document)
    older = [msgspec.structs.replace(one, before="", after="") for one in prepared.passages]
    read_passages = stored(tmp_path_factory.mktemp("older"), Prepared(prepared.entry, older, prepared.hashes))
    part = stretch(read_passages, prepared.entry, start, start + length)
    expected = document.text[start : start + length]
    assert len(part.text) == len(expected)
    assert part.text.replace("\n", " ") == expected.replace("\n", " ")
    assert part.text == expected or not part.whole


def test_a_record_of_before_is_read(tmp_path: Path) -> None:
    prepared = prepare(Document(source_id="d", title="D", text="One is said here. " * 300))
    fields = msgspec.to_builtins(prepared.passages[1])
    older = msgspec.msgpack.decode(msgspec.msgpack.encode(fields[: len(fields) - 4]), type=Passage)
    assert (older.text, older.before, older.pages, older.goes_on) == (prepared.passages[1].text, "", (), False)
