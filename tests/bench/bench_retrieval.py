"""Search with filters, and by callers of some groups: `python -m tests.bench.bench_retrieval [--size 5000] [--queries 200]`.

Texts are made of invented words with the frequencies of a natural language. Times depend on the machine; look at the ratios.
The choices take turns, query by query, so that other load affects all alike. bench_scale measures search as a whole.
"""

import argparse
import random
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from index.build.build import Build
from index.build.local_sink import LocalSink
from index.filters import Filter
from index.model import Document, Metadata
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.prepared import prepare

_SYLLABLES = [a + b for a in "bcdfghjklmnprstvz" for b in "aeiou"]


class Corpus:
    """The same seed gives the same documents."""

    def __init__(self, seed: int = 1, words: int = 20_000) -> None:
        self._random = random.Random(seed)
        self._words = ["".join(self._random.choices(_SYLLABLES, k=self._random.randint(2, 4))) for _ in range(words)]
        self._weights = [1 / (rank + 3) for rank in range(words)]

    def sentence(self, words: int) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=words)).capitalize() + "."

    def document(self, name: str) -> Document:
        return Document(
            source_id=name, title=self.sentence(3), text=" ".join(self.sentence(12) for _ in range(10)), language="en"
        )

    def question(self) -> str:
        return " ".join(self._random.choices(self._words[50:], self._weights[50:], k=7))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=5000)
    parser.add_argument("--queries", type=int, default=200)
    chosen = parser.parse_args()
    corpus = Corpus()
    documents = [
        msgspec.structs.replace(corpus.document(f"d{number}"), metadata=Metadata(groups=(f"g{number % 10}",)))
        for number in range(chosen.size)
    ]
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        with snapshot.writing(index):
            build = Build(LocalSink(index))
            for document in documents:
                build.put(prepare(document))
            manifest = build.publish()
        print(f"{manifest.passages} passages")
        searcher = Searcher.open(index)
        questions = [corpus.question() for _ in range(chosen.queries)]
        for question in questions[:50]:
            searcher.search(question)
        for name, choices in CHOICES.items():
            compared(searcher, questions, name, choices)
        searcher.close()


#: What lets fewer documents pass: filters by name, and the groups of callers.
CHOICES: dict[str, dict[str, dict[str, Any]]] = {
    "filter": {
        name: {"filter": Filter(path=path)}
        for name, path in (("most", "d*[!7]"), ("half", "d*[02468]"), ("tenth", "d*7"), ("few", "d*777"))
    },
    "groups": {
        name: {"groups": tuple(f"g{number}" for number in range(count))}
        for name, count in (("nine tenths", 9), ("half", 5), ("one tenth", 1))
    },
}


def compared(searcher: Searcher, questions: list[str], what: str, choices: dict[str, dict[str, Any]]) -> None:
    """Search of a part of the documents, against search of all: wall and processor time in milliseconds."""
    calls = {name: partial(searcher.search, language="en", **choice) for name, choice in {"all": {}, **choices}.items()}
    for name, choice in choices.items():
        began = time.perf_counter()
        searcher.search(questions[0], **choice)
        print(f"  {what} {name}: the first search took {(time.perf_counter() - began) * 1000:.0f} ms")
    waited: dict[str, list[float]] = {name: [] for name in calls}
    worked: dict[str, list[float]] = {name: [] for name in calls}
    for question in questions:
        for name, call in calls.items():
            began, worked_before = time.perf_counter(), time.thread_time()
            call(question)
            waited[name].append((time.perf_counter() - began) * 1000)
            worked[name].append((time.thread_time() - worked_before) * 1000)
    for name in calls:
        print(f"  {what} {name}: {both(waited[name])}, CPU time {both(worked[name])}")
    plain = percentile(waited["all"], 50)
    print(f"  {what} p50: " + ", ".join(f"{name} {percentile(waited[name], 50) / plain:.2f} x" for name in choices))


def both(values: list[float]) -> str:
    return f"p50 {percentile(values, 50):.2f} ms, p99 {percentile(values, 99):.2f} ms"


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


if __name__ == "__main__":
    main()
