"""The citations of a text, each with its position in the text and an address that opens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiohttp import web
from msgspec.structs import replace

from bus.runs.citing import at_sentence, sentence_of
from bus.wire.settled import NearPassage, Reference
from index.source_paths import source_path
from index.text.citations import markers
from runtime.edge.passages_markdown import each_markdown
from runtime.edge.state import EDGE
from runtime.source_links import absolute


@dataclass(frozen=True, slots=True)
class Cited:
    """One number of one marker. `start` and `end` are the marker's characters in the text; `quote` is what it cites."""

    n: int
    start: int
    end: int
    source_id: str
    title: str
    url: str
    quote: str


def cited(text: str, references: Sequence[Reference], base: str) -> Iterator[Cited]:
    """The citations of a text in reading order; `base` makes addresses of our own whole."""
    spans = {span.n: (reference, span) for reference in references for span in reference.cited}
    for marker in markers(text):
        for n in marker.numbers:
            if n in spans:
                reference, span = spans[n]
                url = span.url or reference.url
                url = url or source_path(reference.source_id, span.source_start, span.source_end)
                url = at_sentence(url, reference.source_id, sentence_of(text, marker.start, span))
                yield Cited(
                    n,
                    marker.start,
                    marker.end,
                    reference.source_id,
                    reference.title or reference.source_id,
                    absolute(url, base),
                    span.cited_text,
                )


def cited_passages(at: int, passages: Sequence[NearPassage], base: str) -> Iterator[Cited]:
    """Each of the closest passages with its position in a text; their Markdown begins at `at`, their numbers are 0."""
    for passage, text in zip(passages, each_markdown(passages), strict=True):
        start, at = at + 2, at + 2 + len(text)
        url = passage.url or source_path(passage.source_id, passage.source_start, passage.source_end)
        title = passage.title or passage.source_id
        yield Cited(0, start, at, passage.source_id, title, absolute(url, base), passage.text)


def opened_references(references: Sequence[Reference], base: str) -> tuple[Reference, ...]:
    return tuple(
        replace(
            each,
            url=absolute(each.url, base),
            cited=tuple(replace(span, url=absolute(span.url, base)) for span in each.cited),
        )
        for each in references
    )


def opened_passages(passages: Sequence[NearPassage], base: str) -> tuple[NearPassage, ...]:
    return tuple(replace(each, url=absolute(each.url, base)) for each in passages)


def base_of(request: web.Request) -> str:
    """Where this request's client reaches the edge: `https://host:port`."""
    return request.app[EDGE].settings.public_url or f"{request.scheme}://{request.host}"
