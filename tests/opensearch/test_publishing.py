"""A snapshot is visible as a whole or not at all, for any fate of its build."""

import pytest

from index.errors import IndexProblem
from index.model import Document
from index.opensearch.client import Address, Client
from index.opensearch.layout import Names
from index.opensearch.lease import Lease
from index.opensearch.opening import OpenSearchIndex
from index.opensearch.sink import OpenSearchSink
from index.opensearch.states import OpenSearchSnapshots
from tests.opensearch.building import place, searching, update
from tests.opensearch.cluster import Cluster


def told(number: int, text: str) -> Document:
    return Document(source_id=f"note-{number}", title="Note", text=f"Keeper {number} of the lighthouse {text}.")


def texts(where: Address, snapshot: str | None = None) -> list[str]:
    with searching(where, snapshot) as searcher:
        return sorted(hit.text for hit in searcher.search("the keeper of the lighthouse", k=10))


@pytest.fixture
def where(cluster: Cluster, request: pytest.FixtureRequest) -> Address:
    return place(cluster, request.node.name.replace("test_", "").replace("_", "-"))


class Died(Exception):
    pass


def die(*_: object, **__: object) -> None:
    raise Died


def test_dead_build_is_never_visible(where: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    first = update(where, [told(1, "sleeps"), told(2, "reads")])
    with monkeypatch.context() as dying:
        dying.setattr(OpenSearchSink, "_show", die)
        with pytest.raises(Died):
            update(where, [told(1, "was never here"), told(3, "was never here")], ["note-2"])
    client = Client(where)
    names = Names(where, 1)
    assert client.count(names.passages, {"query": {"match_all": {}}}) == 4, "the dead build wrote nothing to be hidden"
    assert texts(where) == ["Keeper 1 of the lighthouse sleeps.", "Keeper 2 of the lighthouse reads."]
    with searching(where) as searcher:
        assert {entry.source_id for entry in searcher.entries()} == {"note-1", "note-2"}
    second = update(where, [told(4, "sings")])
    assert second.parent == first.snapshot
    assert texts(where) == [
        f"Keeper {n} of the lighthouse {does}." for n, does in ((1, "sleeps"), (2, "reads"), (4, "sings"))
    ]
    with searching(where) as searcher:
        assert {entry.source_id for entry in searcher.entries()} == {"note-1", "note-2", "note-4"}
    assert client.count(names.passages, {"query": {"match_all": {}}}) == 3, "what the dead build left is still there"
    client.close()


def test_one_process_writes_at_a_time(where: Address) -> None:
    one, other = OpenSearchIndex(where), OpenSearchIndex(where)
    with one.writing(), pytest.raises(IndexProblem, match="another process is writing"), other.writing():
        pytest.fail("both write")
    with other.writing():
        pass
    dead = Lease(one.client)
    dead.fall_silent()
    dead.renew(length_s=-1.0)
    with other.writing():
        pass
    with pytest.raises(IndexProblem, match="another process"):
        dead.renew()


def test_missing_index_or_snapshot_is_reported(where: Address) -> None:
    with pytest.raises(IndexProblem, match="groundwire index build"):
        OpenSearchSnapshots(where).newest()
    first = update(where, [told(1, "sleeps")])
    with pytest.raises(IndexProblem, match=first.snapshot):
        texts(where, "g000009-u000009-00000000")
    with pytest.raises(IndexProblem, match=first.snapshot):
        texts(where, "s000001-00000000")
