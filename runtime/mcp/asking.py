"""The tool `ask`: a question as a run, told of as it is checked, and its answer with what it rests on."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from bus.powers.events import ProgressEvent, Sources, StageEvent, Withheld
from bus.runs.router import Reader, TooSlow
from bus.wire.messages import QuestionAsked, Turn
from index.filters import Filter
from index.languages import FALLBACK, of
from prompts.vocabulary import Language, Style, Voice
from runtime.edge.following import Followed
from runtime.edge.problems import Problem
from runtime.edge.state import Edge
from runtime.mcp.answers import Answer, result_of
from runtime.mcp.calls import Call, Teller
from runtime.mcp.results import ToolCalled
from runtime.mcp.tools import Declared
from runtime.terminal import one_line

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
        str, Meta(pattern="^[A-Za-z0-9_-]{1,64}$", description="How to answer, as this installation names it.")
    ] = "general"
    language: Annotated[Language | None, Meta(description="Of the answer; the question's if omitted.")] = None
    style: Annotated[Style | None, Meta(description="The form of the answer.")] = None
    voice: Annotated[
        Voice | None, Meta(description="How sure an answer must be; below that the closest passages are shown instead.")
    ] = None
    filter: Annotated[Filter | None, Meta(description="Only documents that fit all of it.")] = None
    deadline_s: Annotated[float, Meta(gt=0, le=3600, description="Give up after this many seconds.")] | None = None


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
    try:
        done, _ = await asyncio.wait([opening], timeout=NOTABLE_S)
        if not done:
            await teller.progress(0, "the documents are being opened", Waiting())
        return await opening
    finally:
        opening.cancel()


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
            await teller.progress(number, _stage(event.stage), event)
        case Sources():
            titles = ", ".join(dict.fromkeys(one_line(each.title or each.source_id) for each in event.items))
            await teller.progress(number, f"found {titles}", event)
        case Withheld():
            why = ", ".join(dict.fromkeys(_flag(flag.kind) for flag in event.flags))
            await teller.progress(number, f"a sentence is withheld: it {why}", event)
            await teller.log("info", number, event)


def _stage(stage: str) -> str:
    """What a stage does, in the words of the page, for a person who waits."""
    words = of(FALLBACK).page.stages
    return getattr(words, "answer" if stage.startswith("answer_") else stage, words.other)


def _flag(kind: str) -> str:
    words = of(FALLBACK).page.flags
    said: str = getattr(words, kind, words.other)
    return said[:1].lower() + said[1:].rstrip(":")


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
