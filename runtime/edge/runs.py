"""/v1/runs: ask a question; resume, look up or cancel its run."""

import msgspec
from aiohttp import web
from groundwire.wire import FAILURES

from bus.journal.records import WHOLE
from bus.journal.verdicts import Judged, Judgement, Verdict, add_verdict
from bus.powers.events import EVENT_TYPES
from bus.runs.router import Reader
from bus.runs.run_record import RunRecord
from bus.runs.runs import PATIENCE_S, no_such_run
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import check_id, key_of
from runtime.edge.door import CALLER
from runtime.edge.parameters import HEADER, IDEMPOTENCY_KEY, idempotency_key
from runtime.edge.problems import RETRY_AFTER_S, Problem
from runtime.edge.relay import all_batches
from runtime.edge.request_parsing import last_event_id, wants_json
from runtime.edge.routes import Reply, Route, json_response, parameter, run_headers
from runtime.edge.sse import EventForm, stream
from runtime.edge.state import EDGE, Edge

LAST_EVENT_ID = parameter(
    "Last-Event-ID", "header", "Number of the last event you received.", type="integer", minimum=0
)
AFTER = parameter(
    "after", "query", "The same as `Last-Event-ID`, for clients that cannot set headers.", type="integer", minimum=0
)
STREAM = (
    "Server-sent events, each with `id: N` and one JSON object as `data`: Token with index 1, 2, 3…, TokensEnd,"
    " References or Passages, Done. An Error replaces whatever was still to come before Done."
)
_RECORD = "With `Accept: application/json`, the record of the finished run."
_FAILED = Reply("The record of a run that failed.", RunRecord)

_decoder = msgspec.json.Decoder(RunRecord)


class Cancelled(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a cancellation. `cancelled` is false if the run had already ended; `outcome` is how it ended."""

    run_id: str
    cancelled: bool
    outcome: str | None


@Route(
    "POST",
    "/v1/runs",
    {200: Reply(f"{STREAM} {_RECORD}", RunRecord, EVENT_TYPES)} | dict.fromkeys((429, 500, 503, 504), _FAILED),
    "ask",
    problems=(409, 504),
    parameters=(IDEMPOTENCY_KEY,),
)
async def submit(request: web.Request, question: QuestionAsked) -> web.StreamResponse:
    """Ask a question."""
    edge = request.app[EDGE]
    question = keyed(request, question)
    as_json = wants_json(request)
    deadline_s = question.deadline_s or (edge.settings.json_deadline_s if as_json else None)
    async with edge.submit(request[CALLER], question, WHOLE if as_json else "sse", deadline_s) as reader:
        if not as_json:
            return await stream(request, reader, EventForm(), "sse", cut="end")
        record = await finished_record(edge, reader, deadline_s or edge.settings.json_deadline_s)
    status = status_of(record)
    again = {"Retry-After": str(RETRY_AFTER_S)} if status in (429, 503) else {}
    return json_response(record, status=status, headers=run_headers(record.run_id) | again)


def keyed(request: web.Request, question: QuestionAsked) -> QuestionAsked:
    """The question with the key of the header. Raises Problem for two keys that differ."""
    key = idempotency_key(request)
    if key is None or key == question.idempotency_key:
        return question
    if question.idempotency_key is not None:
        raise Problem(422, "invalid", f"idempotency_key: the header {HEADER} is another; send one of them")
    return msgspec.structs.replace(question, idempotency_key=key)


async def finished_record(edge: Edge, reader: Reader, deadline_s: float) -> RunRecord:
    """The record of the run once it has ended. Raises Unavailable, or Problem 504 when it does not end in time."""
    run_id = reader.run_id
    late = f"run {run_id} did not finish within {deadline_s:g} s; look at /v1/runs/{run_id}, or ask for a stream"
    await all_batches(reader, deadline_s + edge.timeouts.grace_s, late, run_headers(run_id))
    record = _decoder.decode(reader.record) if reader.record else await edge.runs.record(run_id)
    assert record is not None, "a run that has ended has a record"
    return record


def status_of(record: RunRecord) -> int:
    """200 for any answer or refusal; 5xx for a failure, so that clients may retry."""
    if record.outcome != "failed":
        return 200
    if record.unrun is not None:
        return {"overloaded": 429, "invalid": 422}.get(record.unrun, 503)
    return FAILURES.get(record.reason or "", 500)


async def named_run(request: web.Request) -> tuple[Edge, str]:
    """The edge, and the caller's run that the path names. Raises NoSuchRun, BadId, Unavailable."""
    edge, run_id = request.app[EDGE], check_id(request.match_info["run_id"])
    await edge.check_theirs(request[CALLER], run_id)
    return edge, run_id


@Route("GET", "/v1/runs/{run_id}", {200: Reply("The record of the run so far.", RunRecord)}, "read")
async def look_up(request: web.Request) -> web.Response:
    """Look up a run."""
    edge, run_id = await named_run(request)
    record = await edge.runs.record(run_id)
    if record is None:
        raise no_such_run(run_id)
    return json_response(record)


@Route(
    "GET",
    "/v1/runs/{run_id}/events",
    {200: Reply(STREAM, events=EVENT_TYPES), 204: Reply("You have already received every event.")},
    "read",
    problems=(410,),
    parameters=(LAST_EVENT_ID, AFTER),
)
async def resume(request: web.Request) -> web.StreamResponse:
    """Stream the events of a run, from the start or after the last one you received."""
    after = last_event_id(request)
    edge, run_id = await named_run(request)
    with await edge.runs.read(run_id) as reader:
        if reader.ends_by(after):
            return web.Response(status=204, headers=run_headers(run_id))
        return await stream(request, reader, EventForm(after), "sse", cut="end")


class Marked(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict as it is kept; `number`: its place among those on the run, of which the last counts."""

    run_id: str
    verdict: Judgement
    number: int


@Route("POST", "/v1/runs/{run_id}/verdict", {200: Reply("The verdict is kept.", Marked)}, "ask", problems=(404,))
async def judge(request: web.Request, judged: Judged) -> web.Response:
    """Say whether a run was right."""
    edge, run_id = await named_run(request)
    if not await edge.runs.latest([key_of(QuestionAsked, run_id).subject]):
        raise no_such_run(run_id)
    verdict = Verdict(verdict=judged.verdict, note=judged.note, by=request[CALLER].name)
    number = await add_verdict(edge.runs.journal, run_id, verdict, patience_s=PATIENCE_S)
    return json_response(Marked(run_id=run_id, verdict=judged.verdict, number=number))


@Route("POST", "/v1/runs/{run_id}/cancel", {200: Reply("How the run ended.", Cancelled)}, "ask")
async def cancel(request: web.Request) -> web.Response:
    """Cancel a run."""
    edge, run_id = await named_run(request)
    ended = await edge.cancel(run_id)
    record = await edge.runs.record(run_id)
    return json_response(Cancelled(run_id=run_id, cancelled=ended, outcome=record.outcome if record else None))
