"""GET /v1/runs/{run_id}/trace: a run stage by stage; and one stage with its messages, prompts and replies."""

import msgspec
from aiohttp import web
from anyio import CapacityLimiter, to_thread

from bus.runs.runs import NoSuchRun, no_such_run
from bus.wire.subjects import check_id
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.state import EDGE
from runtime.replay.journal_traces import read_run
from runtime.replay.trace import Trace

STEP = parameter("step", "path", "The stage's `step` in the trace.", type="integer", minimum=1)


#: One trace is read at a time: a stage is run again to render its prompts, which keeps the interpreter from streams.
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
    """The stages of a run in the order of the inputs. `took_s`: from the question to the last record."""

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
    return json_response(await to_thread.run_sync(_stages_of, trace, limiter=_ONE))


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
    step = await to_thread.run_sync(_step_of, trace, int(raw), limiter=_ONE)
    if step is None:
        raise Problem(404, "no_such_step", f"the run has no step {raw}; see /v1/runs/{trace.run_id}/trace")
    return json_response(step)


async def _trace(request: web.Request) -> Trace:
    """The caller's run. Raises NoSuchRun, BadId, Unavailable."""
    edge = request.app[EDGE]
    run_id = check_id(request.match_info["run_id"])
    await edge.check_theirs(request[CALLER], run_id)
    try:
        return await read_run(edge.runs.journal, run_id)
    except NoSuchRun:
        raise no_such_run(run_id) from None


def _stages_of(trace: Trace) -> RunTrace:
    from runtime.edge import run_steps  # with it comes the whole pipeline, which an edge does not need to start

    return run_steps.stages_of(trace)


def _step_of(trace: Trace, number: int) -> TracedStep | None:
    from runtime.edge import run_steps

    return run_steps.step_of(trace, number)
