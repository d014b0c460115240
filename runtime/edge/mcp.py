"""/mcp: the Model Context Protocol over HTTP, each message a request of its own.

Nothing is kept between requests. Clients of the versions with a handshake get a session id, which only names their runs, so that
any edge process can cancel one; and each event of a stream has an id that says where to go on, from the run's own events.
"""

import contextlib
import hashlib
import re
import secrets
from dataclasses import dataclass

import msgspec
from aiohttp import web
from msgspec import UNSET

from bus.runs.runs import NoSuchRun
from bus.wire.messages import QuestionAsked
from runtime.edge.cited import base_of
from runtime.edge.door import CALLER, Caller, check_scope
from runtime.edge.mcp_stream import Place, Sse
from runtime.edge.problems import EXPECTED, ErrorFormat, Problem, problem_of
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.state import EDGE, Edge
from runtime.mcp.asking import followed
from runtime.mcp.calls import Call, Teller
from runtime.mcp.schemas import (
    Cancelled,
    ErrorBody,
    Id,
    McpMessage,
    McpNotification,
    McpResponse,
    McpResult,
    ProblemData,
)
from runtime.mcp.server import answer, failed
from runtime.mcp.tools import failed as failed_tool
from runtime.mcp.versions import (
    HANDSHAKE,
    INVALID_REQUEST,
    METHOD_HEADER,
    MODERN,
    NAME_HEADER,
    PARSE_ERROR,
    UNSAID,
    VERSION_HEADER,
    RpcError,
    check_modern,
    is_modern,
    params_of,
    unsupported,
)

SESSION_HEADER = "Mcp-Session-Id"
_SESSION_BYTES = 16
_SESSION = re.compile(r"[0-9a-f]{32}")


def _error_body(problem: Problem) -> McpResponse:
    code = PARSE_ERROR if problem.code in ("not_json", "not_utf8", "empty_body") else INVALID_REQUEST
    if problem.code == "invalid" or problem.status == 400:
        return McpResponse(jsonrpc="2.0", error=ErrorBody(code=code, message=problem.detail))
    data = ProblemData(code=problem.code)
    return McpResponse(jsonrpc="2.0", error=ErrorBody(code=problem.status, message=problem.detail, data=data))


MCP_ERRORS = ErrorFormat(McpResponse, "application/json", _error_body, {422: 400})

_HEADERS = (
    parameter(VERSION_HEADER, "header", "The version that the message is of.", type="string"),
    parameter(SESSION_HEADER, "header", "The session that `initialize` began, if one did.", type="string"),
)


@Route(
    "POST",
    "/mcp",
    {
        200: Reply(
            "The response; as a stream, after notifications about it.",
            McpResponse,
            (McpNotification, McpResponse),
        ),
        202: Reply("A notification was taken."),
    },
    "any",
    problems=(404, 500),
    parameters=_HEADERS,
    errors=MCP_ERRORS,
)
async def receive(request: web.Request, message: McpMessage) -> web.StreamResponse:
    """Speak the Model Context Protocol, as `groundwire mcp` does over a process's input and output."""
    edge, caller, session = request.app[EDGE], request[CALLER], _session(request)
    header = request.headers.get(VERSION_HEADER)
    if message.method is UNSET or message.id is UNSET:
        if message.method == "notifications/cancelled" and session:
            await _cancel(edge, caller, session, message)
        return web.Response(status=202)
    stream = Sse(request, edge, message.id)
    call = Call(message, header or UNSAID, _Here(edge, caller, base_of(request)), stream)
    headers: dict[str, str] = {}
    try:
        if is_modern(message, header):
            call.version = MODERN
            check_modern(message, _said(request))
        elif message.method != "initialize" and call.version not in HANDSHAKE:
            raise unsupported(call.version)
        elif message.method == "initialize":
            headers[SESSION_HEADER] = secrets.token_hex(_SESSION_BYTES)
        elif session:
            call.run_key, call.may_leave = _run_key(session, message.id), True
            stream.resume_with(call.token)
    except RpcError as error:
        return json_response(failed(call, error), status=error.http_status(call.version))
    response, status = await answer(call)
    return await stream.end(response, status, headers)


@Route(
    "GET",
    "/mcp",
    {200: Reply("The rest of a stream.", events=(McpNotification, McpResponse))},
    "any",
    problems=(404, 405, 410, 500, 503),
    parameters=(*_HEADERS, parameter("Last-Event-ID", "header", "Of the last event you received.", type="string")),
    errors=MCP_ERRORS,
)
async def resume(request: web.Request) -> web.StreamResponse:
    """Take up a stream that broke, after the last event you received; there is no other to listen to."""
    last = request.headers.get("Last-Event-ID")
    if not last:
        raise web.HTTPMethodNotAllowed("GET", ["POST"])
    edge, caller, place = request.app[EDGE], request[CALLER], Place.of(last)
    check_scope(caller, "ask")
    await edge.check_theirs(caller, place.run_id)
    with await edge.runs.read(place.run_id) as reader:
        stream = Sse(request, edge, place.request_id)
        stream.resume_with(place.token)
        await stream.begin(place.run_id)
        message = McpMessage(jsonrpc="2.0", method="tools/call", id=place.request_id)
        call = Call(message, HANDSHAKE[0], _Here(edge, caller, base_of(request)), stream)

        async def rest() -> McpResult:
            try:
                return await followed(edge, reader, Teller(stream, place.token), call.peer.base, place.after)
            except EXPECTED as error:
                return failed_tool(problem_of(error))

        response, status = await answer(call, rest())
        return await stream.end(response, status)


@dataclass(frozen=True, slots=True)
class _Here:
    """The caller of a request, and this edge."""

    here: Edge
    caller: Caller
    base: str

    async def edge(self) -> Edge:
        return self.here


def _said(request: web.Request) -> dict[str, str]:
    """The headers that repeat what a message says; one sent twice says neither."""
    said = {name: request.headers.getall(name, []) for name in (VERSION_HEADER, METHOD_HEADER, NAME_HEADER)}
    return {name: ", ".join(values) for name, values in said.items() if values}


def _session(request: web.Request) -> str:
    """The session that the client names; empty for none. Raises Problem 404, upon which a client begins anew."""
    session = request.headers.get(SESSION_HEADER, "")
    if session and not _SESSION.fullmatch(session):
        raise Problem(404, "no_such_session", "there is no such session; begin one with `initialize`")
    return session


def _run_key(session: str, request_id: Id) -> str:
    """What names the run of a session's request, like an idempotency key: the caller's, so nobody else's session is found."""
    return f"mcp-{hashlib.sha256(msgspec.json.encode((session, request_id))).hexdigest()[:48]}"


async def _cancel(edge: Edge, caller: Caller, session: str, message: McpMessage) -> None:
    """Cancel the run of another request of this session, if it has one."""
    check_scope(caller, "ask")
    try:
        cancelled = params_of(message, Cancelled).request_id
    except RpcError:
        return  # the protocol wants a malformed cancellation to be passed over
    if cancelled is not UNSET:
        named = QuestionAsked(question="?", idempotency_key=_run_key(session, cancelled))
        run_id = edge.runs.run_id_for(named, caller.access)
        with contextlib.suppress(NoSuchRun):
            await edge.check_theirs(caller, run_id)
            await edge.cancel(run_id)
