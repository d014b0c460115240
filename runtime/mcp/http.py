"""/mcp: the Model Context Protocol over HTTP, each message a request of its own.

A client of the version with a handshake gets a session id. It only names the client's runs, so any edge process can cancel one.
The SDK is imported with the first request, in a thread.
"""

import asyncio
import contextlib
import hashlib
import re
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web
from msgspec import UNSET

from bus.runs.runs import NoSuchRun
from bus.wire.messages import QuestionAsked
from runtime.edge.door import CALLER, check_scope
from runtime.edge.problems import ErrorFormat, Problem
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.state import EDGE, Edge
from runtime.mcp.exchange import SESSION_HEADER, VERSION_HEADER, McpError, McpMessage, McpNotification, McpResponse

if TYPE_CHECKING:
    from runtime.mcp.exchange import Exchange

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_SESSION = re.compile(r"[0-9a-f]{32}")


def _error_body(problem: Problem) -> McpResponse:
    if problem.code == "invalid" or problem.status == 400:
        unreadable = problem.code in ("not_json", "not_utf8", "empty_body")
        error = McpError(code=_PARSE_ERROR if unreadable else _INVALID_REQUEST, message=problem.detail)
    else:
        error = McpError(code=problem.status, message=problem.detail, data={"code": problem.code})
    return McpResponse(jsonrpc="2.0", error=error)


MCP_ERRORS = ErrorFormat(McpResponse, "application/json", _error_body, {422: 400})

_HEADERS = (
    parameter(VERSION_HEADER, "header", "The version of the protocol.", type="string"),
    parameter(SESSION_HEADER, "header", "The session that `initialize` began, if any.", type="string"),
)


@Route(
    "POST",
    "/mcp",
    {
        200: Reply(
            "The response; as a stream, after notifications about it.", McpResponse, (McpNotification, McpResponse)
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
    session = request.headers.get(SESSION_HEADER, "")
    if session and not _SESSION.fullmatch(session):
        raise Problem(404, "no_such_session", "there is no such session; begin one with `initialize`")
    if message.method is UNSET or message.id is UNSET:
        if message.method == "notifications/cancelled" and session:
            await _cancel(request, _run_key(session, message.params.get("requestId")))
        return web.Response(status=202)
    run_key = _run_key(session, message.id) if session else None
    return await (await asyncio.to_thread(_sdk)).answer(request, message, run_key)


@Route(
    "GET",
    "/mcp",
    {200: Reply("The rest of a stream.", events=(McpNotification, McpResponse))},
    "any",
    problems=(404, 405, 410, 500),
    parameters=(*_HEADERS, parameter("Last-Event-ID", "header", "Of the last event you received.", type="string")),
    errors=MCP_ERRORS,
)
async def rest(request: web.Request) -> web.StreamResponse:
    """Resume a stream that broke, after the last event you received; there is no other to listen to."""
    last = request.headers.get("Last-Event-ID")
    if not last:
        raise web.HTTPMethodNotAllowed("GET", ["POST"])
    check_scope(request[CALLER], "ask")
    return await (await asyncio.to_thread(_sdk)).resume(request, last)


def _sdk() -> "type[Exchange]":
    """Import the SDK: about a second."""
    from runtime.mcp.exchange import Exchange

    return Exchange


def routes(_: Edge | None = None) -> list[Route]:
    return [receive, rest]


def _run_key(session: str, request_id: object) -> str:
    """The idempotency key of a session's request. Keys belong to their caller, so no other caller's run has it."""
    return f"mcp-{hashlib.sha256(msgspec.json.encode((session, request_id))).hexdigest()[:48]}"


async def _cancel(request: web.Request, run_key: str) -> None:
    edge, caller = request.app[EDGE], request[CALLER]
    check_scope(caller, "ask")
    run_id = edge.runs.run_id_for(QuestionAsked(question="?", idempotency_key=run_key), caller.access)
    with contextlib.suppress(NoSuchRun):
        await edge.check_theirs(caller, run_id)
        await edge.cancel(run_id)
