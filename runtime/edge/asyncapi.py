"""/asyncapi.json: the bus messages and run events as an AsyncAPI document, generated from their Structs."""

import functools
import importlib.metadata
import re

import msgspec
from aiohttp import web

from bus.powers.events import ANSWER_EVENTS, EVENT_TYPES, PROGRESS_EVENTS
from bus.powers.searching import SearchReply, SearchRequest
from bus.runs.requests import RecordRequest, RequestRefused, RunAccepted, RunRequest
from bus.runs.run_record import RunRecord
from bus.wire.messages import CATALOGUE, QuestionAsked, RunFinished, message_type
from bus.wire.subjects import ASK_RUN, GET_RUN, SEARCH, consumed_subject
from runtime.edge.openapi import REF, ref
from runtime.edge.routes import Document, Reply, Route, json_response

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
