"""What the markers of a text cite: citations with their places in it, and the sources they lead to.

A marker has the text's own number; the evidence has another for the same span.
"""

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from groundwire.wire import Citation, CitedPlace, NearPassage, Reference

from bus.journal.journal import EventFrame
from bus.powers.events import numbers_behind, shown_text, unverified_in
from bus.runs.run_record import RunRecord
from bus.wire.messages import AnswerRequested, Message, same_fields
from bus.wire.parts import Span
from index.masking import masked
from index.source_paths import is_ours, source_path
from index.text.citations import markers, strip_markers
from index.text.matching import content_words, lacking
from index.text.sentences import split


def citations_of(answer: str, evidence: Sequence[Span], numbers: Sequence[int] = ()) -> tuple[Citation, ...]:
    """One entry per number of each marker, in text order, with the marker's position in the answer.

    `numbers`: the evidence's numbers behind the answer's; empty where they are the same.
    """
    by_n = {span.n: span for span in evidence}
    if numbers:
        by_n = {place: by_n[n] for place, n in enumerate(numbers, start=1) if n in by_n}
    return tuple(
        Citation(
            **same_fields(span, Citation) | {"n": number, "about": span.about.if_any},
            cited_text=span.text,
            answer_start=marker.start,
            answer_end=marker.end,
        )
        for marker in markers(answer)
        for number in marker.numbers
        if (span := by_n.get(number)) is not None
    )


def placed(citations: Sequence[Citation], answer: str) -> tuple[Citation, ...]:
    """The citations with the positions of their markers in `answer`, of which an earlier part may have changed."""
    by_n = {citation.n: citation for citation in citations}
    return tuple(
        msgspec.structs.replace(by_n[n], answer_start=marker.start, answer_end=marker.end)
        for marker in markers(answer)
        for n in marker.numbers
        if n in by_n
    )


def references_of(
    citations: Sequence[Citation], evidence: Sequence[Span], beside: Sequence[str] = ()
) -> tuple[Reference, ...]:
    """The sources that the answer cites, each once, in order of first citation; then the other cited sources, `beside`."""
    cited = [citation.source_id for citation in citations]
    cited += [source for source in beside if any(span.source_id == source for span in evidence)]
    best = {source: max((s for s in evidence if s.source_id == source), key=lambda s: s.score) for source in cited}
    return tuple(
        Reference(
            source_id=span.source_id,
            title=span.title,
            url=span.url,
            score=span.score,
            n=tuple(dict.fromkeys(c.n for c in citations if c.source_id == span.source_id)),
            about=span.about.if_any,
            cited=tuple({c.n: _cited(c) for c in citations if c.source_id == span.source_id}.values()),
        )
        for span in (best[source] for source in dict.fromkeys(cited))
    )


def _cited(citation: Citation) -> CitedPlace:
    return CitedPlace(**same_fields(citation, CitedPlace))


def sentence_of(text: str, marker: int, place: Citation | CitedPlace) -> tuple[int, int] | None:
    """The sentence of the source that the sentence with the marker at that character of a text repeats.

    None where no sentence of the cited block has half the words of the citing one, or two have as many.
    """
    words = next((words for start, end, words in _sentences(text) if start <= marker < end), frozenset[str]())
    sentences = _sentences(place.cited_text)
    shared = [len(words & others) for _, _, others in sentences]
    most = max(shared, default=0)
    if 2 * most < max(1, len(words)) or shared.count(most) > 1:
        return None
    start, end, _ = sentences[shared.index(most)]
    return place.source_start + start, place.source_start + end


@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    """The start, end and content words of each sentence. One text is read for each of its marks."""
    return tuple((start, end, content_words(strip_markers(text[start:end]))) for start, end in split(text))


def at_sentence(url: str, source_id: str, sentence: tuple[int, int] | None) -> str:
    """The address of that sentence, if the address is a page of this server."""
    return source_path(source_id, *sentence) if sentence and is_ours(url) else url


def with_sentences(record: RunRecord) -> RunRecord:
    """The record with the cited sentence in each citation and its address, the best sentence of the closest passage, and the words
    of the question that an answer which is not sure lacks.
    """
    text = record.withdrawn or record.answer
    sentences = [sentence_of(text, each.answer_start, each) for each in record.citations]
    citations = tuple(
        msgspec.structs.replace(each, sentence=sentence, url=at_sentence(each.url, each.source_id, sentence))
        for each, sentence in zip(record.citations, sentences, strict=True)
    )
    passages = (*(_with_best(each, record.question) for each in record.passages[:1]), *record.passages[1:])
    return msgspec.structs.replace(record, citations=citations, passages=passages, missing=_missing(record))


def _with_best(passage: NearPassage, question: str) -> NearPassage:
    """The passage with the words of the question that it lacks; and with its sentence that has most of them, the first of equals,
    where none was chosen. Unchanged where it has none of them.
    """
    wanted = content_words(question)
    start, end, words = max(
        _sentences(passage.text), key=lambda each: len(each[2] & wanted), default=(0, 0, frozenset())
    )
    absent = lacking(question, " ".join((passage.title, *passage.headings, passage.text)))
    if not words & wanted and not absent:
        return passage
    best = passage.best or ((start, end) if words & wanted else msgspec.UNSET)
    return msgspec.structs.replace(passage, best=best, missing=absent)


def _missing(record: RunRecord) -> tuple[str, ...]:
    """The words of the question that the cited sources of an answer lack, where its confidence is not high."""
    if record.outcome != "answered" or record.confidence == "high":
        return ()
    cited = (" ".join((one.title, one.source_id, *one.headings, one.cited_text)) for one in record.citations)
    return lacking(record.question, "\n".join(cited))


def was_cut_off(record: RunRecord) -> bool:
    """Whether the run was stopped in the middle: the process that wrote its end did not know the text that was shown."""
    return record.outcome in ("cancelled", "failed") and not record.answer


def with_shown(record: RunRecord, messages: Sequence[Message], frames: Sequence[EventFrame]) -> RunRecord:
    """The record of a run that was stopped in the middle, with what its client had been shown and what that cites."""
    request = next((m for m in messages if isinstance(m, AnswerRequested)), None)
    answer = shown_text(frames)
    if request is None or not answer:
        return record
    numbers = next((found for frame in reversed(frames) if (found := numbers_behind(frame))), ())
    citations = citations_of(answer, request.evidence, numbers)
    references = references_of(citations, request.evidence)
    if request.question.masked:
        citations, references = masked(citations), masked(references)
    unverified = unverified_in(frames)
    return msgspec.structs.replace(
        record, answer=answer, citations=citations, references=references, unverified=unverified
    )
