"""Figures about answers: gold answers in cited spans, citations, refusals, unsupported sentences. Pure functions."""

import re
import unicodedata
from collections.abc import Sequence

import msgspec


class EvalQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a question set. `answers` are gold strings; empty if only the sources are known."""

    id: str
    question: str
    language: str = ""
    answers: tuple[str, ...] = ()
    answerable: bool = True
    source_ids: tuple[str, ...] = ()


class EvalPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a passage set."""

    source_id: str
    text: str
    title: str = ""
    url: str = ""
    language: str = ""


class CitedSpan(msgspec.Struct, frozen=True, kw_only=True):
    source_id: str
    text: str


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one question. `unsupported`: sentences that the gate withholds or that cite nothing."""

    id: str
    refused: bool
    cited: tuple[CitedSpan, ...] = ()
    sentences: int = 0
    unsupported: int = 0
    seconds: float = 0.0


class AnswerFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Shares are 0 to 1, or None if there was nothing to count; means are over answered questions."""

    questions: int
    answered: int
    gold_in_cited: float | None
    spans_per_answer: float | None
    citation_precision: float | None
    citation_recall: float | None
    refusal_precision: float | None
    refusal_recall: float | None
    refusal_f1: float | None
    refused_answerable: float | None
    unsupported_per_answer: float | None
    without_citation: int
    milliseconds: float | None


def figures(questions: Sequence[EvalQuestion], answers: Sequence[Answered]) -> AnswerFigures:
    """The figures of `answers`, which are in the order of `questions`.

    `gold_in_cited`: answerable questions with gold answers, refused ones included, of which a cited span holds one.
    Citation precision: cited spans that come from a right source; recall: answerable questions with a right source cited.
    Refusal precision and recall take "refused" as the finding and "unanswerable" as the truth.
    """
    pairs = list(zip(questions, answers, strict=True))
    answered = [(q, a) for q, a in pairs if not a.refused]
    golden = [holds_gold(q, a) for q, a in pairs if q.answerable and q.answers]
    judged = [(q, a) for q, a in pairs if q.answerable and q.source_ids]
    cited_right = [span.source_id in q.source_ids for q, a in judged for span in a.cited]
    found_right = [any(span.source_id in q.source_ids for span in a.cited) for q, a in judged]
    refusals = [not q.answerable for q, a in pairs if a.refused]
    caught = [a.refused for q, a in pairs if not q.answerable]
    precision, recall = _share(refusals), _share(caught)
    return AnswerFigures(
        questions=len(pairs),
        answered=len(answered),
        gold_in_cited=_share(golden),
        spans_per_answer=_mean([len(a.cited) for _, a in answered]),
        citation_precision=_share(cited_right),
        citation_recall=_share(found_right),
        refusal_precision=precision,
        refusal_recall=recall,
        refusal_f1=f1(precision, recall) if caught else None,
        refused_answerable=_share([a.refused for q, a in pairs if q.answerable]),
        unsupported_per_answer=_mean([a.unsupported for _, a in answered]),
        without_citation=sum(not a.cited for _, a in answered),
        milliseconds=_mean([1000 * a.seconds for _, a in pairs]),
    )


def holds_gold(question: EvalQuestion, answer: Answered) -> bool:
    """Whether a cited span contains a gold answer word for word, ignoring case, width and spaces."""
    wanted = [plain(gold) for gold in question.answers]
    return any(gold in plain(span.text) for span in answer.cited for gold in wanted if gold)


def plain(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text).casefold())


def f1(precision: float | None, recall: float | None) -> float:
    """0 when either is missing or both are 0."""
    if not precision or not recall:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def own_passages(questions: Sequence[EvalQuestion], passages: Sequence[EvalPassage]) -> list[EvalPassage]:
    """The passage each question was written for: its source, or if it has none, the most similar one near its neighbours' passages.

    Sets of this form keep a passage's questions together, so the passage of a question without an answer is one from the
    last known passage to the next known one.
    """
    place = {passage.source_id: k for k, passage in enumerate(passages)}
    known = [next((place[s] for s in q.source_ids if s in place), None) for q in questions]
    following: list[int] = []
    last = len(passages) - 1
    for at in reversed(known):
        last = at if at is not None else last
        following.append(last)
    following.reverse()
    chosen: list[EvalPassage] = []
    before = 0
    pieces: dict[int, set[str]] = {}
    for question, at, after in zip(questions, known, following, strict=True):
        if at is not None:
            before = at
            chosen.append(passages[at])
            continue
        asked = _pieces(question.question)
        shared = {
            k: len(asked & pieces.setdefault(k, _pieces(passages[k].text)))
            for k in range(before, max(before, after) + 1)
        }
        chosen.append(passages[max(shared, key=lambda k: (shared[k], -k))])
    return chosen


def _pieces(text: str) -> set[str]:
    text = plain(text)
    return {text[i : i + 4] for i in range(len(text) - 3)}


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
