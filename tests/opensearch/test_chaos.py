"""Nodes are killed while documents are written, while searches run and while a snapshot takes another's place.

Every document has the number of its round, and every round writes all of them: an answer comes from one snapshot if all of its
hits have the round of the snapshot that it names.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from index.errors import IndexProblem
from index.java import jvm
from index.model import Document
from index.opensearch import bulk, generations, sink, states
from index.opensearch.client import Address
from tests.opensearch.building import place, searching, update
from tests.opensearch.cluster import Cluster

DOCUMENTS = 60
SEARCHERS = 2


def documents(round: int) -> list[Document]:
    words = ("anchor", "bellows", "capstan", "davit", "eyelet")
    return [
        Document(
            source_id=f"ship-{number}",
            title=f"Ship {number}",
            text=f"The {words[number % 5]} of ship {number} was looked at in round {round}.",
        )
        for number in range(DOCUMENTS)
    ]


class Watch:
    """What searches saw while it all happened: the rounds in the hits, by the snapshot that was searched."""

    def __init__(self) -> None:
        self.seen: dict[str, set[str]] = {}
        self.answers = 0
        self.problems: list[str] = []
        self._lock = threading.Lock()
        self._more = threading.Condition(self._lock)

    def note(self, snapshot: str, texts: list[str]) -> None:
        with self._more:
            self.answers += 1
            assert texts, "an answer without a hit"
            self.seen.setdefault(snapshot, set()).update(text.rsplit(" ", 1)[1] for text in texts)
            self._more.notify_all()

    def answered_after(self, count: int) -> bool:
        """Whether there are that many answers more than now, some time."""
        with self._more:
            goal = self.answers + count
            return self._more.wait_for(lambda: self.answers >= goal, timeout=300)


@contextmanager
def watched(where: Address) -> Iterator[Watch]:
    watch, ended = Watch(), threading.Event()

    def search() -> None:
        with searching(where) as searcher:
            while not ended.is_set():
                try:
                    searcher.swap_to()
                    hits = searcher.search("which capstan was looked at", k=10, bm25_k=10, vector_k=10)
                    for snapshot in {hit.snapshot for hit in hits} or {searcher.snapshot}:
                        watch.note(snapshot, [hit.text for hit in hits if hit.snapshot == snapshot])
                except IndexProblem as problem:
                    watch.problems.append(str(problem))
            jvm.detach()

    threads = [threading.Thread(target=search) for _ in range(SEARCHERS)]
    for thread in threads:
        thread.start()
    try:
        yield watch
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@pytest.mark.first
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("module", "name"),
    [
        pytest.param(generations, "point_at", id="as a generation takes another's place"),
        pytest.param(states, "replace", id="as an update becomes visible", marks=pytest.mark.slow),
    ],
)
def test_chaos_loses_no_passage_and_mixes_no_snapshot(
    own_cluster: Cluster, monkeypatch: pytest.MonkeyPatch, module: object, name: str
) -> None:
    where = place(own_cluster, f"chaos-{name}")
    rounds = {update(where, documents(0)).snapshot: "0."}

    def dying(module: object, name: str, node: int) -> None:
        """The node dies the first time that this is called."""
        real = getattr(module, name)

        def kill_and_go_on(*args: object, **options: object) -> object:
            monkeypatch.setattr(module, name, real)
            own_cluster.kill(node)
            return real(*args, **options)

        monkeypatch.setattr(module, name, kill_and_go_on)

    with watched(where) as watch:
        assert watch.answered_after(5)
        dying(bulk.Bulk, "_send", (own_cluster.manager() + 1) % 3)
        rounds[update(where, documents(1)).snapshot] = "1."
        assert watch.answered_after(5)
        own_cluster.heal()
        dying(module, name, own_cluster.manager())
        if module is generations:
            monkeypatch.setattr(sink, "MOST_GONE", -1)  # so that it writes a new generation
        rounds[update(where, documents(2)).snapshot] = "2."
        assert watch.answered_after(5)

    assert watch.seen == {snapshot: {said} for snapshot, said in rounds.items() if snapshot in watch.seen}
    assert list(rounds)[-1] in watch.seen
    assert not watch.problems
    with searching(where) as searcher:
        entries = list(searcher.entries())
        assert len(entries) == DOCUMENTS
        texts = [passage.text for passage in searcher.beginnings(entries, 10)]
        assert sum(searcher.languages().values()) == DOCUMENTS
        found = searcher.search("looked at", k=100, bm25_k=100, vector_k=0)
        named = {source for hit in found for source in (hit.source_id, *hit.also_in)}
        assert named == {document.source_id for document in documents(2)}
    assert sorted(texts) == sorted(document.text for document in documents(2))
