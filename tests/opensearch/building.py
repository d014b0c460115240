"""Builds over the tests' cluster, as the commands do them."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from index.build.build import Build
from index.model import Document
from index.opensearch.client import Address, located
from index.opensearch.opening import OpenSearchIndex
from index.opensearch.states import OpenSearchSnapshots
from index.search.searcher import Searcher
from index.snapshot.prepared import prepare
from index.snapshot.snapshot import Manifest
from tests.opensearch.cluster import Cluster

#: A cluster on two busy cores is slow, and a test is not about that.
PATIENT_S = 30.0


def place(cluster: Cluster, name: str) -> Address:
    """An index of this name."""
    return located(f"{cluster.url}/{name}", timeout_s=PATIENT_S)


def update(
    place: Address, put: Iterable[Document] = (), remove: Iterable[str] = (), *, refit: bool = False
) -> Manifest:
    index = OpenSearchIndex(place)
    try:
        with index.writing(), closing(Build(index.sink())) as build:
            for source_id in remove:
                assert build.remove(source_id)
            for document in put:
                build.put(prepare(document))
            return build.publish(refit=refit)
    finally:
        index.close()


@contextmanager
def searching(place: Address, snapshot: str | None = None) -> Iterator[Searcher]:
    snapshots = OpenSearchSnapshots(place)
    try:
        searcher = Searcher.open(snapshots, snapshot)
        yield searcher
        searcher.close()
    finally:
        snapshots.close()
