"""/openapi.json: the running app's routes as an OpenAPI document, generated from their declarations.

/asyncapi.json: the bus messages and run events as an AsyncAPI document, generated from their Structs.
"""

import functools
import importlib.metadata
import re
from collections.abc import Iterable

import msgspec
from aiohttp import web

from bus.powers.events import ANSWER_EVENTS, EVENT_TYPES, PROGRESS_EVENTS
from bus.powers.searching import SearchReply, SearchRequest
from bus.runs.requests import RecordRequest, RequestRefused, RunAccepted, RunRequest
from bus.runs.run_record import RunRecord
from bus.wire.messages import CATALOGUE, QuestionAsked, RunFinished, message_type
from bus.wire.subjects import ASK_RUN, GET_RUN, ID_PATTERN, SEARCH, consumed_subject
from runtime.edge.problems import MEANINGS
from runtime.edge.routes import Document, Reply, Route, json_response, parameter
from runtime.edge.state import EDGE

REF = "#/components/schemas/{name}"
RUN_ID = parameter("run_id", "path", "The id of the run.", type="string", pattern=f"^{ID_PATTERN}$")
KEY = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key made by `groundwire keys add`. At /v1/ws also as the subprotocol `groundwire.key.<key>`"
    " beside `groundwire`, for pages.",
}
ROUTES = web.AppKey("routes", tuple[Route, ...])


@Route("GET", "/openapi.json", {200: Reply("This document.", "application/json")}, "none")
async def openapi(request: web.Request) -> web.Response:
    """Describe the HTTP routes."""
    return json_response(openapi_document(request.app[ROUTES], required=request.app[EDGE].door.required))


