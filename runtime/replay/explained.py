"""A run explained: each sentence with its words of evidence, each hit with what became of it, the choice among the best
units; and why a run did not cite a source: where it was lost on the way from the search to the answer, and what beat it."""

from collections.abc import Iterator, Sequence

import msgspec

from actors.choosing.weights import SHOWN_FROM
from actors.gate.flags import Standing, standing
from bus.journal.records import Considered
from bus.powers.searching import found_in
from bus.runs.citing import at_sentence, citations_of, sentence_of, with_sentences
from bus.runs.run_record import RunRecord
from bus.runs.story import RunStory
from bus.wire.messages import AnswerRequested, Draft, PassagesReady
from bus.wire.parts import Flag, Passage, Sentence, Span
from runtime.replay.trace import Trace


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """What a sentence cites. `text`: the sentence of the evidence that it repeats; of the whole evidence where that is unclear."""

    n: int
    source_id: str
    url: str
    text: str


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the draft. `stage`: the one that wrote it. `denied`: what the verifier says that the evidence denies."""

    text: str
    standing: Standing
    flags: tuple[Flag, ...]
    cited: tuple[Cited, ...]
    stage: str
    denied: str = ""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch that the search found, best first. `fate`: what became of it, for a person; `used`: it is evidence."""

    source_id: str
    start: int
    end: int
    text: str
    score: float
    fate: str
    used: bool


class BestUnit(msgspec.Struct, frozen=True, kw_only=True):
    """One of the best units of the choice. `share`: of the probability; `why`: what its features add to its score."""

    source_id: str
    start: int
    end: int
    text: str
    share: float
    shown: bool
    why: dict[str, float]


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """A run with its reasons. `probability`: that what the rules chose answers; `needed`: the least that is shown as an answer.

    Both are None where the rules chose nothing.
    """

    record: RunRecord
    sentences: tuple[Told, ...]
    evidence: tuple[Span, ...]
    hits: tuple[Hit, ...]
    best: tuple[BestUnit, ...]
    probability: float | None
    needed: float | None


def explained(trace: Trace) -> Explained:
    """Raises Poison for a trace without a question."""
    story, record = trace.story, trace.record
    ready = next((m for m in reversed(story.messages) if isinstance(m, PassagesReady)), None)
    choice = next((each.stage.choice for each in reversed(story.stages) if each.stage.choice is not None), None)
    passages, best = (*ready.passages, *ready.near) if ready else (), choice.best if choice else ()
    voice = next((q.voice for q in story.questions), None)
    return Explained(
        record=with_sentences(record),
        sentences=tuple(_sentences(story)),
        evidence=evidence_of(story),
        hits=tuple(_hits(story, ready, best)),
        best=tuple(_unit(each, passages[each.passage]) for each in best if each.passage < len(passages)),
        probability=choice.probability if choice else record.probability,
        needed=SHOWN_FROM[voice] if choice and voice else None,
    )


def evidence_of(story: RunStory) -> tuple[Span, ...]:
    """The evidence of the answer, or what it would have been written from."""
    return next((m.evidence for m in reversed(story.messages) if isinstance(m, AnswerRequested | Draft)), ())


def _sentences(story: RunStory) -> Iterator[Told]:
    draft = story.draft
    if draft is None:
        return
    taken_out = {each.text for each in story.settled.withheld} if story.settled else set()
    stage = next((each.stage.actor for each in story.stages if each.stage.actor.startswith("answer_")), "answer")
    for sentence in draft.sentences:
        if sentence.text.strip():
            out = sentence.withheld or sentence.text in taken_out
            yield Told(
                text=sentence.text.strip(),
                standing="withheld" if out else standing(sentence.flags),
                flags=sentence.flags,
                cited=tuple(_cited(sentence, draft.evidence)),
                stage=stage,
                denied=next((c.explanation for c in draft.contradictions if c.claim.strip(" .…") in sentence.text), ""),
            )


def _cited(sentence: Sentence, evidence: Sequence[Span]) -> Iterator[Cited]:
    for place in {each.n: each for each in citations_of(sentence.text, evidence)}.values():
        start, end = sentence_of(sentence.text, place.answer_start, place) or (place.source_start, place.source_end)
        text = place.cited_text[start - place.source_start : end - place.source_start]
        url = at_sentence(place.url, place.source_id, (start, end))
        yield Cited(n=place.n, source_id=place.source_id, url=url, text=text.strip())


def _unit(unit: Considered, passage: Passage) -> BestUnit:
    return BestUnit(
        source_id=passage.source_id,
        start=passage.char_start + unit.start,
        end=passage.char_start + unit.end,
        text=passage.text[unit.start : unit.end],
        share=unit.share,
        shown=unit.shown,
        why=unit.why,
    )


