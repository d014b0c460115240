"""GET /v1/runs/{run_id}/trace: a run stage by stage; and one stage with its messages, prompts and replies."""

import asyncio
import functools

import msgspec
from aiohttp import web
from anyio import CapacityLimiter, to_thread

from actors.pipeline import pipeline
from bus.graph import Graph
from bus.records import AskRecord, Record
from bus.runs import NoSuchRun, no_such_run
from bus.subjects import check_id
from index.masking.parts import masked
from prompts.library import RenderedPrompt
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.state import EDGE
from runtime.replay.journal_traces import read_run
from runtime.replay.masked import masked_trace
from runtime.replay.prompts_asked import prompts_asked
from runtime.replay.steps import Step, steps_of
from runtime.replay.trace import ASKED, Trace

STEP = parameter("step", "path", "The stage's `step` in the trace.", type="integer", minimum=1)


#: One trace is read at a time: a stage is run again to show what it asked, which holds the interpreter that streams need.
_ONE = CapacityLimiter(1)


class TracedStage(msgspec.Struct, frozen=True, kw_only=True):
    """One call of an actor. `began_s` counts from the question's arrival; it and `took_s` are null of a stage that wrote nothing.

    `takes` and `gives` are types of messages. `asks`: the prompts that went to a model, `searches`: how many to the index.
    """

    step: int
    stage: str
    lane: str
    takes: str
    gives: tuple[str, ...]
    began_s: float | None = None
    took_s: float | None = None
    attempt: int = 1
    fallback: str = ""
    asks: tuple[str, ...] = ()
    searches: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class RunTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The stages of a run in the order of their input. `took_s`: from the question to the last record."""

    run_id: str
    asked_at: float
    took_s: float
    stages: tuple[TracedStage, ...]


class TracedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the journal, as it was written."""

    type: str
    lane: str
    message: msgspec.Raw


