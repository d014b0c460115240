"""GET /v1/runs/{run_id}/trace: a run stage by stage; and one stage with its messages, prompts and replies.

`run_steps` reads both from the run's records. With it comes the whole pipeline, which an edge does not need to start.
"""

from types import ModuleType

from aiohttp import web
from anyio import CapacityLimiter, to_thread

from bus.runs.runs import NoSuchRun, no_such_run
from runtime.edge.problems import Problem
from runtime.edge.routes import Reply, Route, json_response, parameter
from runtime.edge.runs import named_run
from runtime.edge.trace_schemas import RunTrace, TracedStep
from runtime.replay.journal_traces import read_run
from runtime.replay.trace import Trace

STEP = parameter("step", "path", "The stage's `step` in the trace.", type="integer", minimum=1)

#: One trace is read at a time: a stage is run again to render its prompts, which keeps the interpreter from streams.
_ONE = CapacityLimiter(1)


@Route("GET", "/v1/runs/{run_id}/trace", {200: Reply("The run's stages.", RunTrace)}, "read")
async def run_trace(request: web.Request) -> web.Response:
    """Show a run stage by stage."""
    trace = await _trace(request)
    return json_response(await to_thread.run_sync(lambda: _steps().stages_of(trace), limiter=_ONE))


@Route("GET", "/v1/runs/{run_id}/trace/{step}", {200: Reply("The stage.", TracedStep)}, "read", parameters=(STEP,))
async def run_step(request: web.Request) -> web.Response:
    """Show one stage of a run: its messages, prompts and replies."""
    raw = request.match_info["step"]
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10 and int(raw)):
        raise Problem(400, "bad_step", f"{raw[:40]!r} is not a step; use the number that the trace gives a stage")
    trace = await _trace(request)
    step = await to_thread.run_sync(lambda: _steps().step_of(trace, int(raw)), limiter=_ONE)
    if step is None:
        raise Problem(404, "no_such_step", f"the run has no step {raw}; see /v1/runs/{trace.run_id}/trace")
    return json_response(step)


async def _trace(request: web.Request) -> Trace:
    """The caller's run. Raises NoSuchRun, BadId, Unavailable."""
    edge, run_id = await named_run(request)
    try:
        return await read_run(edge.runs.journal, run_id)
    except NoSuchRun:
        raise no_such_run(run_id) from None


def _steps() -> ModuleType:
    from runtime.edge import run_steps

    return run_steps
