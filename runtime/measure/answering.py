"""Answer evaluation questions with the extractive engine, in the same steps as the actors."""

import time

from actors.evidence import spans
from actors.evidence.prompt_shapes import chunk_of, evidence_of
from actors.gate.check import check_sentence, withholds
from actors.gate.citations import markers
from actors.gate.overlap import is_factual
from bus.messages import Passage
from index.languages.detection import detect
from index.searcher import Searcher
from index.sentences import split
from prompts.contracts import AnswerSimple, AnswerSynthesis, SelectEvidence
from runtime.engines.extractive.answers import answer_simple, answer_synthesis
from runtime.engines.extractive.evidence import select_evidence
from runtime.measure.answers import Answered, CitedSpan, EvalPassage, EvalQuestion
from runtime.processes.hits import passage_of

RETRIEVED = 5
#: How many times more hits to search for when some are left out.
LEAVING_OUT = 4


def answer(question: EvalQuestion, passages: tuple[Passage, ...], style: str) -> Answered:
    """Pick and number the evidence, then answer from those spans alone."""
    began = time.perf_counter()
    language = question.language or detect(question.question)
    picks = select_evidence(
        SelectEvidence(
            original_query=question.question,
            retrieved_chunks=tuple(chunk_of(passage) for passage in passages),
            language=language,
        )
    ).spans
    evidence = evidence_of(spans.numbered(passages, spans.picked(passages, picks)))
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


def retrieved(searcher: Searcher, question: EvalQuestion, *, leave_out: bool = False) -> tuple[Passage, ...]:
    """The best passages, best first; with `leave_out`, none from the question's own sources."""
    wanted = RETRIEVED * (LEAVING_OUT if leave_out else 1)
    found = searcher.search(
        question.question, language=question.language or None, k=wanted, bm25_k=wanted, vector_k=wanted
    )
    hits = [hit for hit in found if not (leave_out and hit.source_id in question.source_ids)][:RETRIEVED]
    return tuple(map(passage_of, hits))
