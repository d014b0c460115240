"""The real cluster for the tests of this folder; other folders that need it have their own fixture."""

from collections.abc import Iterator

import pytest

from tests.opensearch.cluster import Cluster, shared


@pytest.fixture(scope="session")
def running_cluster(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Cluster]:
    """One for all processes of the run."""
    yield from shared(tmp_path_factory, worker_id)


@pytest.fixture
def cluster(running_cluster: Cluster) -> Iterator[Cluster]:
    """No node is killed while a test has this."""
    with running_cluster.together():
        yield running_cluster


@pytest.fixture
def own_cluster(running_cluster: Cluster) -> Iterator[Cluster]:
    """For a test that kills nodes: exclusive use."""
    with running_cluster.alone():
        yield running_cluster