class TracedAsk(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model and its `reply`. `system` and `user`: what today's prompt file makes of the variables of then;
    empty where it cannot be made again. `same_version`: the file is not known to have changed since.
    """

    prompt: str
    version: str
    same_version: bool
    system: str
    user: str
    reply: str
    engine: str = ""
    model: str = ""
    finish_reason: str = ""
    took_s: float = 0.0
    queue_s: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: bool = False
    failure: str = ""


class TracedSearch(msgspec.Struct, frozen=True, kw_only=True):
    """One search, with its hits as they came."""

    query: str
    took_s: float
    hits: msgspec.Raw


class TracedStep(msgspec.Struct, frozen=True, kw_only=True):
    """All of one stage: what it took and gave, and what its powers returned."""

    step: int
    stage: str
    lane: str
    took: tuple[TracedMessage, ...]
    gave: tuple[TracedMessage, ...]
    asks: tuple[TracedAsk, ...]
    searches: tuple[TracedSearch, ...]
    fallback: str = ""


@Route("GET", "/v1/runs/{run_id}/trace", {200: Reply("The run's stages.", RunTrace)}, "read", problems=(503,))
async def run_trace(request: web.Request) -> web.Response:
    """Show a run stage by stage."""
    trace = await _trace(request)
    return json_response(await to_thread.run_sync(_stages, masked_trace(trace), limiter=_ONE))


@Route(
    "GET",
    "/v1/runs/{run_id}/trace/{step}",
    {200: Reply("The stage.", TracedStep)},
    "read",
    problems=(503,),
    parameters=(STEP,),
)
async def run_step(request: web.Request) -> web.Response:
    """Show one stage of a run: its messages, prompts and replies."""
    raw = request.match_info["step"]
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10 and int(raw)):
        raise Problem(400, "bad_step", f"{raw[:40]!r} is not a step; use the number that the trace gives a stage")
    trace = await _trace(request)
    found = await to_thread.run_sync(_step, trace, int(raw), limiter=_ONE)
    if found is None:
        raise Problem(404, "no_such_step", f"the run has no step {raw}; see /v1/runs/{trace.run_id}/trace")
    return json_response(found)


async def _trace(request: web.Request) -> Trace:
    """The caller's run. Raises NoSuchRun, BadId, Unavailable."""
    edge = request.app[EDGE]
    run_id = check_id(request.match_info["run_id"])
    await edge.check_theirs(request[CALLER], run_id)
    try:
        return await read_run(edge.runs.journal, run_id)
    except NoSuchRun:
        raise no_such_run(run_id) from None


@functools.cache
def _graph() -> Graph:
    return pipeline()


def _steps(trace: Trace) -> list[tuple[int, Step]]:
    """Every step by the place of its input among the run's records."""
    found = steps_of(trace, _graph())
    places = {record.sequence: place for place, record in enumerate(trace.records, 1)}
    return [(places[step.source.sequence], step) for step in (*found.taken, *found.unfinished)]


def _stages(trace: Trace) -> RunTrace:
    asked_at = next((record.time for record in trace.records if record.key.type == ASKED), 0.0)
    last = max((record.time for record in trace.records), default=asked_at)
    stages = tuple(_stage(place, step, asked_at) for place, step in _steps(trace))
    return RunTrace(run_id=trace.run_id, asked_at=asked_at, took_s=round(last - asked_at, 6), stages=stages)


def _stage(place: int, step: Step, asked_at: float) -> TracedStage:
    stage = step.stage
    asks = stage.asks if stage else ()
    return TracedStage(
        step=place,
        stage=step.actor.name,
        lane=step.lane,
        takes=step.source.key.type,
        gives=tuple(dict.fromkeys(record.key.type for record in step.outputs)),
        began_s=round(max(0.0, step.outputs[0].time - asked_at - stage.took_s), 6) if stage else None,
        took_s=stage.took_s if stage else None,
        attempt=stage.attempt if stage else 1,
        fallback=stage.fallback if stage else "",
        asks=tuple(ask.prompt for ask in asks),
        searches=len(stage.searches) if stage else 0,
        tokens_in=sum(ask.tokens_in for ask in asks),
        tokens_out=sum(ask.tokens_out for ask in asks),
    )


def _step(trace: Trace, place: int) -> TracedStep | None:
    """One step, masked; its prompts are made in a loop of their own, since the actor computes. None: there is no such step."""
    step = next((step for at, step in _steps(trace) if at == place), None)
    if step is None:
        return None
    prompts = asyncio.run(prompts_asked(trace, step)) if step.stage and step.stage.asks else {}
    seen = masked_trace(trace)
    is_masked = seen is not trace
    step = next(step for at, step in _steps(seen) if at == place)
    stage = step.stage
    asks = tuple(_ask(ask, prompts.get((ask.prompt, ask.variables))) for ask in stage.asks) if stage else ()
    return TracedStep(
        step=place,
        stage=step.actor.name,
        lane=step.lane,
        took=tuple(map(_message, step.given)),
        gave=tuple(map(_message, step.outputs)),
        asks=masked(asks) if is_masked else asks,
        searches=tuple(TracedSearch(query=s.query, took_s=s.took_s, hits=s.hits) for s in stage.searches)
        if stage
        else (),
        fallback=stage.fallback if stage else "",
    )


def _message(record: Record) -> TracedMessage:
    line = record.data.partition(b"\n")[0]
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        line = b"null"
    return TracedMessage(type=record.key.type, lane=record.key.lane, message=msgspec.Raw(line))


def _ask(ask: AskRecord, prompt: RenderedPrompt | None) -> TracedAsk:
    return TracedAsk(
        prompt=ask.prompt,
        version=ask.version,
        same_version=prompt is None or ask.version in ("", prompt.version),
        system=prompt.system if prompt else "",
        user=prompt.user if prompt else "",
        reply=ask.said,
        engine=ask.engine,
        model=ask.model,
        finish_reason=ask.finish_reason,
        took_s=ask.took_s,
        queue_s=ask.queue_s,
        tokens_in=ask.tokens_in,
        tokens_out=ask.tokens_out,
        cached=ask.cached,
        failure=ask.failure,
    )
