"""/openapi.json: the running app's routes as an OpenAPI document, generated from their declarations."""

import functools
import importlib.metadata
from collections.abc import Iterable

import msgspec
from aiohttp import web

from bus.wire.subjects import ID_PATTERN
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
