"""The tool `ask`: a question as a run, told of as it is checked, and its answer with what it rests on."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from bus.events import ProgressEvent, Sources, StageEvent, Withheld
from bus.messages import NearPassage, QuestionAsked, Reference, Turn
from bus.router import Reader, TooSlow
from bus.run_record import RunRecord
from index.filters import Filter
from prompts.vocabulary import Confidence, Language, Outcome, Reason, Style, Voice
from runtime.commands.terminal import fit, one_line
from runtime.edge.cited import cited
from runtime.edge.following import Followed
from runtime.edge.passages_markdown import markdown
from runtime.edge.problems import Problem
from runtime.edge.state import Edge
from runtime.mcp.calls import Call, Teller
from runtime.mcp.resources import PLAIN
from runtime.mcp.schemas import ResourceLink, Text, ToolCalled
from runtime.mcp.source_uris import opened, source_uri
from runtime.mcp.tools import Declared
from runtime.source_links import source_path

#: A wait that a client is told of, in seconds.
NOTABLE_S = 0.5


class AskArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    question: Annotated[
        str, Meta(min_length=1, max_length=4000, description="The question, in the words of the person who asks.")
    ]
    conversation_history: Annotated[
        tuple[Turn, ...],
        Meta(max_length=50, description="What was said before, oldest first, where the question depends on it."),
    ] = ()
    profile: Annotated[
        str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z", description="How to answer, as this installation names it.")
    ] = "general"
    language: Annotated[Language | None, Meta(description="Of the answer; the question's if omitted.")] = None
    style: Annotated[Style | None, Meta(description="The form of the answer.")] = None
    voice: Annotated[
        Voice | None, Meta(description="How sure an answer must be; below that the closest passages are shown instead.")
    ] = None
    filter: Annotated[Filter | None, Meta(description="Only documents that fit all of it.")] = None
    deadline_s: Annotated[float, Meta(gt=0, le=3600, description="Give up after this many seconds.")] | None = None


class CitedPassage(msgspec.Struct, frozen=True, kw_only=True):
    """One number of one marker: `start` and `end` are the marker's characters in the answer, `quote` what it cites, verbatim."""

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


class ClosestPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that comes close to the question; nothing is claimed of it. `start` and `end` are characters of the document."""

    source_id: str
    title: str
    url: str
    uri: str
    page: int | None
    start: int
    end: int
    text: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a question. `answer` is checked text with markers like [1]; it is empty where nothing is claimed.

    `message`: what the person is told where there is no answer. `withheld`: how many sentences did not pass the checks.
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


class Shown(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    """Text of the answer as it is shown; all of them together are the answer."""

    content: str


class Waiting(msgspec.Struct, frozen=True, kw_only=True, tag="waiting"):
    """The index is not open yet."""


async def ask(call: Call, asked: AskArguments) -> ToolCalled:
    """Raises EXPECTED."""
    teller = Teller.of(call)
    edge = await _up(call, teller)
    question = QuestionAsked(
        question=asked.question,
        conversation_history=asked.conversation_history,
        profile=asked.profile,
        language=asked.language,
        style=asked.style,
        voice=asked.voice,
        filter=asked.filter,
        deadline_s=asked.deadline_s,
        events="all" if teller.wanted else "default",
        on_disconnect="continue" if call.may_leave else "cancel",
        idempotency_key=call.run_key,
    )
    async with edge.ask(call.peer.caller, question, "mcp") as reader:
        await call.stream.begin(reader.run_id)
        return await followed(edge, reader, teller, call.peer.base)


async def _up(call: Call, teller: Teller) -> Edge:
    """What answers, once it is up; a client that waits for it is told so. Raises Unavailable."""
    opening = asyncio.ensure_future(call.peer.edge())
    done, _ = await asyncio.wait([opening], timeout=NOTABLE_S)
    if not done:
        await teller.progress(0, "the documents are being opened", Waiting())
    return await opening


async def followed(edge: Edge, reader: Reader, teller: Teller, base: str, after: int = 0) -> ToolCalled:
    """The run to its end, told of from its event `after` on. Raises Problem, Unavailable."""
    run = Followed(reader, edge.timeouts.keepalive_s)
    try:
        async for batch in run.numbered():
            if batch is None:
                await teller.stream.alive()
            for number, part in joined(each for each in batch or () if each[0] > after):
                if isinstance(part, str):
                    await teller.progress(number, one_line(part), Shown(content=part))
                else:
                    await _tell(teller, number, part)
    except TooSlow:
        raise Problem(503, "unavailable", f"run {run.run_id} was read too slowly; ask again") from None
    return result_of(run, await edge.runs.record(run.run_id), base)


def joined(parts: Iterable[tuple[int, str | ProgressEvent]]) -> Iterator[tuple[int, str | ProgressEvent]]:
    """Tokens that follow one another as one text, with the number of its last; everything else as it is."""
    text, last = "", 0
    for number, part in parts:
        if isinstance(part, str):
            text, last = text + part, number
            continue
        if text:
            yield last, text
            text = ""
        yield number, part
    if text:
        yield last, text


async def _tell(teller: Teller, number: int, event: ProgressEvent) -> None:
    match event:
        case StageEvent(status="start"):
            await teller.progress(number, event.stage.replace("_", " "), event)
        case Sources():
            titles = ", ".join(dict.fromkeys(one_line(each.title or each.source_id) for each in event.items))
            await teller.progress(number, f"found {titles}", event)
        case Withheld():
            kinds = ", ".join(dict.fromkeys(flag.kind.replace("_", " ") for flag in event.flags))
            await teller.progress(number, f"withheld a sentence: {kinds}", event)
            await teller.log("info", number, event)


def result_of(run: Followed, record: RunRecord | None, base: str) -> ToolCalled:
    """The answer as a text for any model, with a link to each source, and as data."""
    outcome: Outcome = (record and record.outcome) or "answered"
    answers = outcome == "answered" and not run.withdrawn
    sources = tuple(_sources(run.references, base)) if answers else ()
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
    )
    links = (
        ResourceLink(uri=each.uri, name=each.source_id, title=one_line(each.title), mime_type=PLAIN) for each in sources
    )
    return ToolCalled(content=(Text(text=_text(answer, run.passages)), *links), structured_content=answer)


def _citations(run: Followed, base: str) -> Iterator[CitedPassage]:
    places = {place.n: place for reference in run.references for place in reference.cited}
    for each in cited(run.text, run.references, base):
        place = places[each.n]
        uri = source_uri(each.source_id, place.source_start, place.source_end)
        yield CitedPassage(
            n=each.n,
            start=each.start,
            end=each.end,
            source_id=each.source_id,
            title=each.title,
            url=opened(each.url, base, uri),
            uri=uri,
            page=place.page,
            quote=each.quote,
        )


def _sources(references: tuple[Reference, ...], base: str) -> Iterator[CitedSource]:
    for each in references:
        title, uri = each.title or each.source_id, source_uri(each.source_id)
        url = opened(each.url or source_path(each.source_id), base, uri)
        yield CitedSource(n=each.n, source_id=each.source_id, title=title, url=url, uri=uri)


def _closest(passage: NearPassage, base: str) -> ClosestPassage:
    start, end = passage.source_start, passage.source_end
    uri = source_uri(passage.source_id, start, end)
    return ClosestPassage(
        source_id=passage.source_id,
        title=passage.title or passage.source_id,
        url=opened(passage.url or source_path(passage.source_id, start, end), base, uri),
        uri=uri,
        page=passage.page,
        start=start,
        end=end,
        text=passage.text,
    )


def _text(answer: Answer, passages: tuple[NearPassage, ...]) -> str:
    """The answer, and under it the sources by their numbers."""
    if not answer.answer:
        return fit(answer.message) + markdown(passages)
    lines = (
        "".join(f"[{n}]" for n in each.n) + f" {one_line(each.title)} ({one_line(each.source_id)})"
        for each in answer.sources
    )
    return "\n\n".join(filter(None, (fit(answer.answer), "\n".join(lines))))


ASK = Declared(
    name="ask",
    title="Ask the documents",
    description=(
        "Answer a question from the person's own documents. Every sentence of the answer was checked against the passages that"
        " it cites with markers like [1]; what could not be verified was left out. Quote the answer with its markers rather"
        " than rewriting it, and name the sources. `outcome` says whether it is an answer: for `closest`, `refused` and"
        " `declined` there is none, so say so and claim nothing; the passages given with `closest` may be shown as they are."
    ),
    scope="ask",
    arguments=AskArguments,
    gives=Answer,
    use=ask,
)
