"""The tool `ask`: a question as a run, with its progress, and the answer with its sources."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import msgspec
from groundwire.wire import Turn
from mcp_types import CallToolResult
from msgspec import Meta

from bus.powers.events import ProgressEvent, Queued, Sources, StageEvent, Withheld
from bus.runs.router import Closing, Numbered, Reader
from bus.wire.messages import QuestionAsked, same_fields
from index.filters import Filter
from index.languages import FALLBACK, of
from prompts.vocabulary import Language, Style, Urgency, Voice
from runtime.edge.problems import Problem
from runtime.edge.relay import TextForm, Transcript, relay
from runtime.edge.state import Edge
from runtime.mcp.answers import Answer, answer_of
from runtime.mcp.tools import Context, Declared, report, token_of
from runtime.terminal import one_line

#: An event's number, a message for people, and the event.
type Report = tuple[int, str, msgspec.Struct]

#: The wait, in seconds, after which the client gets a first report.
NOTABLE_S = 0.5


class AskArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    question: Annotated[
        str, Meta(min_length=1, max_length=4000, description="The question, in the person's own words.")
    ]
    conversation_history: Annotated[
        tuple[Turn, ...],
        Meta(max_length=50, description="Earlier turns, oldest first, if the question depends on them."),
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
    priority: Annotated[
        Urgency, Meta(description="`batch` for a question that may wait until those of persons are answered.")
    ] = "interactive"
    deadline_s: Annotated[float, Meta(gt=0, le=3600, description="Give up after this many seconds.")] | None = None


class Text(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    """A stretch of the answer; all stretches together are the answer."""

    content: str


class Waiting(msgspec.Struct, frozen=True, kw_only=True, tag="waiting"):
    """The index is not open yet."""


async def ask(context: Context, arguments: AskArguments) -> CallToolResult:
    """Raises EXPECTED."""
    peer = context.lifespan_context
    edge = await _ready(context)
    question = QuestionAsked(
        **same_fields(arguments, QuestionAsked),
        events="default" if token_of(context) is None else "all",
        on_disconnect="continue" if peer.may_leave else "cancel",
        idempotency_key=peer.run_key,
    )
    async with peer.run(edge, question) as reader:
        await peer.begin(reader.run_id)
        reporter = Reporter(context, reader.run_id, peer.after)
        try:
            return await _followed(reporter, edge, reader)
        except Closing:
            if (restarted := await peer.edge()) is edge:
                raise
        with await restarted.runs.read(reader.run_id) as again:
            return await _followed(reporter, restarted, again)


async def _ready(context: Context) -> Edge:
    """The edge, once it is ready; the client gets a report if it must wait. Raises Unavailable."""
    opening = asyncio.ensure_future(context.lifespan_context.edge())
    try:
        done, _ = await asyncio.wait([opening], timeout=NOTABLE_S)
        if not done:
            await report(context, 0, "the documents are being opened", Waiting())
        return await opening
    finally:
        opening.cancel()


class Reporter(TextForm[Report]):
    """Reports a run's events after number `after` to its client."""

    resumes = True  # at another edge, or by `ask` itself after a restart

    def __init__(self, context: Context, run_id: str, after: int) -> None:
        super().__init__(run_id)
        self.context = context
        self.after = after
        self.waits = 0

    def events(self, batch: Sequence[Numbered]) -> Iterator[Report]:
        for _ in self.run.add([each for each in batch if each[0] <= self.after]):
            pass
        return super().events([each for each in batch if each[0] > self.after or not each[0]])

    def text(self, number: int, tokens: list[str]) -> Iterator[Report]:
        content = "".join(tokens)
        yield number, one_line(content), Text(content=content)

    def progress(self, number: int, event: ProgressEvent) -> Iterator[Report]:
        match event:
            case StageEvent(status="start"):
                yield number, _stage(event.stage), event
            case Queued():
                yield number, f"waiting for {event.position - 1} other questions", event
            case Sources():
                titles = ", ".join(dict.fromkeys(one_line(each.title or each.source_id) for each in event.items))
                yield number, f"found {titles}", event
            case Withheld():
                why = ", ".join(dict.fromkeys(_flag(flag.kind) for flag in event.flags))
                yield number, f"a sentence is withheld: it {why}", event

    async def send(self, units: Iterable[Report]) -> None:
        for number, message, event in units:
            self.waits += not number
            progress = number or 1 - 1 / (1 + self.waits)  # it must grow, before the first event of the run too
            await report(self.context, progress, message, event)
            self.after = number or self.after

    async def alive(self) -> None:
        await self.context.lifespan_context.alive()

    async def cut_off(self) -> None:
        raise Closing

    async def drop(self) -> Problem:
        return Problem(503, "unavailable", f"run {self.run.run_id} was read too slowly; ask again")


async def _followed(reporter: Reporter, edge: Edge, reader: Reader) -> CallToolResult:
    """Report the run's events and return its answer. Raises Problem, Closing, Unavailable."""
    reporter.run = Transcript(reader.run_id)
    await relay(edge, reader, reporter, reporter)
    reporter.run.check()
    return answer_of(reporter.run, await edge.runs.record(reader.run_id), reporter.context.lifespan_context.base)


def _stage(stage: str) -> str:
    words = of(FALLBACK).page["stages"]
    return words.get("answer" if stage.startswith("answer_") else stage, words["other"])


def _flag(kind: str) -> str:
    words = of(FALLBACK).page["flags"]
    label = words.get(kind, words["other"])
    return label[:1].lower() + label[1:].rstrip(":")


ASK = Declared(
    name="ask",
    title="Ask the documents",
    description=(
        "Answer a question from the person's own documents. Every sentence of the answer was checked against the passages that"
        " it cites with markers like [1]; what contradicts them was left out. `unverified` lists sentences that go beyond their"
        " passages: say so of each. Quote the answer with its markers rather than rewriting it, and name the sources. `outcome`"
        " says whether it is an answer: for `closest`, `refused` and `declined` there is none, so say so and claim nothing;"
        " the passages given with `closest` may be shown as they are."
    ),
    scope="ask",
    arguments=AskArguments,
    gives=Answer,
    use=ask,
)
