"""An OpenAI-compatible server with prepared answers, for the openai engine to ask."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.web_servers import served

type Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Fake:
    """A server with prepared chat answers; the last one repeats. `bodies` are the requests, `listed` counts those for models."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.bodies: list[Any] = []
        self.names = ["fake-1"]
        self.listed, self.status = 0, 200
        self.release = asyncio.Event()
        self.url = ""

    async def chat(self, asked: web.Request) -> web.StreamResponse:
        self.bodies.append(await asked.json())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await answer(asked)

    async def models(self, asked: web.Request) -> web.Response:
        self.listed += 1
        return web.json_response({"data": [{"id": name} for name in self.names]}, status=self.status)


@contextlib.asynccontextmanager
async def serving(fake: Fake | None = None, port: int = 0) -> AsyncIterator[Fake]:
    server = fake or Fake()
    routes = web.post("/v1/chat/completions", server.chat), web.get("/v1/models", server.models)
    async with served(*routes, port=port) as address:
        server.url = f"{address}/v1"
        yield server
        server.release.set()


def sends(*frames: str) -> Answer:
    """An answer of these bytes, each written by itself."""

    async def answer(asked: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(asked)
        for frame in frames:
            await response.write(frame.encode())
        return response

    return answer


def streams(*pieces: str, end: bool = True, reason: str = "stop") -> Answer:
    """An answer that streams `pieces`."""

    async def answer(asked: web.Request) -> web.StreamResponse:
        events = [{"model": "fake-1", "choices": [{"delta": {"content": piece}}]} for piece in pieces]
        response = await sends(*(f"data: {json.dumps(event)}\n\n" for event in events))(asked)
        if not end:
            assert asked.transport is not None
            asked.transport.close()
            return response
        usage = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5}}
        last = {"choices": [{"delta": {}, "finish_reason": reason}], "usage": usage}
        await response.write(f": alive\n\ndata: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode())
        return response

    return answer


def says(status: int, text: str = "", content_type: str = "application/json", **headers: str) -> Answer:
    async def answer(asked: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=text, content_type=content_type, headers=headers)

    return answer
