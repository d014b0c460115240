"""The tests' own OpenSearch is what it claims to be."""

import json
import urllib.request

from tests.opensearch import installed
from tests.opensearch.cluster import NODES, Cluster


def test_cluster_has_three_nodes_with_vectors(cluster: Cluster) -> None:
    with urllib.request.urlopen(f"{cluster.urls[0]}/_nodes/plugins", timeout=30) as reply:
        nodes = json.load(reply)["nodes"].values()
    assert len(nodes) == NODES
    assert {node["version"] for node in nodes} == {installed.VERSION}
    assert all("opensearch-knn" in {plugin["name"] for plugin in node["plugins"]} for node in nodes)
