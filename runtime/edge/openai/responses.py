"""/v1/responses: runs as OpenAI's Responses API and the Open Responses standard have them, where a model name is a profile name.

A response is a run: `resp_<run id>`. Its events are the run's own in another form, so any edge can stream them again from any
number. A client that leaves its stream ends the run, unless it is a `background` run.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from aiohttp import web

from bus.runs.router import Reader
from bus.runs.runs import NoSuchRun
from bus.wire.subjects import ID_PATTERN
from runtime.edge.cited import base_of, markdown, opened_passages, within
from runtime.edge.door import CALLER
from runtime.edge.openai import responses_kept
from runtime.edge.openai.asking import OpenAIRoute, check_rules
from runtime.edge.openai.responses_asked import RULES, question_of
from runtime.edge.openai.responses_events import EVENTS, ResponseEvents
from runtime.edge.openai.responses_kept import Kept, begun, item_id, kept_of, part_of, response_of
from runtime.edge.openai.responses_schemas import Response, ResponseAsked, ResponseDeleted
from runtime.edge.openai.retries import submit_or_join
from runtime.edge.parameters import IDEMPOTENCY_KEY, value_of
from runtime.edge.problems import Problem
from runtime.edge.relay import whole
from runtime.edge.routes import Reply, json_response, parameter, run_headers
from runtime.edge.sse import stream
from runtime.edge.state import EDGE, Edge

RESPONSE_ID = parameter("response_id", "path", "The id of the response.", type="string", pattern=f"^resp_{ID_PATTERN}$")
STREAM = parameter("stream", "query", "Whether to stream the events.", type="string", enum=["true", "false"])
STARTING_AFTER = parameter(
    "starting_after",
    "query",
    "The number of the last event you received.",
    type="integer",
    minimum=0,
    maximum=999_999_999,
)

#: The outcomes that may come after sentences were shown.
_NO_ANSWER = ("refused", "closest", "declined")


@dataclass(frozen=True, slots=True)
class Answering:
    """One response and its run."""

    edge: Edge
    run_id: str
    kept: Kept
    base: str

    async def now(self) -> Response:
        """The response as the journal has it. Raises Unavailable, or Problem when the run has left the journal."""
        record = await self.edge.runs.record(self.run_id)
        if record is None:
            raise Problem(404, "no_such_response", f"there is no response resp_{self.run_id} any more; it has expired")
        withdrawn = record.outcome in _NO_ANSWER and await responses_kept.was_withdrawn(self.edge.runs, self.run_id)
        return response_of(self.run_id, self.kept, record, self.base, withdrawn=withdrawn)

    async def cancel(self) -> None:
        """End the run if it has not ended. Raises Unavailable."""
        with suppress(NoSuchRun):
            await self.edge.cancel(self.run_id)

    async def whole(self, reader: Reader) -> web.Response:
        """The response once it has ended. Raises Unavailable, or Problem when there is no answer."""
        timeout_s = (self.kept.asked.deadline_s or self.edge.run_deadline_s) + self.edge.timeouts.grace_s
        late = f"response resp_{self.run_id} did not end within {timeout_s:g} s; ask with `stream` or `background`"
        run = await whole(reader, timeout_s, late)
        if run.failure is not None and run.failure.code != "cancelled":
            raise run.failure
        return json_response(await self.now(), headers=run_headers(self.run_id))


class ResponseForm(ResponseEvents):
    """A response's events with a number above `after`. The record of a failed run has the failure."""

    def __init__(self, answering: Answering, after: int = -1) -> None:
        run_id = answering.run_id
        super().__init__(run_id, begun(run_id, answering.kept), item_id(run_id), after)
        self._answering = answering

    async def end(self) -> Iterable[bytes]:
        final = await self._answering.now()
        base, most = self._answering.base, self._answering.kept.asked.max_output_tokens
        quoted = within(opened_passages(self.run.passages, base), self.run.text, most)
        rest = (f"\n\n{self.run.withdrawn}" if self.run.withdrawn else "") + markdown(quoted)
        deltas = [*self.text(0, [rest] if rest else [])]
        return [*deltas, *self.closing(final, part_of(self.written, quoted, final, base))]


@OpenAIRoute(
    "POST",
    "/v1/responses",
    {200: Reply("The response; with `stream`, its events, each under its name; then `[DONE]`.", Response, EVENTS)},
    "ask",
    problems=(404, 409, 500, 504),
    parameters=(IDEMPOTENCY_KEY,),
)
async def create(request: web.Request, body: ResponseAsked) -> web.StreamResponse:
    """Ask as a client of OpenAI's Responses API; `model` names a profile."""
    edge = request.app[EDGE]
    check_rules(RULES, body)
    body, question = await question_of(request, body)
    waits = not (body.stream or body.background)
    async with submit_or_join(request, question, "responses", waits=waits) as reader:
        kept = Kept(created_at=int(time.time()), asked=body)
        if body.store is not False:
            kept = await responses_kept.keep(edge.runs, reader.run_id, kept)
        answering = Answering(edge, reader.run_id, kept, base_of(request))
        if body.stream:
            return await stream(request, reader, ResponseForm(answering), "responses")
        if body.background:
            return json_response(begun(reader.run_id, kept), headers=run_headers(reader.run_id))
        return await answering.whole(reader)


@OpenAIRoute(
    "GET",
    "/v1/responses/{response_id}",
    {200: Reply("The response now; with `stream=true`, its events.", Response, EVENTS)},
    "read",
    problems=(404, 410),
    parameters=(RESPONSE_ID, STREAM, STARTING_AFTER),
)
async def look_up(request: web.Request) -> web.StreamResponse:
    """Look up a response, or stream its events, from the first or after the last one you received."""
    wants_stream = value_of(request, STREAM) == "true"
    after = value_of(request, STARTING_AFTER)
    answering = await _response_of(request)
    if not wants_stream:
        return json_response(await answering.now(), headers=run_headers(answering.run_id))
    with await answering.edge.runs.read(answering.run_id) as reader:
        form = ResponseForm(answering, -1 if after is None else after)
        return await stream(request, reader, form, "responses")


@OpenAIRoute(
    "DELETE",
    "/v1/responses/{response_id}",
    {200: Reply("It is deleted.", ResponseDeleted)},
    "ask",
    problems=(404,),
    parameters=(RESPONSE_ID,),
)
async def delete(request: web.Request) -> web.Response:
    """Delete a response: it cannot be read or continued any more, and ends if it has not."""
    answering = await _response_of(request)
    await answering.cancel()
    await responses_kept.delete(answering.edge.runs, answering.run_id)
    return json_response(ResponseDeleted(id=request.match_info["response_id"]))


@OpenAIRoute(
    "POST",
    "/v1/responses/{response_id}/cancel",
    {200: Reply("The response now.", Response)},
    "ask",
    problems=(404,),
    parameters=(RESPONSE_ID,),
)
async def cancel(request: web.Request) -> web.Response:
    """Cancel a response; a finished response stays as it is."""
    answering = await _response_of(request)
    await answering.cancel()
    return json_response(await answering.now(), headers=run_headers(answering.run_id))


async def _response_of(request: web.Request) -> Answering:
    """The response that the path names. Raises Problem 404, Unavailable."""
    edge = request.app[EDGE]
    run_id, kept = await kept_of(edge, request[CALLER], request.match_info["response_id"])
    return Answering(edge, run_id, kept, base_of(request))
