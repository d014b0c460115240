"""The result of the tool `ask`: a text for any model, a link to each source, and data."""

from collections.abc import Iterator

import msgspec
from groundwire.wire import NearPassage, Reference
from mcp_types import CallToolResult, ResourceLink

from bus.runs.run_record import RunRecord
from bus.wire.messages import same_fields
from bus.wire.settled import UnverifiedSentence
from index.source_paths import source_path
from prompts.vocabulary import Confidence, Outcome, Reason
from runtime.edge.cited import cited, markdown
from runtime.edge.relay import Transcript
from runtime.mcp.sources import PLAIN, Stretch, opened, place_of, source_uri
from runtime.mcp.tools import result_of
from runtime.terminal import fit, one_line


class CitedPassage(msgspec.Struct, frozen=True, kw_only=True):
    """One number of one marker. `start` and `end` are the marker's characters in the answer; `quote` is the cited text."""

    n: int
    start: int
    end: int
    source_id: str
    title: str
    url: str
    uri: str
    page: int | None
    quote: str


class CitedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A document that the answer cites, under the numbers `n`. `uri` is its resource, `url` a page for people."""

    n: tuple[int, ...]
    source_id: str
    title: str
    url: str
    uri: str


class ClosestPassage(Stretch, frozen=True, kw_only=True):
    """A passage close to the question, of which nothing is claimed. `start` and `end` are characters of the document."""

    text: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a question. `answer` is checked text with markers like [1]; it is empty where nothing is claimed.

    `message`: the text for the person where there is no answer. `unverified`: sentences of the answer that go beyond the passages
    that they cite. `withheld`: the number of sentences that did not pass the checks.
    """

    run_id: str
    outcome: Outcome
    reason: Reason | None
    answer: str
    message: str
    confidence: Confidence | None
    citations: tuple[CitedPassage, ...]
    sources: tuple[CitedSource, ...]
    passages: tuple[ClosestPassage, ...]
    withheld: int
    unverified: tuple[UnverifiedSentence, ...] = ()


def answer_of(run: Transcript, record: RunRecord | None, base: str) -> CallToolResult:
    outcome: Outcome = (record and record.outcome) or "answered"
    answers = outcome == "answered" and not run.withdrawn
    sources = tuple(_source(each, base) for each in run.references) if answers else ()
    answer = Answer(
        run_id=run.run_id,
        outcome=outcome,
        reason=record.reason if record else None,
        answer=run.text if answers else "",
        message="" if answers else run.withdrawn or run.text,
        confidence=record.confidence if record and answers else None,
        citations=tuple(_citations(run, base)) if answers else (),
        sources=sources,
        passages=tuple(_closest(each, base) for each in run.passages),
        withheld=len(record.withheld) if record else 0,
        unverified=record.unverified if record and answers else (),
    )
    links = tuple(
        ResourceLink(
            type="resource_link", uri=each.uri, name=each.source_id, title=one_line(each.title), mime_type=PLAIN
        )
        for each in sources
    )
    return result_of(_text(answer, run.passages), answer, links)


def _citations(run: Transcript, base: str) -> Iterator[CitedPassage]:
    cited_at = {each.n: each for reference in run.references for each in reference.cited}
    for each in cited(run.text, run.references, base):
        passage = cited_at[each.n]
        uri = source_uri(each.source_id, passage.source_start, passage.source_end)
        own = {"url": opened(each.url, base, uri), "uri": uri, "page": passage.page}
        yield CitedPassage(**(same_fields(each, CitedPassage) | own))


def _source(each: Reference, base: str) -> CitedSource:
    title, uri = each.title or each.source_id, source_uri(each.source_id)
    url = opened(each.url or source_path(each.source_id), base, uri)
    return CitedSource(n=each.n, source_id=each.source_id, title=title, url=url, uri=uri)


def _closest(passage: NearPassage, base: str) -> ClosestPassage:
    start, end = passage.source_start, passage.source_end
    own = place_of(passage.source_id, passage.title, passage.url, start, end, base)
    return ClosestPassage(**(same_fields(passage, ClosestPassage) | own))


def _text(answer: Answer, passages: tuple[NearPassage, ...]) -> str:
    """The answer, and under it the sources by their numbers and what is unverified."""
    if not answer.answer:
        return fit(answer.message) + markdown(passages)
    lines = (
        "".join(f"[{n}]" for n in each.n) + f" {one_line(each.title)} ({one_line(each.source_id)})"
        for each in answer.sources
    )
    marked = (f"Unverified, goes beyond its source: {one_line(each.text)}" for each in answer.unverified)
    return "\n\n".join(filter(None, (fit(answer.answer), "\n".join(lines), "\n".join(marked))))
