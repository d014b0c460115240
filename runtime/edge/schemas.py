"""/openapi.json and /asyncapi.json, built from the Structs that are read and written: they cannot fall behind."""

import functools
import importlib.metadata
from collections.abc import Mapping
from typing import Any

import msgspec
from aiohttp import web

from bus.events import ANSWER_EVENTS, EVENT_TYPES, PROGRESS_EVENTS
from bus.messages import CATALOGUE, Message, QuestionAsked, RunFinished, message_type
from bus.run_record import RunRecord
from bus.searching import SearchReply, SearchRequest
from bus.subjects import SEARCH, consumed_subject
from runtime.edge import chat_shapes as shapes
from runtime.edge.health import Alive, Readiness
from runtime.edge.problems import ProblemBody
from runtime.edge.runs import Cancelled
from runtime.edge.search import SearchAnswer, SearchAsked
from runtime.edge.websocket import Cancel, Resume

BODIES: tuple[type[msgspec.Struct], ...] = (
    QuestionAsked,
    RunRecord,
    Cancelled,
    SearchAsked,
    SearchAnswer,
    shapes.ChatAsked,
    shapes.Completion,
    shapes.Chunk,
    shapes.ModelList,
    shapes.ChatError,
    Alive,
    Readiness,
    ProblemBody,
    Resume,
    Cancel,
)
SEARCHING: tuple[type[msgspec.Struct], ...] = (SearchRequest, SearchReply)
REF = "#/components/schemas/{name}"

#: A JSON document: as free as JSON is, so Any.
type Document = dict[str, Any]


async def openapi(request: web.Request) -> web.Response:
    """GET /openapi.json"""
    return web.Response(body=msgspec.json.encode(openapi_document()), content_type="application/json")


async def asyncapi(request: web.Request) -> web.Response:
    """GET /asyncapi.json"""
    return web.Response(body=msgspec.json.encode(asyncapi_document()), content_type="application/json")


