"""How well an index finds the sources that answer: MRR, nDCG and recall of BM25, the vectors and their fusion, by ir-measures.

uv run python -m tests.bench.bench_rankings --questions FILE (--passages FILE | --index FOLDER)

A line of the questions is {"id", "question", "source_ids", "language"}; those without source_ids are skipped. A source ranks by its
best passage. Each figure has a 95 % bootstrap interval.
"""

import argparse
import contextlib
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import ir_measures
import msgspec
from ir_measures import RR, Measure, R, nDCG

from index.build.ingest import bring_in
from index.search.searcher import Searcher
from runtime.measure.lines import read
from runtime.measure.question_figures import interval

SYSTEMS = ("bm25", "vectors", "fusion")
#: Passages retrieved per search for each source: a source may hold several of the best passages.
_DEPTH_PER_K = 5


class Question(msgspec.Struct, frozen=True):
    id: str
    question: str
    source_ids: tuple[str, ...] = ()
    language: str | None = None


def ranked(searcher: Searcher, questions: Iterable[Question], system: str, k: int) -> list[ir_measures.ScoredDoc]:
    """Rank sources by their best passage, `k` per question."""
    depth = _DEPTH_PER_K * k
    run = []
    for question in questions:
        hits = searcher.search(
            question.question,
            language=question.language,
            k=2 * depth,
            bm25_k=0 if system == "vectors" else depth,
            vector_k=0 if system == "bm25" else depth,
            threshold=-1.0,
        )
        sources = dict.fromkeys(source for hit in hits for source in (hit.source_id, *hit.also_in))
        run += [ir_measures.ScoredDoc(question.id, source, -rank) for rank, source in enumerate(list(sources)[:k])]
    return run


def values(
    run: Sequence[ir_measures.ScoredDoc], questions: Iterable[Question], measures: Iterable[Measure]
) -> dict[str, list[float]]:
    """Each measure per question."""
    judged = [ir_measures.Qrel(one.id, source, 1) for one in questions for source in one.source_ids]
    found: dict[str, list[float]] = {str(measure): [] for measure in measures}
    for metric in ir_measures.iter_calc(list(measures), judged, run):
        found[str(metric.measure)].append(metric.value)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--passages")
    parser.add_argument("--index", type=Path)
    parser.add_argument("--k", type=int, default=10)
    chosen = parser.parse_args()
    questions = [question for question in read(chosen.questions, Question) if question.source_ids]
    with tempfile.TemporaryDirectory() as scratch:
        index = chosen.index or Path(scratch) / "index"
        if chosen.passages:
            bring_in(index, [chosen.passages], only=True)
        with contextlib.closing(Searcher.open(index)) as searcher:
            for system in SYSTEMS:
                run = ranked(searcher, questions, system, chosen.k)
                found = values(run, questions, (RR @ chosen.k, nDCG @ chosen.k, R @ chosen.k))
                means = {name: interval(each) for name, each in found.items()}
                print(
                    system, *(f"{name} {one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]" for name, one in means.items())
                )


if __name__ == "__main__":
    main()
