"""The same documents give the same hits, with the same scores, from a folder and from OpenSearch."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from index.model import Hit
from index.search.searcher import Searcher
from tests.index import conftest as small
from tests.opensearch.building import place, searching, update
from tests.opensearch.cluster import Cluster

QUESTIONS = (
    "환불은 며칠 안에 신청하나요",
    "helmet ISO-9001",
    "近视 每天户外活动",
    "Quand ferme l'inscription à l'université ?",
    "متى يجب على الطالب الحضور",
    "who opens the reading room of the reading room",
    "Article L. 123-4",
    "“”!",
)
OPTIONS = ({}, {"vector_k": 0}, {"bm25_k": 0}, {"topic": "a helmet"}, {"bm25_k": 2, "vector_k": 1})
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Both:
    local: Searcher
    remote: Searcher


@pytest.fixture(scope="module")
def both(running_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder: Path = tmp_path_factory.mktemp("same") / "index"
    small.update(folder, small.DOCUMENTS)
    where = place(running_cluster, f"same-{folder.parent.name}-{id(folder)}")
    with running_cluster.together():
        update(where, small.DOCUMENTS)
        local = Searcher.open(folder)
        with searching(where) as remote:
            yield Both(local, remote)
        local.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_hits_are_the_same(both: Both, cluster: Cluster, question: str) -> None:
    for options in OPTIONS:
        expected = [told(hit) for hit in both.local.search(question, **options)]
        found = [told(hit) for hit in both.remote.search(question, **options)]
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            for field, value in other.items():
                same = pytest.approx(value, abs=TOLERANCE) if isinstance(value, float) else value
                assert one[field] == same, (question, options, field)


def told(hit: Hit) -> dict[str, object]:
    """All of a hit but its snapshot."""
    fields = {name: getattr(hit, name) for name in hit.__struct_fields__}
    del fields["snapshot"]
    return fields


def test_statistics_match_the_local_index(both: Both, cluster: Cluster) -> None:
    local, remote = both.local, both.remote
    assert remote.languages() == local.languages()
    assert remote.rarity(["helmet", "환불", "unheard"]) == pytest.approx(local.rarity(["helmet", "환불", "unheard"]))
    assert sorted(e.source_id for e in remote.entries()) == sorted(e.source_id for e in local.entries())
    assert remote.source("refund") == local.source("refund")
    assert remote.source("nobody's") is None
    listed = [(entries, total) for entries, total, _ in (remote.sources("exam", 3), local.sources("exam", 3))]
    assert listed[0] == listed[1]
    beginnings = [{one.text for one in s.beginnings(s.entries(), 1)} for s in (remote, local)]
    assert beginnings[0] == beginnings[1]
