"""The implementations under test, and an index of each: one that no test changes, and an empty one for each test."""

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from uuid import uuid4

import pytest

from index.build.opening import Index, index_at
from index.model import Document, Metadata
from index.opensearch.opening import OpenSearchIndex
from index.search.searcher import Searcher
from tests.index.conftest import DOCUMENTS, update
from tests.opensearch.building import place
from tests.opensearch.cluster import Cluster, shared

Empty = Callable[[Path], Index]

#: The implementations; one that needs a server gets it from a fixture, which is requested only then.
BODIES = ("folder", "opensearch")

_SAME = "The night guard signs the register at the east gate every evening before the lamps are lit in the long hall."

#: In addition to five languages: documents for some groups only, tagged, dated, and one with the content of another.
LIBRARY = (
    *DOCUMENTS,
    Document(
        source_id="board/salary.md",
        title="Salaries",
        text="The zirconium bonus of the directors is paid in May. Directors vote on it in April.",
        language="en",
        metadata=Metadata(groups=("board",), tags=("Money",), date="2026-03-01"),
    ),
    Document(
        source_id="board/plan.md",
        title="Plan",
        text="The directors close the foundry in the year after next. No visitor is told.",
        language="en",
        metadata=Metadata(groups=("board", "works"), tags=("plans",), date="2025-01-31"),
    ),
    Document(source_id="guard/a.md", title="Guard", text=_SAME, language="en", metadata=Metadata(tags=("Night",))),
    Document(source_id="guard/b.md", title="Guard", text=_SAME, language="en", metadata=Metadata(date="2024-06-01")),
    Document(
        source_id="long.md",
        title="Long",
        text="\n\n".join(
            f"Part {n} of the handbook tells how machine {n} is cleaned, oiled and locked before the shift ends. " * 6
            for n in range(30)
        ),
        language="en",
        pages=tuple((n * 1800, n + 1) for n in range(10)),
    ),
)


@pytest.fixture(scope="session", params=BODIES)
def body(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def running_cluster(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Cluster]:
    yield from shared(tmp_path_factory, worker_id)


@pytest.fixture(scope="session")
def empty(body: str, request: pytest.FixtureRequest) -> Empty:
    """What makes a new index of this body, without a snapshot."""
    if body == "folder":
        return index_at
    cluster: Cluster = request.getfixturevalue("running_cluster")
    return lambda folder: OpenSearchIndex(place(cluster, uuid4().hex))


@pytest.fixture(autouse=True)
def nodes_stay(body: str, request: pytest.FixtureRequest) -> Iterator[None]:
    """No other test kills a node meanwhile."""
    with request.getfixturevalue("running_cluster").together() if body == "opensearch" else nullcontext():
        yield


@pytest.fixture(scope="session")
def library(empty: Empty, tmp_path_factory: pytest.TempPathFactory) -> Index:
    index = empty(tmp_path_factory.mktemp("contract") / "library")
    update(index, LIBRARY)
    return index


@pytest.fixture(scope="session")
def reader(library: Index) -> Iterator[Searcher]:
    with closing(Searcher.open(library)) as searcher:
        yield searcher


@pytest.fixture
def index(empty: Empty, tmp_path: Path) -> Index:
    return empty(tmp_path / "index")


def ids(searcher: Searcher, query: str, groups: tuple[str, ...] | None = None) -> list[str]:
    return [hit.source_id for hit in searcher.search(query, k=10, groups=groups)]
