"""Three Python readers of server-sent events, each used as in its documentation; the first argument names one."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import aiohttp
import httpx
import httpx_sse
import line_by_line
import requests
import sseclient
from aiohttp_sse_client2 import client as aiohttp_sse

DONE = '{"type":"DONE"}'
BROKEN = (httpx.TransportError, requests.RequestException, aiohttp.ClientPayloadError)
type Events = list[tuple[str, str]]


def resuming(last: str) -> dict[str, str]:
    return {"Last-Event-ID": last} if last else {}


class Iterated:
    """Its events are an iterator."""

    events: Iterator[Any]

    def until(self, text: str = DONE) -> dict[str, object]:
        got: Events = []
        try:
            for event in self.events:
                got.append((event.id, event.data))
                if text in event.data:
                    break
        except BROKEN:
            return {"events": got, "broken": True}
        return {"events": got, "broken": False}


class HttpxSse(Iterated):
    def __init__(self) -> None:
        self.stack = contextlib.ExitStack()

    def open(self, method: str, url: str, body: object = None, last: str = "") -> dict[str, object]:
        http = self.stack.enter_context(httpx.Client(timeout=60.0))
        source = self.stack.enter_context(httpx_sse.connect_sse(http, method, url, json=body, headers=resuming(last)))
        response = source.response
        if response.status_code != 200:
            return {"status": response.status_code, "body": response.read().decode()}
        self.events = source.iter_sse()
        return {"status": 200, "run_id": response.headers["X-Run-Id"]}

    def close(self) -> None:
        self.stack.close()


class SseclientPy(Iterated):
    def __init__(self) -> None:
        self.client: sseclient.SSEClient | None = None

    def open(self, method: str, url: str, body: object = None, last: str = "") -> dict[str, object]:
        headers = {"Accept": "text/event-stream"} | resuming(last)
        response = requests.request(method, url, json=body, headers=headers, stream=True, timeout=60.0)
        if response.status_code != 200:
            return {"status": response.status_code, "body": response.text}
        self.client = sseclient.SSEClient(response)
        self.events = self.client.events()
        return {"status": 200, "run_id": response.headers["X-Run-Id"]}

    def close(self) -> None:
        if self.client is not None:
            self.client.close()


class AiohttpSseClient2:
    """It comes back by itself where a stream ends, and gives up where a connection breaks."""

    def __init__(self) -> None:
        self.source: aiohttp_sse.EventSource | None = None

    async def open(self, method: str, url: str, body: object = None, last: str = "") -> dict[str, object]:
        more = {"json": body} if body is not None else {}
        self.source = aiohttp_sse.EventSource(
            url, option={"method": method}, headers=resuming(last), reconnection_time=timedelta(seconds=0.01), **more
        )
        try:
            await self.source.connect()
        except ConnectionError as refused:
            said, content = refused.args
            status = next(int(word.strip(":")) for word in said.split() if word.strip(":").isdigit())
            return {"status": status, "body": content.decode()}
        return {"status": 200, "run_id": self.source._response.headers["X-Run-Id"]}

    async def until(self, text: str = DONE) -> dict[str, object]:
        assert self.source is not None
        got: Events = []
        events: AsyncIterator[aiohttp_sse.MessageEvent] = aiter(self.source)
        try:
            async for event in events:
                got.append((event.last_event_id, event.data))
                if text in event.data:
                    break
        except BROKEN:
            return {"events": got, "broken": True}
        return {"events": got, "broken": False}

    async def close(self) -> None:
        assert self.source is not None
        await self.source.__aexit__()


READERS = {"httpx-sse": HttpxSse, "sseclient-py": SseclientPy, "aiohttp-sse-client2": AiohttpSseClient2}

if __name__ == "__main__":
    asyncio.run(line_by_line.serve(READERS[sys.argv[1]]()))
