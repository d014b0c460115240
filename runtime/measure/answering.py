"""Answer evaluation questions with the extractive engine, in the same steps as the actors."""

import time

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
from runtime.measure.answers import Answered, CitedSpan, EvalPassage, EvalQuestion
from runtime.processes.hits import collection_of, passage_of

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
