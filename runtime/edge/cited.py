"""The citations of a text, each with its position in the text and an address that opens; and the closest passages as Markdown, for
clients that display only text: each under its title, matches in bold. A document's text stays text: none of it becomes markup."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

import msgspec
from aiohttp import web
from groundwire.wire import NearPassage, Reference
from msgspec.structs import replace

from actors.text.limit import tokens_in
from bus.runs.citing import at_sentence, sentence_of
from index.languages.characters import visible
from index.source_paths import source_path
from index.text.citations import markers
from runtime.edge.state import EDGE
from runtime.terminal import fit


def absolute(url: str, base: str) -> str:
    """An address that may be one of ours without a host, as a client at `base` (`https://host:port`) can open it."""
    return f"{base.rstrip('/')}{url}" if url.startswith("/") and not url.startswith("//") and base else url


class Cited(msgspec.Struct, frozen=True):
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
                # A reference that was sent has the whole address.
                url = at_sentence(url.removeprefix(base), reference.source_id, sentence_of(text, marker.start, span))
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


#: Characters that mean something inside a line, and what makes an address a link by itself.
_INLINE = re.compile(r"[\\`*\[\]<>~&@]|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.", re.IGNORECASE)
#: What means something at the beginning of a line: indentation, then a heading, a list, a rule or a table.
_BEGINNING = re.compile(r"([ \t]*)(?:([#+=|-]|:(?=-))|(\d{1,9})(?=[.)]))?")
_WEB = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)


def markdown(passages: Sequence[NearPassage]) -> str:
    """The passages, numbered, after a blank line; empty for none."""
    return "".join(f"\n\n{each}" for each in each_markdown(passages))


def within(passages: Sequence[NearPassage], text: str, most: int | None) -> tuple[NearPassage, ...]:
    """The first passages, each whole, that have at most so many tokens together with the text before them."""
    if most is None:
        return tuple(passages)
    counts = accumulate(map(tokens_in, each_markdown(passages)), initial=tokens_in(text))
    return tuple(passage for passage, count in zip(passages, islice(counts, 1, None), strict=True) if count <= most)


def each_markdown(passages: Sequence[NearPassage]) -> list[str]:
    return [f"{_heading(n, passage)}\n\n{_quoted(passage)}" for n, passage in enumerate(passages, 1)]


def _heading(n: int, passage: NearPassage) -> str:
    title = _plain(passage.title or passage.source_id)
    name = f"[{title}](<{passage.url}>)" if _WEB.fullmatch(passage.url) and fit(passage.url) == passage.url else title
    if passage.outdated is not msgspec.UNSET:  # without a word: the person's language is not known here
        name = f"~~{name}~~" + (f" → {_plain(passage.outdated)}" if passage.outdated else "")
    page = f"p. {passage.page}" if passage.page is not None else ""
    position = ", ".join(part for part in (_plain(" › ".join(passage.headings)), page) if part)
    return f"**{n}. {name}**" + (f" {position}" if position else "")


def _quoted(passage: NearPassage) -> str:
    """The text as a quotation, a line of it a line; the stretches that match in bold."""
    pieces: list[str] = []
    at = 0
    for start, end in passage.marked:
        pieces += [_escaped(passage.text[at:start]), f"**{_escaped(passage.text[start:end])}**"]
        at = end
    pieces.append(_escaped(passage.text[at:]))
    lines = [_BEGINNING.sub(_as_text, line.rstrip(), count=1) for line in "".join(pieces).strip("\n").split("\n")]
    return "  \n".join(f"> {line}".rstrip() for line in lines)


def _as_text(match: re.Match[str]) -> str:
    """The beginning of a line, so that its indentation is kept and makes no code."""
    indented = "\u00a0" * len(match[1].expandtabs(4))
    return indented + (f"\\{match[2]}" if match[2] else f"{match[3]}\\" if match[3] else "")


def _escaped(text: str) -> str:
    return _INLINE.sub(lambda match: "\\" + match[0], visible(fit(text)))


def _plain(text: str) -> str:
    return _escaped(" ".join(text.split()))
