"""An index is built, searched and checked by any engines in the two lines of `index/engines/search_engines.py`."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from index.build.build import Build
from index.build.local_sink import LocalSink
from index.build_job import Job, Tell, numbers
from index.check import verify
from index.embedders.embedder import Vectors
from index.engines import search_engines, vectors
from index.engines.vector_segments import Batch
from index.filters import Filter
from index.model import Document
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.allowed import Allowed
from index.snapshot.store import PassageStore


class CountedWords:
    """Passages by how many words of the question they hold: no Java, no Lucene."""

    def __init__(self, words: dict[int, list[str]]) -> None:
        self.words = words

    def search(
        self, query: str, language: str, k: int, allowed: Allowed | None = None, *, topic: str = ""
    ) -> list[tuple[int, float]]:
        among = self.words if allowed is None else allowed.numbers.tolist()
        shared = {number: len({*query.lower().split()} & {*self.words[number]}) for number in among}
        return [(number, float(count)) for number, count in Counter(shared).most_common(k) if count]

    def close(self) -> None: ...


def update_words(job: Job, tell: Tell) -> dict[str, float]:
    store = PassageStore(Path(job.building) / "passages")
    passages = [store.get(number) for number in numbers(job.live)]
    words = {passage.number: passage.text.lower().strip(".").split() for passage in passages}
    (Path(job.building) / "words.json").write_text(json.dumps(words))
    return {f"language.{each}": n for each, n in Counter(passage.language for passage in passages).items()}


def open_words(snapshot: Path, languages: Mapping[str, int]) -> CountedWords:
    return CountedWords({int(n): words for n, words in json.loads((snapshot / "words.json").read_text()).items()})


def check_words(snapshot: Path, languages: Mapping[str, int]) -> list[str]:
    return [] if len(open_words(snapshot, languages).words) == sum(languages.values()) else ["words are missing"]


class AllVectors:
    """Compares the question with every vector."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as held:
            self.labels, self.vectors = held["labels"], held["vectors"]
        self.size = len(self.labels)

    def search(self, vector: Vectors, k: int, allowed: Allowed | None = None) -> dict[int, float]:
        cosines = self.vectors @ vector[0]
        among = np.ones(len(cosines), dtype=bool) if allowed is None else np.isin(self.labels, allowed.numbers)
        best = [place for place in np.argsort(-cosines) if among[place]][:k]
        return {int(self.labels[place]): float(cosines[place]) for place in best}

    def rows(self, numbers: Sequence[int]) -> Vectors:
        found: Vectors = self.vectors[np.searchsorted(self.labels, numbers)]
        return found

    def cosines(self, vector: Vectors, numbers: Sequence[int]) -> list[float]:
        found: list[float] = (self.rows(numbers) @ vector[0]).tolist() if numbers else []
        return found


def build_vectors(path: Path, dimension: int, batches: Iterable[Batch], total: int, tell: Tell) -> int:
    return update_vectors(None, path, dimension, np.zeros(0, dtype=np.int64), batches, total, tell)


def update_vectors(
    old: Path | None,
    new: Path,
    dimension: int,
    removed: NDArray[np.int64],
    batches: Iterable[Batch],
    total: int,
    tell: Tell,
) -> int:
    labels, vectors = [np.zeros(0, dtype=np.int64)], [np.zeros((0, dimension), dtype=np.float32)]
    if old is not None:
        known = AllVectors(old)
        kept = ~np.isin(known.labels, removed)
        labels, vectors = [known.labels[kept]], [known.vectors[kept]]
    for some, rows in batches:
        labels.append(some)
        vectors.append(rows)
    with new.open("wb") as file:
        np.savez(file, labels=np.concatenate(labels), vectors=np.concatenate(vectors))
    return sum(map(len, labels))


def put(index: Path, *texts: str) -> None:
    with snapshot.writing(index):
        build = Build(LocalSink(index))
        for text in texts:
            build.put(Document(source_id=text.split()[0], title="", url="", language="en", text=text))
        build.publish()


def test_other_engines_build_search_and_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    detached: list[str] = []
    monkeypatch.setattr(
        search_engines,
        "TERMS",
        SimpleNamespace(
            update=update_words, open_index=open_words, problems=check_words, detach=lambda: detached.append("x")
        ),
    )
    monkeypatch.setattr(
        search_engines,
        "VECTORS",
        SimpleNamespace(
            FILE="all.npz",
            build=build_vectors,
            update=update_vectors,
            open_index=lambda path, dimension, live: AllVectors(path),
        ),
    )
    put(tmp_path, "Refunds are paid within two weeks.", "Parcels leave the house on Mondays.")
    put(tmp_path, "Cats sleep all day.")
    assert verify(tmp_path) == []
    searcher = Searcher.open(tmp_path)
    hits = searcher.search("when are refunds paid", language="en")
    assert (hits[0].source_id, hits[0].bm25_rank, hits[0].bm25_score) == ("Refunds", 1, 3.0)
    assert searcher.search("cats sleep", vector_k=0)[0].source_id == "Cats"
    assert searcher.search("parcels on mondays", bm25_k=0)[0].source_id == "Parcels"
    only = searcher.search("when are refunds paid", language="en", filter=Filter(path="Cats"))
    assert {hit.source_id for hit in only} <= {"Cats"}
    searcher.detach()
    searcher.close()
    assert detached == ["x"]
    files = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert vectors.FILE not in files
    assert not any(path.name == "lucene" for path in tmp_path.rglob("*"))