def _hits(story: RunStory, ready: PassagesReady | None, best: Sequence[Considered]) -> Iterator[Hit]:
    """Every passage found, each once, with its fate: those that were read on first."""
    evidence, draft = evidence_of(story), story.draft
    cited = {c.n for s in draft.sentences for c in citations_of(s.text, evidence)} if draft else set[int]()
    read_on = (*ready.passages, *ready.near) if ready else ()
    found = [ranked for search in story.searches for ranked in enumerate(found_in(search)[1], 1)]
    ranks = {_place(passage): at for at, passage in reversed(found)}
    places = {_place(passage): at for at, passage in enumerate(read_on)}
    for place, passage in {_place(p): p for p in (*read_on, *(p for _, p in found))}.items():
        spans = [span for span in evidence if _overlap(span, passage)]
        at = places.get(place)
        if spans:
            fate = ", ".join(f"evidence [{s.n}], {'cited' if s.n in cited else 'not cited'}" for s in spans)
        elif at is None:
            fate = f"cut off: number {ranks[place]} of its search, and {len(read_on)} passages were read on"
        elif ready is not None and at >= len(ready.passages):
            fate = "a judge did not keep it"
        else:
            fate = _fate_in(best, at) if best else "not picked as evidence"
        yield Hit(
            source_id=passage.source_id,
            start=passage.char_start,
            end=passage.char_end,
            text=passage.text,
            score=passage.score,
            fate=fate,
            used=bool(spans),
        )


def _fate_in(best: Sequence[Considered], at: int) -> str:
    place, unit = next(((n, u) for n, u in enumerate(best, 1) if u.passage == at), (0, None))
    if unit is None:
        return f"none of its units is among the {len(best)} best of the choice"
    rank = f"number {place} of the choice" + (f", behind {place - 1} better" if place > 1 else "")
    return f"its best unit is {rank}, with a share of {unit.share:.3f}; not in the evidence"


def _place(passage: Passage) -> tuple[str, int, int]:
    return passage.source_id, passage.char_start, passage.char_end


def _overlap(span: Span, passage: Passage) -> bool:
    meet = passage.char_start < span.source_end and span.source_start < passage.char_end
    return meet and span.source_id == passage.source_id


type Lines = list[tuple[int, str]]


def why(trace: Trace, run: Explained, source: str) -> Lines:
    """Lines with their indent, the answer first. `source`: all or part of its id. Raises LookupError where several sources fit."""
    sources = list(dict.fromkeys(hit.source_id for hit in run.hits))
    named = [each for each in sources if each == source] or [each for each in sources if source in each]
    if len(named) > 1:
        raise LookupError(f"several sources have {source!r} in their ids: {', '.join(named)}; name one")
    if named:
        return list(_of(run, named[0]))
    queries = dict.fromkeys(search.query for search in trace.story.searches)
    lost = f"{source} was not found: it is in none of the {len(run.hits)} passages that the run had"
    return [(0, lost), *((2, f"searched: “{query}”") for query in queries)]


def _of(run: Explained, source: str) -> Iterator[tuple[int, str]]:
    numbers = {span.n for span in run.evidence if span.source_id == source}
    citing = [told for told in run.sentences if numbers & {each.n for each in told.cited}]
    shown = [told for told in citing if told.standing != "withheld"]
    if shown and run.record.outcome == "answered":
        yield 0, f"{source} is cited in {len(shown)} of {len(run.sentences)} sentences"
    elif citing:
        yield 0, f"{source} is not cited: the gate withheld what cites it, or the answer was withdrawn"
        for told in citing:
            yield 2, told.text
            yield from ((4, f"{flag.kind}, {flag.strength}: {flag.why or flag.words}") for flag in told.flags)
    elif numbers:
        marks = ", ".join(f"[{n}]" for n in sorted(numbers))
        yield 0, f"{source} is evidence {marks}, and no sentence of the answer cites it"
    elif not run.evidence and run.probability is not None and run.needed is not None and run.probability < run.needed:
        unsure = f"the choice was too unsure, {run.probability:.3f} where {run.needed:g} is needed"
        yield 0, f"{source} is not cited: {unsure}, so nothing is"
    else:
        yield 0, f"{source} was found and is not in the evidence"
    for hit in run.hits:
        if hit.source_id == source:
            yield 2, f"{hit.source_id} {hit.start}-{hit.end}: {hit.fate}"
    yield from _against(run, source)


def _against(run: Explained, source: str) -> Iterator[tuple[int, str]]:
    """The best unit of the source beside the best that was chosen, by what their features add."""
    mine = next((unit for unit in run.best if unit.source_id == source), None)
    best = next((unit for unit in run.best if unit.shown and unit.source_id != source), None)
    if mine is None or best is None or mine.shown or mine.share > best.share:
        return
    yield 2, f"chosen before it: {_told(best)}"
    yield 2, f"its best unit: {_told(mine)}"


def _told(unit: BestUnit) -> str:
    why = ", ".join(f"{name} {by:+.1f}" for name, by in unit.why.items())
    return f"{unit.source_id} {unit.start}-{unit.end}, share {unit.share:.3f} ({why})"
