"""Figures about answers: gold answers in cited spans, citations, refusals, unsupported sentences. The extractive engine answers."""

import re
import time
import unicodedata
from collections.abc import Sequence

import msgspec

from actors.choosing.confidence import shows
from actors.choosing.parts import choose_parts
from actors.evidence import spans
from actors.evidence.prompt_shapes import chunk_of, evidence_of
from actors.gate.check import check_sentence, withholds
from actors.gate.overlap import is_factual
from actors.question.profile import profile_of
from actors.question.resolved import resolved
from actors.selecting.chosen import numbered
from bus.wire.messages import Collection, Passage, QuestionAsked, Span
from index.languages import LANGUAGES
from index.languages.detection import detect
from index.search.fusion import reciprocal_rank
from index.search.searcher import Searcher
from index.text.citations import markers
from index.text.sentences import split
from prompts.contracts import AnswerSimple, AnswerSynthesis, SelectEvidence
from runtime.engines.extractive.answers import answer_simple, answer_synthesis
from runtime.engines.extractive.evidence import select_evidence
from runtime.engines.extractive.queries import parts_of
from runtime.processes.hits import collection_of, passage_of


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


#: How many times more hits to search for when some are left out.
LEAVING_OUT = 4


def answer(
    question: EvalQuestion, passages: tuple[Passage, ...], style: str, collection: Collection | None
) -> Answered:
    """Choose and number the evidence, then answer from those spans alone; `collection` is None for given passages."""
    began = time.perf_counter()
    language = question.language or detect(question.question)
    if collection is None:
        evidence = evidence_of(_picked(question.question, passages, language))
    else:
        evidence = evidence_of(_chosen(question.question, passages, language, collection))
    if not evidence:
        return Answered(id=question.id, refused=True, seconds=time.perf_counter() - began)
    if style == "simple":
        text = answer_simple(
            AnswerSimple(original_query=question.question, retrieved_chunks=evidence, language=language)
        )
    else:
        text = answer_synthesis(AnswerSynthesis(query=question.question, evidence=evidence, language=language)).answer
    seconds = time.perf_counter() - began
    if not evidence or not markers(text):  # an answer without citations is the admission that there is none
        return Answered(id=question.id, refused=True, seconds=seconds)
    numbers = {n for marker in markers(text) for n in marker.numbers}
    sentences = [text[start:end] for start, end in split(text)]
    wrong = [s for s in sentences if withholds(check_sentence(s, evidence)) or (is_factual(s) and not markers(s))]
    return Answered(
        id=question.id,
        refused=False,
        cited=tuple(CitedSpan(source_id=e.source_id, text=e.text) for e in evidence if e.n in numbers),
        sentences=len(sentences),
        unsupported=len(wrong),
        seconds=seconds,
    )


def _picked(question: str, passages: tuple[Passage, ...], language: str) -> tuple[Span, ...]:
    """What the engine picks from given passages."""
    picks = select_evidence(
        SelectEvidence(
            original_query=question,
            retrieved_chunks=tuple(chunk_of(passage) for passage in passages),
            language=language,
        )
    ).spans
    return spans.numbered(passages, spans.picked(passages, picks))


def _chosen(question: str, passages: tuple[Passage, ...], language: str, collection: Collection) -> tuple[Span, ...]:
    """What the rules choose of retrieved passages; nothing when they are not sure enough."""
    asked = resolved(QuestionAsked(question=question, language=language if language in LANGUAGES else None))
    choice = choose_parts(asked, parts_of(question, language), passages, collection)
    if choice is None or not shows(choice.probability, asked.voice):
        return ()
    return numbered(passages, choice, choice.slices())


def as_passage(passage: EvalPassage) -> Passage:
    """A given passage, in the form of a retrieved one."""
    return Passage(
        source_id=passage.source_id,
        title=passage.title,
        url=passage.url,
        score=1.0,
        score_type="given",
        text=passage.text,
        char_start=0,
        char_end=len(passage.text),
        language=passage.language or detect(passage.text),
        snapshot="",
    )


def retrieved(
    searcher: Searcher, question: EvalQuestion, *, leave_out: bool = False
) -> tuple[tuple[Passage, ...], Collection]:
    """The best passages, best first, and what the index says of the question; with `leave_out`, none from its own sources."""
    language = question.language or detect(question.question)
    asked = parts_of(question.question, language)
    lanes = tuple(_lane(searcher, question, part, leave_out=leave_out) for part in asked)
    found = {(p.source_id, p.char_start): p for lane in lanes for p in lane}
    order = reciprocal_rank([(p.source_id, p.char_start) for p in lane] for lane in lanes)
    passages = tuple(found[key] for key in order)
    return passages, collection_of(searcher, question.question, language)


def _lane(searcher: Searcher, question: EvalQuestion, part: str, *, leave_out: bool) -> tuple[Passage, ...]:
    wanted = profile_of("general").retrieval
    deeper = LEAVING_OUT if leave_out else 1
    found = searcher.search(
        part,
        language=question.language or None,
        k=deeper * wanted.k,
        bm25_k=deeper * wanted.bm25_k,
        vector_k=deeper * wanted.vector_k,
    )
    hits = [hit for hit in found if not (leave_out and hit.source_id in question.source_ids)]
    return tuple(map(passage_of, hits[: wanted.k]))
