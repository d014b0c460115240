"""Why a run did not cite a source: where the source was lost on the way from the search to the answer, and what beat it."""

from collections.abc import Iterator

from runtime.replay.explained import BestUnit, Explained
from runtime.replay.trace import Trace

type Lines = list[tuple[int, str]]


def why(trace: Trace, run: Explained, source: str) -> Lines:
    """Lines with their indent, the answer first. `source`: all or part of its id. Raises LookupError where several sources fit."""
    sources = list(dict.fromkeys(hit.source_id for hit in run.hits))
    named = [each for each in sources if each == source] or [each for each in sources if source in each]
    if len(named) > 1:
        raise LookupError(f"several sources have {source!r} in their ids: {', '.join(named)}; name one")
    return list(_of(run, named[0])) if named else list(_not_found(trace, run, source))


def _not_found(trace: Trace, run: Explained, source: str) -> Iterator[tuple[int, str]]:
    yield 0, f"{source} was not found: it is in none of the {len(run.hits)} passages that the run had"
    for query in dict.fromkeys(search.query for search in trace.story.searches):
        yield 2, f"searched: “{query}”"


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