@functools.cache
def openapi_document(routes: tuple[Route, ...], *, required: bool = False) -> Document:
    """`required`: no route is open without a key."""
    structs = dict.fromkeys(struct for each in routes for struct in structs_of(each))
    _, components = msgspec.json.schema_components(structs, ref_template=REF)
    components["QuestionAsked"]["required"] = ["question"]  # a request may omit its type, an event may not
    paths: Document = {}
    for each in routes:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, required)
    version = importlib.metadata.version("groundwire")
    return {
        "openapi": "3.1.0",
        "info": {"title": "Groundwire", "version": version, "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"key": KEY}},
    }


def structs_of(route: Route) -> list[type[msgspec.Struct]]:
    """Every Struct that a route reads or writes."""
    replies = route.replies.values()
    bodies = [body for body in (route.body, *(reply.body for reply in replies)) if isinstance(body, type)]
    errors = [route.errors.schema] if issubclass(route.errors.schema, msgspec.Struct) else []
    return [*bodies, *errors, *route.receives, *(event for reply in replies for event in reply.events)]


def _operation(route: Route, required: bool) -> Document:
    errors = route.errors.schema
    problem = {
        route.errors.media_type: {"schema": ref(errors) if issubclass(errors, msgspec.Struct) else {"type": "string"}}
    }
    responses: Document = {str(status): _response(reply) for status, reply in route.replies.items()}
    for status in route.problems:
        response = responses.setdefault(str(status), {"description": ""})
        response["description"] = f"{response['description']} {MEANINGS[status]}".lstrip()
        response["content"] = response.get("content", {}) | problem
    responses["default"] = {"description": "Any other error.", "content": problem}
    operation: Document = {"summary": route.summary, "responses": responses, "security": _security(route, required)}
    if parameters := [*([RUN_ID] if "{run_id}" in route.path else []), *route.parameters]:
        operation["parameters"] = parameters
    if route.body:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": ref(route.body)}}}
    if route.receives:  # OpenAPI cannot describe a socket's frames
        responses["101"].pop("content")
        operation["x-websocket"] = {"receives": _one_of(route.receives), "sends": _one_of(route.replies[101].events)}
    return operation


def _security(route: Route, required: bool) -> list[Document]:
    """What a request needs: a key with the scope, or at an open door nothing."""
    if route.scope == "none":
        return []
    key = {"key": [] if route.scope == "any" else [route.scope]}
    return [key] if required else [{}, key]


def _response(reply: Reply) -> Document:
    content: Document = {}
    if isinstance(reply.body, str):
        content[reply.body] = {"schema": {"type": "object" if reply.body == "application/json" else "string"}}
    elif reply.body:
        content["application/json"] = {"schema": ref(reply.body)}
    if reply.events:
        content["text/event-stream"] = {
            "x-data": _one_of(reply.events)
        }  # a schema would be each event's, not the text's
    return {"description": reply.description} | ({"content": content} if content else {})


def _one_of(structs: Iterable[type[msgspec.Struct]]) -> Document:
    return {"oneOf": [ref(struct) for struct in structs]}


def ref(struct: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": REF.format(name=struct.__name__)}


#: Requests with a reply: the subject, what it does, the request, the replies.
REQUESTS: dict[str, tuple[str, str, type[msgspec.Struct], tuple[type[msgspec.Struct], ...]]] = {
    "ask_run": (ASK_RUN, "Asks under a run id of your own.", RunRequest, (RunAccepted, RequestRefused)),
    "get_run": (GET_RUN, "Reads the record of a run.", RecordRequest, (RunRecord, RequestRefused)),
    "search": (SEARCH, "Searches for passages.", SearchRequest, (SearchReply,)),
}
STRUCTS: tuple[type[msgspec.Struct], ...] = (
    *CATALOGUE,
    *EVENT_TYPES,
    *dict.fromkeys(each for _, _, request, replies in REQUESTS.values() for each in (request, *replies)),
)


@Route("GET", "/asyncapi.json", {200: Reply("An AsyncAPI document.", "application/json")}, "none")
async def asyncapi(request: web.Request) -> web.Response:
    """Describe the messages on the bus."""
    return json_response(asyncapi_document())


@functools.cache
def asyncapi_document() -> Document:
    """What an integration may publish and read, and the messages between stages."""
    _, components = msgspec.json.schema_components(STRUCTS, ref_template=REF)
    channels: Document = {}
    for each in CATALOGUE:
        address = consumed_subject(each).replace("*", "{run_id}", 1).replace("*", "{lane}")
        channels[message_type(each)] = _channel(address, (each.__doc__ or "").strip(), each.__name__)
    channels["event"] = _channel(
        "gw.event.{run_id}",
        "The events that a client sees: one or more per message, one JSON object per line.",
        *(event.__name__ for event in ANSWER_EVENTS),
    )
    channels["progress"] = _channel(
        "gw.progress.{run_id}", "The events that `events=all` adds.", *(event.__name__ for event in PROGRESS_EVENTS)
    )
    channels["cancel"] = _channel("gw.cancel.{run_id}", "Cancels a run; the message is empty.", "Cancel")
    for name, (subject, description, request, replies) in REQUESTS.items():
        channels[name] = _channel(subject, f"{description} {_REPLY}", *(each.__name__ for each in (request, *replies)))
    messages: Document = {
        each.__name__: {"name": each.__name__, "contentType": "application/json", "payload": ref(each)}
        for each in STRUCTS
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
            **{name: _replies(name, request, replies) for name, (_, _, request, replies) in REQUESTS.items()},
        },
        "components": {"schemas": components, "messages": messages},
    }


_REPLY = "The reply goes to the reply subject of the request."
_ID = "1 to 64 of the characters A-Z, a-z, 0-9, _ and -."
_BUS = (
    "To ask, send RunRequest to gw.runs.ask with a run id of your own, or publish QuestionAsked to"
    " gw.question_asked.<run_id>; then read gw.event.<run_id> until DONE. The other messages pass between the stages,"
    " each written once to the stream RUNS, long ones packed with zlib."
)


def _channel(address: str, description: str, *messages: str) -> Document:
    return {
        "address": address,
        "description": description,
        "parameters": {name: {"description": _ID} for name in re.findall(r"\{(\w+)\}", address)},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
    }


def _replies(channel: str, request: type[msgspec.Struct], replies: tuple[type[msgspec.Struct], ...]) -> Document:
    messages = [{"$ref": f"#/channels/{channel}/messages/{each.__name__}"} for each in (request, *replies)]
    reply = {"channel": {"$ref": f"#/channels/{channel}"}, "messages": messages[1:]}
    return {**_does("receive", channel), "messages": messages[:1], "reply": reply}


def _does(action: str, channel: str) -> Document:
    return {"action": action, "channel": {"$ref": f"#/channels/{channel}"}}