@functools.cache
def openapi_document() -> Document:
    _, components = msgspec.json.schema_components([*BODIES, *EVENT_TYPES], ref_template=REF)
    components["QuestionAsked"]["required"] = ["question"]  # a request may leave its type out, an event does not
    run_id = _parameter("run_id", "path", "Of the run.", {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"})
    last_id = _parameter("Last-Event-ID", "header", "The last `id:` received.", {"type": "integer", "minimum": 0})
    after = _parameter(
        "after", "query", "The same, for clients that cannot set headers.", {"type": "integer", "minimum": 0}
    )
    envelope = _parameter(
        "envelope", "query", "1: frames carry run id and event id.", {"type": "string", "enum": ["1"]}
    )
    stream = {"description": _EVENT_TEXT, "content": {"text/event-stream": {"schema": {"type": "string"}}}}
    asked = _json("The run's record.", RunRecord)
    asked["content"] |= stream["content"]
    asked["description"] = _EVENT_TEXT + " With `Accept: application/json`, the run's record once it is over."
    paths: Document = {
        "/v1/runs": {"post": _operation("Ask.", {200: asked}, takes=QuestionAsked)},
        "/v1/runs/{run_id}": {"get": _operation("Look a run up.", {200: _json("It.", RunRecord)}, [run_id])},
        "/v1/runs/{run_id}/events": {
            "get": _operation(
                "Read a run's events on.",
                {200: stream, 204: {"description": "All of them were received already."}},
                [run_id, last_id, after],
            )
        },
        "/v1/runs/{run_id}/cancel": {
            "post": _operation("End a run.", {200: _json("How it ended.", Cancelled)}, [run_id])
        },
        "/v1/ws": {
            "get": _operation(
                "The same over a WebSocket: QuestionAsked, Resume or Cancel in, events out.",
                {101: {"description": "One event a text frame."}},
                [envelope],
            )
        },
        "/v1/search": {
            "post": _operation("Find passages.", {200: _json("Hits, best first.", SearchAnswer)}, takes=SearchAsked)
        },
        "/v1/chat/completions": {
            "post": _operation(
                "Ask, as an OpenAI client. `model` is a profile; system messages are read over.",
                {200: _json("The answer; chunks of it with `stream`.", shapes.Completion)},
                takes=shapes.ChatAsked,
                problem=shapes.ChatError,
            )
        },
        "/v1/models": {"get": _operation("The profiles, as models.", {200: _json("Them.", shapes.ModelList)})},
        "/healthz": {"get": _operation("Whether the edge lives.", {200: _json("It does.", Alive)})},
        "/readyz": {
            "get": _operation(
                "Whether a question would be answered.",
                {200: _json("It would.", Readiness), 503: _json("It would not, and why.", Readiness)},
            )
        },
        "/metrics": {"get": _operation("Prometheus metrics.", {200: {"description": "Text."}})},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Groundwire",
            "version": importlib.metadata.version("groundwire"),
            "license": {"name": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": components},
    }


_EVENT_TEXT = (
    "Server-sent events, `id: N` and one JSON object as `data`: Token with index 1, 2, 3…, TokensEnd, References, Done;"
    " Error in place of what was still to come, then Done."
)


@functools.cache
def asyncapi_document() -> Document:
    """The bus: what an integration may publish and read, and what actors say to each other."""
    _, components = msgspec.json.schema_components([*CATALOGUE, *EVENT_TYPES, *SEARCHING], ref_template=REF)
    channels: Document = {}
    for message in CATALOGUE:
        channels[message_type(message)] = _channel(consumed_subject(message), message)
    events = {event.__name__: {"$ref": f"#/components/messages/{event.__name__}"} for event in EVENT_TYPES}
    channels["event"] = {
        "address": "gw.event.{run_id}",
        "description": "What the client sees; a few events a message, one JSON object a line.",
        "parameters": {"run_id": {"description": _ID}},
        "messages": {each.__name__: events[each.__name__] for each in ANSWER_EVENTS},
    }
    channels["progress"] = {
        "address": "gw.progress.{run_id}",
        "description": "What `events=all` adds.",
        "parameters": {"run_id": {"description": _ID}},
        "messages": {each.__name__: events[each.__name__] for each in PROGRESS_EVENTS},
    }
    channels["cancel"] = {
        "address": "gw.cancel.{run_id}",
        "description": "Ends a run; the message is empty.",
        "parameters": {"run_id": {"description": _ID}},
        "messages": {"Cancel": {"$ref": "#/components/messages/Cancel"}},
    }
    channels["search"] = {
        "address": SEARCH,
        "description": "Finds passages; the reply goes to the request's reply subject.",
        "messages": {each.__name__: {"$ref": f"#/components/messages/{each.__name__}"} for each in SEARCHING},
    }
    messages: Document = {
        each.__name__: {"name": each.__name__, "contentType": "application/json", "payload": _ref(each)}
        for each in (*CATALOGUE, *EVENT_TYPES, *SEARCHING)
    }
    messages["Cancel"] = {"name": "Cancel", "payload": {"type": "null"}}
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Groundwire bus", "version": importlib.metadata.version("groundwire"), "description": _BUS},
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": {
            "ask": _does("receive", message_type(QuestionAsked)),
            "cancel": _does("receive", "cancel"),
            "tell": _does("send", "event"),
            "tell_more": _does("send", "progress"),
            "finish": _does("send", message_type(RunFinished)),
            "search": {
                **_does("receive", "search"),
                "messages": [{"$ref": "#/channels/search/messages/SearchRequest"}],
                "reply": {
                    "channel": {"$ref": "#/channels/search"},
                    "messages": [{"$ref": "#/channels/search/messages/SearchReply"}],
                },
            },
        },
        "components": {"schemas": components, "messages": messages},
    }


_ID = "1 to 64 of A-Z a-z 0-9 _ -"
_BUS = (
    "Publish a question to gw.question_asked.<run_id> with an id of your own, read gw.event.<run_id> until DONE."
    " The other messages are what the stages tell each other, each written once into the stream RUNS."
)


def _channel(subject: str, message: type[Message]) -> Document:
    names = ("run_id", "lane")[: subject.count("*")]
    for name in names:
        subject = subject.replace("*", f"{{{name}}}", 1)
    return {
        "address": subject,
        "description": (message.__doc__ or "").strip(),
        "parameters": {name: {"description": _ID} for name in names},
        "messages": {message.__name__: {"$ref": f"#/components/messages/{message.__name__}"}},
    }


def _does(action: str, channel: str) -> Document:
    return {"action": action, "channel": {"$ref": f"#/channels/{channel}"}}


def _ref(struct: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": REF.format(name=struct.__name__)}


def _json(description: str, struct: type[msgspec.Struct]) -> Document:
    return {"description": description, "content": {"application/json": {"schema": _ref(struct)}}}


def _parameter(name: str, where: str, description: str, schema: Mapping[str, object]) -> Document:
    return {"name": name, "in": where, "required": where == "path", "description": description, "schema": dict(schema)}


def _operation(
    summary: str,
    responses: Mapping[int, Document],
    parameters: list[Document] | None = None,
    *,
    takes: type[msgspec.Struct] | None = None,
    problem: type[msgspec.Struct] = ProblemBody,
) -> Document:
    kind = "application/problem+json" if problem is ProblemBody else "application/json"
    found: Document = {
        "summary": summary,
        "responses": {str(status): response for status, response in responses.items()},
    }
    found["responses"]["default"] = {"description": "What is wrong.", "content": {kind: {"schema": _ref(problem)}}}
    if parameters:
        found["parameters"] = parameters
    if takes is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(takes)}}}
    return found


ROUTES = [web.get("/openapi.json", openapi), web.get("/asyncapi.json", asyncapi)]
