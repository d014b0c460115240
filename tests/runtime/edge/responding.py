"""Ask /v1/responses and read what it sends."""

import json
from typing import Any

import aiohttp

from runtime.edge.sse import COMMENT

CREATE = "/v1/responses"


async def created(http: aiohttp.ClientSession, asked: str, **fields: object) -> dict[str, Any]:
    async with http.post(CREATE, json={"model": "general", "input": asked} | fields) as response:
        found: dict[str, Any] = await response.json()
        assert response.status == 200, found
        return found


async def refused(http: aiohttp.ClientSession, **fields: object) -> dict[str, Any]:
    async with http.post(CREATE, json={"model": "general", "input": "How long?"} | fields) as response:
        found: dict[str, Any] = await response.json()
        assert response.status == 400, found
        error: dict[str, Any] = found["error"]
        return error


async def streamed(http: aiohttp.ClientSession, text: str, **fields: object) -> tuple[str, str]:
    """The id of a streamed response, and all that was sent."""
    body = {"model": "general", "input": text, "stream": True} | fields
    async with http.post(CREATE, json=body) as response:
        assert response.content_type == "text/event-stream"
        return f"resp_{response.headers['X-Run-Id']}", await text_of(response)


async def text_of(response: aiohttp.ClientResponse) -> str:
    """A whole stream without the comments that come where the run is silent."""
    return (await response.text()).replace(COMMENT.decode(), "")


def events_of(sent: str) -> list[dict[str, Any]]:
    """The events of a stream, with types as names, ending with [DONE]."""
    blocks = [block.split("\n") for block in sent.split("\n\n") if block]
    assert blocks.pop() == ["data: [DONE]"]
    events = []
    for name, data in blocks:
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events
