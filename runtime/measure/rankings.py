"""Measure rankings against relevance judgements, as trec_eval does: MRR, nDCG and recall at k, with bootstrap intervals."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from index.search.searcher import Searcher
from runtime.measure.lines import BadLine, read
from runtime.measure.question_figures import Interval, interval

SYSTEMS = ("bm25", "vectors", "fusion")
#: Passages retrieved per search for k sources: a source may hold several of the best passages.
_DEPTH_PER_K = 5


class Question(msgspec.Struct, frozen=True):
    """One line of a questions file; without `source_ids` it has no judged answer and is skipped.

    `topic`: words of a conversation to search for as well.
    """

    id: str
    question: str
    source_ids: tuple[str, ...] = ()
    language: str | None = None
    topic: str = ""


#: question id -> (source id, score), best first
Run = dict[str, list[tuple[str, float]]]


def read_questions(path: Path) -> list[Question]:
    """The questions with judged sources, each once. Raises BadLine for a file without any."""
    questions = read(path, Question)
    judged = list({question.id: question for question in questions if question.source_ids}.values())
    if not judged:
        raise BadLine(f"{path} has no question with source_ids; add them to what you want measured")
    return judged


def run(searcher: Searcher, questions: Iterable[Question], system: str, k: int) -> Run:
    """Rank sources by their best passage, `k` per question."""
    depth = _DEPTH_PER_K * k
    rankings: Run = {}
    for question in questions:
        hits = searcher.search(
            question.question,
            topic=question.topic,
            language=question.language,
            k=2 * depth,
            bm25_k=0 if system == "vectors" else depth,
            vector_k=0 if system == "bm25" else depth,
            threshold=-1.0,
        )
        sources: dict[str, float] = {}
        for hit in hits:
            for source in (hit.source_id, *hit.also_in):
                sources.setdefault(source, hit.score)
        rankings[question.id] = list(sources.items())[:k]
    return rankings


def measure(
    rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Collection[str]], k: int
) -> dict[str, list[float]]:
    """Each measure at `k` per question, in the order of `relevant`; a question without a ranking counts 0."""
    values: dict[str, list[float]] = {f"MRR@{k}": [], f"nDCG@{k}": [], f"R@{k}": []}
    for question, wanted in relevant.items():
        found = [source in wanted for source in rankings.get(question, ())[:k]]
        first = next((rank for rank, good in enumerate(found, 1) if good), None)
        gain = sum(1 / math.log2(rank + 1) for rank, good in enumerate(found, 1) if good)
        ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), k) + 1))
        values[f"MRR@{k}"].append(1 / first if first else 0.0)
        values[f"nDCG@{k}"].append(gain / ideal if ideal else 0.0)
        values[f"R@{k}"].append(sum(found) / len(wanted) if wanted else 0.0)
    return values


def report(runs: Mapping[str, Run], asked: Sequence[Question], k: int) -> dict[str, dict[str, Interval]]:
    relevant = {question.id: frozenset(question.source_ids) for question in asked}
    found = {}
    for system, ranked in runs.items():
        names = {question: [source for source, _ in sources] for question, sources in ranked.items()}
        found[system] = {name: interval(values) for name, values in measure(names, relevant, k).items()}
    return found


def trec_lines(rankings: Run, tag: str) -> Iterable[str]:
    """A run in TREC's format; spaces in ids, which it does not allow, become underscores."""
    for question, sources in rankings.items():
        for rank, (source, score) in enumerate(sources, 1):
            # trec_eval sorts by score, so equal scores are made to differ in rank order.
            yield f"{_word(question)} Q0 {_word(source)} {rank} {score - rank * 1e-7:.7f} {tag}"


def _word(name: str) -> str:
    return "_".join(name.split())
