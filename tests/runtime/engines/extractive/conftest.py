"""An index of the demo documents, built once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from index.build.ingest import bring_in
from index.search.searcher import Searcher
from runtime import demo

DOCUMENTS = Path(demo.__file__).parent / "documents"


@pytest.fixture(scope="session")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    folder = tmp_path_factory.mktemp("demo-index")
    bring_in(folder, [str(DOCUMENTS)], only=True)
    opened = Searcher.open(folder)
    yield opened
    opened.close()
