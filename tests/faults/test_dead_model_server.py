"""While the model server behind the `openai` engine is dead nothing is ready, and the server gets few requests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from bus.transport.connection import connect, declare_streams
from bus.transport.health import answer_health
from bus.transport.settings import BusSettings
from runtime.engines.openai import engine as openai_engine
from runtime.engines.openai.engine import OpenAIEngine
from runtime.processes import inference
from runtime.settings import InferenceSettings, Settings
from tests.bus.wires import Server
from tests.polling import until
from tests.runtime.engines.sample import collect, render, request
from tests.runtime.served import edge_of
from tests.web_servers import served


class ModelServer:
    """Lists one model and emits one word; it may be stopped and started again on its port."""

    def __init__(self) -> None:
        self._running = contextlib.AsyncExitStack()
        self.port = 0
        self.listed = 0
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        routes = web.get("/v1/models", self._models), web.post("/v1/chat/completions", self._chat)
        address = await self._running.enter_async_context(served(*routes, port=self.port))
        self.port = int(address.rpartition(":")[2])

    async def stop(self) -> None:
        await self._running.aclose()

    async def _models(self, asked: web.Request) -> web.Response:
        self.listed += 1
        return web.json_response({"data": [{"id": "one"}]}, status=self.status)

    async def _chat(self, asked: web.Request) -> web.Response:
        text = 'data: {"choices":[{"index":0,"delta":{"content":"word"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
        return web.Response(text=text, content_type="text/event-stream")


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    made = ModelServer()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_engine, "SILENT_S", 0.2)


@contextlib.asynccontextmanager
async def house(server: Server, model: ModelServer, folder: Path) -> AsyncIterator[str]:
    """The inference process and an edge; all other roles report readiness."""
    bus, stop = BusSettings(url=server.url), asyncio.Event()
    client = await connect(bus, name="others")
    await declare_streams(client.jetstream(timeout=2.0), bus)
    for name in ("search", "actors"):
        await answer_health(client, name, lambda: {"ready": True, "detail": "here"})
    settings = Settings(
        bus=bus, inference=InferenceSettings(engine="openai", model="one", base_url=model.url), state=str(folder)
    )
    task = asyncio.create_task(inference.serve(settings, stop))
    async with edge_of(bus, folder, inference=settings.inference) as url:
        yield url
    stop.set()
    await task
    await client.close()


async def test_readiness_follows_the_model_server(server: Server, model: ModelServer, tmp_path: Path) -> None:
    async with house(server, model, tmp_path) as url, aiohttp.ClientSession(url) as http:

        async def becomes(status: int, said: str) -> None:
            async def there() -> bool:
                async with http.get("/readyz") as response:
                    detail = (await response.json())["checks"]["inference"]["detail"]
                    return response.status == status and said in detail

            await until(there, within_s=20.0, what=f"{status} {said}")

        await becomes(200, "openai one")
        await model.stop()
        await becomes(503, f"the model server http://127.0.0.1:{model.port}")
        await model.start()
        await becomes(200, "openai one")
        model.status = 500
        await becomes(503, "500 Internal Server Error")
        model.status = 429  # it is there, and has much to do
        await becomes(200, "openai one")


async def test_recently_active_server_is_not_probed(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_engine, "SILENT_S", 60.0)
    engine = OpenAIEngine(model.url, "one")
    await collect(engine, request(rendered=render()))
    looking = asyncio.create_task(engine.look_after())
    await collect(engine, request(rendered=render()))
    looking.cancel()
    await engine.close()
    assert (engine.away, model.listed) == ("", 0)
