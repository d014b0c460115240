"""`index.originals = false`: text is shown, files and pictures of pages are not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bus.powers.sources import NotServed, PageAsked, PieceAsked, SourceText, TextAsked
from index.build.ingest import bring_in
from index.search.searcher import Searcher
from runtime.processes.source_reading import Sources
from tests.runtime.sources.documents import pdf


async def test_files_stay_where_they_are(tmp_path: Path) -> None:
    root = tmp_path / "documents"
    root.mkdir()
    (root / "handbook.pdf").write_bytes(pdf())
    bring_in(tmp_path / "index", [str(root)], only=True, processes=1)
    searcher = Searcher.open(tmp_path / "index")

    async def on_index[T](work: Callable[[Searcher], T]) -> T:
        return work(searcher)

    shut, opened = (Sources(on_index, originals=each) for each in (False, True))
    text, other = (
        await shut.find(TextAsked(source_id="handbook.pdf")),
        await opened.find(TextAsked(source_id="handbook.pdf")),
    )
    assert isinstance(text, SourceText)
    assert isinstance(other, SourceText)
    assert (text.original, text.media_type, text.text) == ("", "", other.text)
    assert other.original == "/v1/sources/handbook.pdf/original"
    for asked in (PieceAsked(source_id="handbook.pdf"), PageAsked(source_id="handbook.pdf", page=1)):
        with pytest.raises(NotServed, match=r"index\.originals"):
            await shut.find(asked)
    searcher.close()
