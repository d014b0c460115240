"""/asyncapi.json: the bus messages and run events as an AsyncAPI document, generated from their Structs."""

import functools
import importlib.metadata
import re

import msgspec
from aiohttp import web

from bus.powers.events import ANSWER_EVENTS, EVENT_TYPES, PROGRESS_EVENTS
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.messages import CATALOGUE, Message, QuestionAsked, RunFinished, message_type
from bus.wire.subjects import SEARCH, consumed_subject
from runtime.edge.openapi import REF, ref
from runtime.edge.responses import json_response
from runtime.edge.routes import Document, Reply, Route

STRUCTS: tuple[type[msgspec.Struct], ...] = (*CATALOGUE, *EVENT_TYPES, SearchRequest, SearchReply)


@Route("GET", "/asyncapi.json", {200: Reply("An AsyncAPI document.", "application/json")}, "none")
async def asyncapi(request: web.Request) -> web.Response:
    """Describe the messages on the bus."""
    return json_response(asyncapi_document())


@functools.cache
def asyncapi_document() -> Document:
    """What an integration may publish and read, and the messages between stages."""
    _, components = msgspec.json.schema_components(STRUCTS, ref_template=REF)
    channels: Document = {
        message_type(each): _channel(_address(each), (each.__doc__ or "").strip(), each.__name__) for each in CATALOGUE
    }
    channels["event"] = _channel(
        "gw.event.{run_id}",
        "The events that a client sees: one or more per message, one JSON object per line.",
        *(event.__name__ for event in ANSWER_EVENTS),
    )
    channels["progress"] = _channel(
        "gw.progress.{run_id}", "The events that `events=all` adds.", *(event.__name__ for event in PROGRESS_EVENTS)
    )
    channels["cancel"] = _channel("gw.cancel.{run_id}", "Cancels a run; the message is empty.", "Cancel")
    description = "Searches for passages; the reply goes to the reply subject of the request."
    channels["search"] = _channel(SEARCH, description, SearchRequest.__name__, SearchReply.__name__)
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


_ID = "1 to 64 of the characters A-Z, a-z, 0-9, _ and -."
_BUS = (
    "To ask, publish QuestionAsked to gw.question_asked.<run_id> with an id of your own, then read gw.event.<run_id>"
    " until DONE. The other messages pass between the stages, each written once to the stream RUNS, long ones"
    " packed with zlib."
)


def _address(message: type[Message]) -> str:
    return consumed_subject(message).replace("*", "{run_id}", 1).replace("*", "{lane}")


def _channel(address: str, description: str, *messages: str) -> Document:
    return {
        "address": address,
        "description": description,
        "parameters": {name: {"description": _ID} for name in re.findall(r"\{(\w+)\}", address)},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
    }


def _does(action: str, channel: str) -> Document:
    return {"action": action, "channel": {"$ref": f"#/channels/{channel}"}}
