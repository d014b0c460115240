"""A real nats-server, a pipeline of one fake actor, and an edge in front of it."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec
import pytest
from groundwire.wire import Citation, NearPassage, Reference
from nats.aio.client import Client

from actors.stream_answer import stream_answer
from actors.stream_references import stream_references
from bus.journal.journal import Journal
from bus.journal.records import Stage
from bus.powers.events import Done, Emitter, Error, Event, References, TokensEnd, tokens_of
from bus.runs.runs import Runs
from bus.transport.connection import connect, keep_trying
from bus.transport.follow import Following
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import AnswerSettled, QuestionAsked, RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import RUNS, finished, key_of, parse
from runtime.edge.timeouts import Timeouts
from runtime.settings import EdgeSettings, Settings
from tests.polling import cancel
from tests.runtime.served import ROUTES, declared_bus, open_edge


@pytest.fixture(scope="session")
async def bus_settings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BusSettings]:
    """A server for these tests alone: the fake actor would answer the questions of others."""
    async with declared_bus(tmp_path_factory.mktemp("edge-nats")) as settings:
        yield settings


@dataclass
class Bus:
    """A connection with all that is needed to play the pipeline."""

    client: Client
    journal: Journal
    settings: BusSettings


@pytest.fixture(scope="session")
async def bus(bus_settings: BusSettings) -> AsyncIterator[Bus]:
    client = await connect(bus_settings.url, name="test")
    keep_trying(client)
    yield Bus(client, Journal(client), bus_settings)
    await client.close()


@pytest.fixture(scope="session")
async def runs(bus: Bus) -> AsyncIterator[Runs]:
    made = Runs(bus.journal)
    await made.start()
    yield made
    await made.stop()


SOURCE = Reference(source_id="refunds", title="환불 규정", url="https://example.org/refunds", score=0.5)


def citation(n: int, text: str, at: int = 0, **more: Any) -> Citation:
    """A citation of SOURCE that begins at the given place; any field may be another one."""
    place = {"source_id": SOURCE.source_id, "title": SOURCE.title, "url": "", "page": None, "source_start": at}
    fields = place | {"source_end": at + len(text), "cited_text": text, "answer_start": 0, "answer_end": 3}
    return Citation(n=n, **(fields | more))


#: What the fake actor does with a question.
Answer = Callable[["Pipeline", str, QuestionAsked], Awaitable[None]]


async def answer(pipeline: "Pipeline", run_id: str, question: QuestionAsked) -> None:
    """Repeats the question, a word a frame, and cites one source."""
    emitter = Emitter(pipeline.bus.journal, run_id, everything=question.events == "all")
    for piece in tokens_of(f"{question.question} [1]"):
        await emitter.tokens([piece])
    settled = Settled(
        outcome="answered",
        question=question.question,
        answer=f"{question.question} [1]",
        confidence="high",
        re_gate="clean",
        references=(SOURCE,),
        citations=(citation(1, "환불 규정", source_end=4, answer_end=5),),
        profile=question.profile,
    )
    await pipeline.end(emitter, settled)


#: Two passages that a run may end with; the text of the first begins outside the basic plane and is full of markup.
NEAR = (
    NearPassage(
        source_id="refunds",
        title="환불 <규정>",
        url="https://example.org/refunds#terms",
        page=3,
        source_start=10,
        source_end=62,
        text="👩‍🎓 환불은 14일\n# [x](https://evil.example) <b>환불</b> `a`",
        marked=((4, 6), (43, 45)),
        score=0.5,
        headings=("Shop", "Refunds"),
    ),
    NearPassage(
        source_id="file.txt",
        title="",
        url="",
        page=None,
        source_start=0,
        source_end=23,
        text="تُدفع المبالغ خلال 14 يومًا",
        marked=((0, 5),),
        score=0.25,
    ),
)


class Pipeline:
    """The fake actor: answers every question with `script`, which a test may replace for questions that begin with a word."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.scripts: dict[str, Answer] = {"near": near}
        self.ended: dict[str, asyncio.Task[None]] = {}

    async def follow(self, ready: asyncio.Event) -> None:
        async for batch in Following(self.bus.client, RUNS, ["gw.question_asked.*"], ready=ready).batches():
            for stored in batch:
                run_id = parse(stored.subject).run_id
                self.ended[run_id] = asyncio.create_task(self._play(run_id))

    async def _play(self, run_id: str) -> None:
        """A question that no script takes, or a script that breaks, ends its own run and not the tests behind it."""
        try:
            question = await self.asked(run_id)
            await self.scripts.get(question.question.split()[0], answer)(self, run_id, question)
        except (asyncio.CancelledError, Unavailable):
            pass  # a test may have taken the stream away
        except BaseException as broken:
            settled = Settled(outcome="failed", detail=f"the script broke: {broken!r}")
            error = Error(code="internal", content=settled.detail)
            await self.end(Emitter(self.bus.journal, run_id), settled, error)
            raise

    async def asked(self, answer_id: str) -> QuestionAsked:
        """The question of a run, or of an answer by its id in OpenAI's protocols."""
        run_id = answer_id.removeprefix("resp_").removeprefix("chatcmpl-")
        question = (await self.bus.journal.latest([key_of(QuestionAsked, run_id).subject]))[0].message
        assert isinstance(question, QuestionAsked)
        return question

    async def end(self, emitter: Emitter, settled: Settled, *last: Event, stage: Stage | None = None) -> None:
        """Write how a run ended, and its last events: without `last`, those of an answer with its references."""
        await self.bus.journal.write(finished(emitter.run_id), RunFinished(settled=settled), stage=stage)
        references = (References(items=settled.references),) if settled.references else ()
        await emitter.events(*(last or (TokensEnd(), *references)), Done())


