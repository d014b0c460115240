"""The parts of bench_scale that need a separate process: `python -m tests.bench.scale_parts PART …` prints one JSON line."""

import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import psutil

from index.build.opening import index_at
from index.java import jvm
from index.languages import FALLBACK, LANGUAGES, of
from index.model import indexed_text
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.store import PassageStore
from tests.bench.scale_corpus import Planted, load

_K = 10
_BATCH = 1000


def searching(index: Path, questions: Path) -> dict[str, float]:
    """Open twice and search; the first searches, which load the mapped files, are not counted."""
    planted = load(questions)
    began = time.perf_counter()
    searcher = Searcher.open(index)
    found = {"open_s": time.perf_counter() - began}
    calls: dict[str, Callable[[Planted], list[str]]] = {
        "hybrid": lambda one: _ids(searcher, one, _K, _K),
        "bm25": lambda one: _ids(searcher, one, _K, 0),
        "vectors": lambda one: _ids(searcher, one, 0, _K),
    }
    found |= in_turns(calls, planted)
    found["ndcg"] = found.pop("hybrid_ndcg")
    held = psutil.Process().memory_info()
    found |= {"memory_mb": held.rss / 1e6, "private_mb": (held.rss - getattr(held, "shared", 0)) / 1e6}
    began = time.perf_counter()
    searcher.swap_to(searcher.snapshot)
    found["again_s"] = time.perf_counter() - began
    searcher.close()
    return found


def on_opensearch(url: str, questions: Path) -> dict[str, float]:
    """Search an index at a URL."""
    index = index_at(url)
    searcher = Searcher.open(index)
    calls: dict[str, Callable[[Planted], list[str]]] = {
        "opensearch": lambda one: _ids(searcher, one, _K, _K),
        "opensearch_bm25": lambda one: _ids(searcher, one, _K, 0),
        "opensearch_vectors": lambda one: _ids(searcher, one, 0, _K),
    }
    found = in_turns(calls, load(questions))
    found["opensearch_passages"] = float(searcher.backend.manifest.passages)
    searcher.close()
    return found


def _ids(searcher: Searcher, one: Planted, bm25_k: int, vector_k: int) -> list[str]:
    return [hit.source_id for hit in searcher.search(one.question, k=_K, bm25_k=bm25_k, vector_k=vector_k)]


def lucene(index: Path, questions: Path, folder: Path) -> dict[str, float]:
    """Pyserini's own indexer and searcher, an index a language, over the passages as our index cut them."""
    shutil.rmtree(folder, ignore_errors=True)
    counts = _passages(index, folder)
    jvm.start()
    searchers = {}
    began = time.process_time()
    for language in counts:
        _index(folder / f"{language}.jsonl", folder / language, language)
    cpu_s = time.process_time() - began
    for language in counts:
        searchers[language] = jvm.java_class("io.anserini.search.SimpleSearcher")(str(folder / language))
        searchers[language].set_language(_analyzer(language))

    def ask(one: Planted, languages: Iterable[str]) -> list[str]:
        hits = [hit for name in languages for hit in searchers[name].search(one.question, _K)]
        hits.sort(key=lambda hit: -hit.score)
        return list(dict.fromkeys(str(hit.docid).partition("#")[0] for hit in hits[:_K]))

    calls: dict[str, Callable[[Planted], list[str]]] = {
        "lucene": lambda one: ask(one, counts),
        "lucene_own": lambda one: ask(one, [one.language]),
    }
    found = in_turns(calls, load(questions))
    shutil.rmtree(folder)
    return found | {"lucene_cpu": 1000 * cpu_s / sum(counts.values())}


def _passages(index: Path, folder: Path) -> dict[str, int]:
    """Write each language's passages as JSON lines; how many there are of each."""
    folder.mkdir()
    counts: dict[str, int] = {}
    store = PassageStore(index / "snapshots" / snapshot.current(index) / "passages")
    files: dict[str, Any] = {}
    for segment in store.segments:
        for one in segment:
            if one.language not in files:
                files[one.language] = (folder / f"{one.language}.jsonl").open("wb")
            line = {"id": f"{one.source_id}#{one.number}", "contents": indexed_text(one)}
            files[one.language].write(msgspec.json.encode(line) + b"\n")
            counts[one.language] = counts.get(one.language, 0) + 1
    for file in files.values():
        file.close()
    return counts


def _index(passages: Path, directory: Path, language: str) -> None:
    arguments = ["-input", "", "-collection", "JsonCollection", "-threads", str(os.cpu_count() or 1)]
    arguments += ["-memoryBuffer", "512", "-language", _analyzer(language), "-index", str(directory)]
    indexer = jvm.java_class("io.anserini.index.SimpleIndexer")(arguments)
    batch: list[str] = []
    with passages.open(encoding="utf-8") as lines:
        for line in lines:
            batch.append(line)
            if len(batch) == _BATCH:
                indexer.addRawDocuments(batch)
                batch = []
    if batch:
        indexer.addRawDocuments(batch)
    indexer.close()


def _analyzer(language: str) -> str:
    return of(language if language in LANGUAGES else FALLBACK).identity.analyzer


def in_turns(calls: dict[str, Callable[[Planted], list[str]]], planted: Sequence[Planted]) -> dict[str, float]:
    """The median and 99th percentile of each call in milliseconds, and its nDCG@10.

    They take turns, question by question, each first in its turn: a question asked again has its data in the cache.
    """
    for one in planted[:50]:
        for call in calls.values():
            call(one)
    times: dict[str, list[float]] = {name: [] for name in calls}
    gains: dict[str, float] = dict.fromkeys(calls, 0.0)
    for number, one in enumerate(planted):
        first = number % len(calls)
        for name, call in [*calls.items()][first:] + [*calls.items()][:first]:
            began = time.perf_counter()
            ids = call(one)
            times[name].append(1000 * (time.perf_counter() - began))
            rank = list(dict.fromkeys(ids)).index(one.source_id) if one.source_id in ids else None
            gains[name] += 0.0 if rank is None else 1 / math.log2(rank + 2)
    found: dict[str, float] = {}
    for name, each in times.items():
        ordered = sorted(each)
        found[f"{name}_p50"] = ordered[len(ordered) // 2]
        found[f"{name}_p99"] = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
        found[f"{name}_ndcg"] = gains[name] / len(planted)
    return found


def main() -> None:
    name, *arguments = sys.argv[1:]
    if name == "on_opensearch":
        print(msgspec.json.encode(on_opensearch(arguments[0], Path(arguments[1]))).decode())
        return
    parts = {"searching": searching, "lucene": lucene}
    print(msgspec.json.encode(parts[name](*map(Path, arguments))).decode())


if __name__ == "__main__":
    main()
