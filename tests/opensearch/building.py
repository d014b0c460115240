"""Builds over the tests' cluster, as the commands do them."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from index.opensearch.client import Address, located
from index.opensearch.opening import OpenSearchIndex
from index.opensearch.states import OpenSearchSnapshots
from index.search.searcher import Searcher
from index.snapshot.snapshot import Manifest
from tests.index import conftest
from tests.opensearch.cluster import Cluster

#: A cluster on two busy cores is slow, and a test is not about that.
PATIENT_S = 30.0


def place(cluster: Cluster, name: str) -> Address:
    """An index of this name."""
    return located(f"{cluster.url}/{name}", timeout_s=PATIENT_S)


def update(place: Address, *put_and_remove: Iterable[Any]) -> Manifest:
    with closing(OpenSearchIndex(place)) as index:
        return conftest.update(index, *put_and_remove)


@contextmanager
def searching(place: Address, snapshot: str | None = None) -> Iterator[Searcher]:
    snapshots = OpenSearchSnapshots(place)
    try:
        searcher = Searcher.open(snapshots, snapshot)
        yield searcher
        searcher.close()
    finally:
        snapshots.close()