def plays(said: str, *last: Event, **fields: Any) -> Answer:
    """A script that says this in one frame and ends the run so, in fields of Settled."""

    async def play(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.text(said)
        await pipeline.end(emitter, Settled(question=question.question, profile=question.profile, **fields), *last)

    return play


def ends(shown: str = "", **fields: Any) -> Answer:
    """A script that shows the given text and then ends the run like its last stages, in fields of Settled."""

    async def play(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.text(shown)
        settled = Settled(question=question.question, profile=question.profile, language="en", **fields)
        message = AnswerSettled(settled=settled, shown=shown, retract=bool(shown) and settled.answer != shown)
        await pipeline.bus.journal.write(key_of(AnswerSettled, run_id), message)
        over = await stream_answer.handle(message, emitter)
        await pipeline.bus.journal.write(finished(run_id), over)
        await stream_references.handle(over, emitter)

    return play


#: Ends with the closest passages.
near = ends(outcome="closest", reason="no_evidence", answer="Nothing is sure:", passages=NEAR, probability=0.25)


@pytest.fixture(scope="session")
async def pipeline(bus: Bus) -> AsyncIterator[Pipeline]:
    made, ready = Pipeline(bus), asyncio.Event()
    task = asyncio.create_task(made.follow(ready))
    await ready.wait()
    yield made
    await cancel(task)
    for each in made.ended.values():
        each.cancel()
    await asyncio.gather(*made.ended.values())


TIMEOUTS = Timeouts(keepalive_s=0.3, stall_s=2.0, grace_s=0.3, search_s=3.0, health_s=5.0, nats_s=60.0, rejoin_s=2.0)


@pytest.fixture(scope="session")
async def edge(bus: Bus, pipeline: Pipeline, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    state = str(tmp_path_factory.mktemp("state"))
    settings = Settings(bus=bus.settings, edge=EdgeSettings(port=0, hosts="127.0.0.1"), state=state)
    async with open_edge(settings, TIMEOUTS) as address:
        yield address


async def as_declared(session: aiohttp.ClientSession, context: object, params: aiohttp.TraceRequestEndParams) -> None:
    """Every response of these tests must be declared by its route."""
    response, path = params.response, params.url.raw_path
    route = next((r for r in ROUTES if r.method == params.method and _pattern(r.path).fullmatch(path)), None)
    if route is None:
        assert response.status in (404, 405), (path, response.status)
        return
    reply, kind = route.replies.get(response.status), response.content_type
    if kind == "application/json" and reply is not None and isinstance(reply.body, type):
        msgspec.json.decode(await response.read(), type=reply.body)
    elif kind == route.errors.media_type:
        assert response.status in route.problems, (path, response.status)
        if issubclass(route.errors.schema, msgspec.Struct):
            msgspec.json.decode(await response.read(), type=route.errors.schema)
    else:
        assert reply is not None, (path, response.status)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{\w+\}", "[^/]+", path))


@pytest.fixture
async def http(edge: str) -> AsyncIterator[aiohttp.ClientSession]:
    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(as_declared)
    async with aiohttp.ClientSession(edge, trace_configs=[trace]) as session:
        yield session
