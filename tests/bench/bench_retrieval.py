"""Retrieval against its parts, and how it scales: `python -m tests.bench.bench_retrieval [--sizes 1000,10000,50000]`.

`--still` skips the searches during updates, which take longer than everything else.

Texts are made of invented words with the frequencies of a natural language. Times depend on the machine; look at the ratios.
The parts take turns, query by query, so that other load affects all alike.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import psutil

from index.build.build import Build
from index.build.local_sink import LocalSink
from index.check import stats
from index.filters import Filter
from index.model import Document, Metadata
from index.search.local_backend import LocalBackend
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.text.coverage import cover, hash_sets

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
    parser.add_argument("--sizes", default="1000,10000,50000")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--still", action="store_true")
    chosen = parser.parse_args()
    rates = []
    for size in map(int, chosen.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            rates.append((size, one_size(Path(folder) / "index", size, chosen.queries, still=chosen.still)))
    if len(rates) > 1:
        (small, first), (large, last) = rates[0], rates[-1]
        print(f"build: {large / small:.0f} times the passages took {first / last * large / small:.1f} times as long")


def one_size(index: Path, size: int, queries: int, *, still: bool) -> float:
    """Build and search one size; returns passages built per second."""
    corpus = Corpus()
    documents = [
        msgspec.structs.replace(corpus.document(f"d{number}"), metadata=Metadata(groups=(f"g{number % 10}",)))
        for number in range(size)
    ]
    megabytes = sum(len(document.text) for document in documents) / 1e6
    began = time.perf_counter()
    with snapshot.writing(index):
        build = Build(LocalSink(index))
        for document in documents:
            build.put(document)
        manifest = build.publish()
    seconds = time.perf_counter() - began
    found = stats(index)
    print(f"\n{manifest.passages} passages, {megabytes:.1f} MB")
    print(
        f"  build       {seconds:.1f} s: {megabytes / seconds:.2f} MB/s, {manifest.passages / seconds:.0f} passages/s"
    )
    print(f"  on disk     {found.size_bytes / 1e6:.1f} MB, {found.size_bytes / 1e6 / megabytes:.1f} times the text")
    before = psutil.Process().memory_info().rss
    began = time.perf_counter()
    searcher = Searcher.open(index)
    print(f"  opened in   {time.perf_counter() - began:.1f} s")
    questions = [corpus.question() for _ in range(queries)]
    for question in questions[:50]:
        searcher.search(question)
    parts(searcher, questions)
    filtered(searcher, questions)
    grouped(searcher, questions)
    concurrency(searcher, questions)
    print(f"  memory      {(psutil.Process().memory_info().rss - before) / 1e6:.0f} MB more than before it was opened")
    if not still:
        updates(index, searcher, corpus, questions)
    searcher.close()
    return manifest.passages / seconds


def parts(searcher: Searcher, questions: list[str]) -> None:
    """Hybrid search against Lucene alone, the vectors alone, and both in sequence without our own work."""
    backend = searcher.backend
    assert isinstance(backend, LocalBackend)

    def lucene(question: str) -> None:
        for number, _ in backend.bm25.search(question, "en", 5):
            backend.store.get(number)

    def vectors(question: str) -> None:
        for number in backend.vectors.search(backend.embedder.embed([question], query=True), 5):
            backend.store.get(number)

    def sequence(question: str) -> None:
        lucene(question)
        vectors(question)

    def coverage(question: str) -> None:
        grams, phrases = hash_sets(question)
        held = [backend.store.held(number) for number in range(10)]
        cover(grams, backend.store.rarity, [one.grams for one in held])
        cover(phrases, backend.store.phrase_rarity, [one.phrases for one in held])

    calls: dict[str, Callable[[str], object]] = {
        "lucene": lucene,
        "vectors": vectors,
        "sequence": sequence,
        "coverage": coverage,
        "hybrid": lambda question: searcher.search(question, language="en"),
    }
    waited, worked = in_turns(calls, questions)
    for what, times in (("p50", waited), ("processor", worked)):
        medians = {name: percentile(values, 50) for name, values in times.items()}
        print(f"  hybrid {what:<9} {medians['hybrid'] / medians['lucene']:.2f} x Lucene alone,"
              f" {medians['hybrid'] / max(medians['lucene'], medians['vectors']):.2f} x the slower part,"
              f" {medians['hybrid'] / medians['sequence']:.2f} x both in sequence")  # fmt: skip


def filtered(searcher: Searcher, questions: list[str]) -> None:
    """Search with filters that let more and fewer documents pass, against search without one."""
    calls: dict[str, Callable[[str], object]] = {"no filter": lambda question: searcher.search(question, language="en")}
    for name, path in (("most", "d*[!7]"), ("half", "d*[02468]"), ("tenth", "d*7"), ("few", "d*777")):
        only = Filter(path=path)
        calls[name] = partial(searcher.search, language="en", filter=only)
        began = time.perf_counter()
        searcher.search(questions[0], filter=only)
        took_ms = (time.perf_counter() - began) * 1000
        print(f"  {name:<11} {searcher.passing(only)} documents pass; the first search took {took_ms:.0f} ms")
    waited, _ = in_turns(calls, questions)
    plain = percentile(waited.pop("no filter"), 50)
    print(
        "  filter p50  "
        + ", ".join(f"{name} {percentile(values, 50) / plain:.2f} x" for name, values in waited.items())
    )


def grouped(searcher: Searcher, questions: list[str]) -> None:
    """Search by callers of some groups, with more and fewer visible documents, compared with a search that sees all."""
    calls: dict[str, Callable[[str], object]] = {
        "everything": lambda question: searcher.search(question, language="en")
    }
    for name, count in (("nine tenths", 9), ("half", 5), ("one tenth", 1)):
        groups = tuple(f"g{number}" for number in range(count))
        calls[name] = partial(searcher.search, language="en", groups=groups)
        began = time.perf_counter()
        searcher.search(questions[0], groups=groups)
        print(f"  {name} seen: the first search took {(time.perf_counter() - began) * 1000:.0f} ms")
    waited, _ = in_turns(calls, questions)
    plain = percentile(waited.pop("everything"), 50)
    print(
        "  groups p50  "
        + ", ".join(f"{name} {percentile(values, 50) / plain:.2f} x" for name, values in waited.items())
    )


def in_turns(
    calls: dict[str, Callable[[str], object]], questions: list[str]
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """How long each call took for each question, in milliseconds: by the clock, and of the processor."""
    waited: dict[str, list[float]] = {name: [] for name in calls}
    worked: dict[str, list[float]] = {name: [] for name in calls}
    for question in questions:
        for name, call in calls.items():
            began, worked_before = time.perf_counter(), time.thread_time()
            call(question)
            waited[name].append((time.perf_counter() - began) * 1000)
            worked[name].append((time.thread_time() - worked_before) * 1000)
    for name in calls:
        print(f"  {name:<11} {both(waited[name])}, CPU time {both(worked[name])}")
    return waited, worked


def both(values: list[float]) -> str:
    return f"p50 {percentile(values, 50):.2f} ms, p99 {percentile(values, 99):.2f} ms"


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def in_flight(searcher: Searcher, questions: Iterator[str], threads: int, seen: Callable[[float], None]) -> float:
    """Ask all questions from the given number of threads; returns the seconds it took."""
    lock = threading.Lock()

    def ask() -> None:
        while True:
            with lock:
                question = next(questions, None)
            if question is None:
                break
            began = time.perf_counter()
            hits = searcher.search(question, language="en")
            seen((time.perf_counter() - began) * 1000)
            assert hits
        searcher.detach()

    workers = [threading.Thread(target=ask) for _ in range(threads)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - began


def concurrency(searcher: Searcher, questions: list[str]) -> None:
    rates = {}
    for threads in (1, 4, 16):
        asked = questions * 3
        rates[threads] = len(asked) / in_flight(searcher, iter(asked), threads, lambda _: None)
    print("  in flight  ", ", ".join(f"{threads}: {rate:.0f} queries/s" for threads, rate in rates.items()))


def updates(index: Path, searcher: Searcher, corpus: Corpus, questions: list[str]) -> None:
    """2,000 queries while another process adds, changes and removes 500 documents in three snapshots."""
    quiet: list[float] = []
    in_flight(searcher, iter((questions * 7)[:2000]), 4, quiet.append)
    folder = index.parent / "changes"
    folder.mkdir()
    busy: list[float] = []
    stop = threading.Event()

    def forever() -> Iterator[str]:
        while not stop.is_set() or len(busy) < 2000:
            yield from questions

    asking = threading.Thread(target=in_flight, args=(searcher, forever(), 4, busy.append))
    asking.start()
    for number in range(3):
        path = folder / f"changes-{number}.jsonl"
        changed = [corpus.document(f"d{other}") for other in range(number * 100, number * 100 + 60)]
        added = [corpus.document(f"new{number}-{other}") for other in range(60)]
        gone = [f"d{other}" for other in range(500 + number * 50, 500 + number * 50 + 46)]
        path.write_text(
            "".join(f'{{"source_id":"{d.source_id}","title":"{d.title}","text":"{d.text}"}}\n' for d in changed + added)
        )
        for arguments in (["add", str(path)], ["remove", *gone]):
            change(index, arguments)
            assert searcher.swap_to()
        assert not {hit.source_id for question in questions[:20] for hit in searcher.search(question, k=10)} & set(gone)
    stop.set()
    asking.join()
    print(f"  updates     p99 {percentile(quiet, 99):.1f} ms quiet, {percentile(busy, 99):.1f} ms while publishing"
          f" ({percentile(busy, 99) / percentile(quiet, 99):.1f} x), {len(busy)} queries, none failed")  # fmt: skip


def change(index: Path, arguments: list[str]) -> None:
    """Run one `groundwire index` command in its own process, at a lower priority than the searches."""
    command = ["-c", "import os; os.nice(5); from runtime.commands.index import index_group; index_group()", *arguments]
    subprocess.run([sys.executable, *command, "--index", str(index)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
