"""Two thousand queries while five hundred documents are added, changed and removed in three snapshots."""

import threading
from pathlib import Path

import pytest

from index.search.searcher import Searcher
from tests.bench.bench_retrieval import Corpus
from tests.index.conftest import update


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_load_fails_no_query_and_revives_no_document(tmp_path: Path) -> None:
    index, corpus = tmp_path / "index", Corpus()
    update(index, [corpus.document(f"d{n}") for n in range(600)])
    searcher = Searcher.open(index)
    removed: dict[str, set[str]] = {searcher.snapshot: set()}  # snapshot -> documents that are gone in it
    questions = iter([corpus.question() for _ in range(2000)])
    lock, wrong, answered = threading.Lock(), list[str](), list[str]()

    def ask() -> None:
        while True:
            with lock:
                question = next(questions, None)
            if question is None:
                break
            current = searcher.snapshot
            hits = searcher.search(question, language="en")
            with lock:
                answered.extend({hit.snapshot for hit in hits} or {"nothing"})
                wrong.extend(hit.source_id for hit in hits if hit.snapshot < current)
                wrong.extend(hit.source_id for hit in hits if hit.source_id in removed.get(hit.snapshot, ()))
        searcher.detach()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    gone: set[str] = set()
    for number in range(3):
        fresh = [corpus.document(f"new{number}-{n}") for n in range(60)]
        changed = [corpus.document(f"d{n}") for n in range(number * 60, number * 60 + 60)]
        leaving = [f"d{n}" for n in range(300 + number * 50, 300 + number * 50 + 47)]
        manifest = update(index, fresh + changed, leaving)
        gone |= set(leaving)
        with lock:
            removed[manifest.snapshot] = set(gone)
        assert searcher.swap_to()
    for thread in threads:
        thread.join()
    searcher.close()
    assert wrong == []
    assert len(answered) >= 2000
    assert "nothing" not in answered
