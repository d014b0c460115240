"""/v1/runs: ask, resume, look up, cancel."""

import asyncio
import time

import msgspec
from aiohttp import web

from bus.router import Reader, TooSlow
from bus.run_record import RunRecord
from runtime.edge import requests
from runtime.edge.answers import json_response
from runtime.edge.problems import RETRY_AFTER_S, Problem
from runtime.edge.sse import run_headers, stream
from runtime.edge.state import EDGE, Edge


class Cancelled(msgspec.Struct, frozen=True, kw_only=True):
    """`cancelled` is false when the run was over already; `outcome` is what it ended with."""

    run_id: str
    cancelled: bool
    outcome: str | None


async def ask(request: web.Request) -> web.StreamResponse:
    """POST /v1/runs"""
    edge = request.app[EDGE]
    question = requests.question_of(await requests.json_body(request))
    await edge.check_profile(question)
    as_json = requests.wants_json(request)
    deadline_s = question.deadline_s or (edge.settings.json_deadline_s if as_json else None)
    submitted, reader = await edge.runs.ask(question, deadline_s)
    edge.metrics.asked.labels(question.profile, "json" if as_json else "sse").inc()
    with reader:
        try:
            if not as_json:
                return await stream(request, edge, reader)
            record = await whole(edge, reader, deadline_s or edge.settings.json_deadline_s)
        except (asyncio.CancelledError, ConnectionResetError):
            if not reader.done:
                edge.left(question, submitted.run_id)
            raise
    status = status_of(record)
    again = {"Retry-After": str(RETRY_AFTER_S)} if status == 503 else {}
    return json_response(record, status=status, headers=run_headers(record.run_id) | again)


async def whole(edge: Edge, reader: Reader, deadline_s: float) -> RunRecord:
    """The record of the run once it is over. Raises Problem 504 when it does not end, Unavailable."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(deadline_s + edge.pace.grace_s):
            while await reader.batch():
                pass
    except (TimeoutError, TooSlow):
        raise Problem(
            504,
            "timeout",
            f"run {reader.run_id} has not ended in {deadline_s:g} s; see /v1/runs/{reader.run_id}, or ask for a stream",
            run_headers(reader.run_id),
        ) from None
    edge.metrics.run_s.observe(time.monotonic() - began)
    record = await edge.runs.record(reader.run_id)
    assert record is not None, "a run that is over has a record"
    return record


def status_of(record: RunRecord) -> int:
    """Told to the person is 200, whatever was told; a failure is a 5xx so that clients may try again."""
    if record.outcome != "failed":
        return 200
    return {"timeout": 504, "model_unavailable": 503}.get(record.reason or "", 500)


async def look_up(request: web.Request) -> web.Response:
    """GET /v1/runs/{run_id}"""
    run_id = requests.path_id(request)
    record = await request.app[EDGE].runs.record(run_id)
    if record is None:
        raise Problem(404, "no_such_run", f"there is no run {run_id}; it may have expired, or never been asked")
    return json_response(record)


async def resume(request: web.Request) -> web.StreamResponse:
    """GET /v1/runs/{run_id}/events"""
    edge = request.app[EDGE]
    run_id, after = requests.path_id(request), requests.last_event_id(request)
    with await edge.runs.read(run_id) as reader:
        if reader.ends_by(after):
            return web.Response(status=204, headers=run_headers(run_id))
        return await stream(request, edge, reader, after=after)


async def cancel(request: web.Request) -> web.Response:
    """POST /v1/runs/{run_id}/cancel"""
    edge = request.app[EDGE]
    run_id = requests.path_id(request)
    ended = await edge.runs.cancel(run_id)
    record = await edge.runs.record(run_id)
    return json_response(Cancelled(run_id=run_id, cancelled=ended, outcome=record.outcome if record else None))


ROUTES = [
    web.post("/v1/runs", ask),
    web.get("/v1/runs/{run_id}", look_up),
    web.get("/v1/runs/{run_id}/events", resume, allow_head=False),
    web.post("/v1/runs/{run_id}/cancel", cancel),
]
