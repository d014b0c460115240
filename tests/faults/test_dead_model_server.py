"""While the model server behind the `openai` engine is dead nothing is ready, and the server gets few requests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from bus.transport.connection import connect, declare_streams
from bus.transport.health import answer_health
from bus.transport.settings import BusSettings
from runtime.engines.openai import engine as openai_engine
from runtime.engines.openai.engine import OpenAIEngine
from runtime.processes import inference
from runtime.settings import InferenceSettings, Settings
from tests.bus.wires import Server
from tests.polling import until
from tests.runtime.engines.fake_server import Fake, serving, streams
from tests.runtime.engines.sample import collect, render, request
from tests.runtime.served import edge_of


class ModelServer(Fake):
    """Lists one model and emits one word; it may be stopped and started again on its port."""

    def __init__(self) -> None:
        super().__init__()
        self._running = contextlib.AsyncExitStack()
        self.port = 0
        self.answers = [streams("word")]

    async def start(self) -> None:
        await self._running.enter_async_context(serving(self, self.port))
        self.port = URL(self.url).port or 0

    async def stop(self) -> None:
        await self._running.aclose()


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
        bus=bus, inference=InferenceSettings(engine="openai", model="fake-1", base_url=model.url), state=str(folder)
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

        await becomes(200, "openai fake-1")
        await model.stop()
        await becomes(503, f"the model server http://127.0.0.1:{model.port}")
        await model.start()
        await becomes(200, "openai fake-1")
        model.status = 500
        await becomes(503, "500 Internal Server Error")
        model.status = 429  # it is there, and has much to do
        await becomes(200, "openai fake-1")


async def test_recently_active_server_is_not_probed(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_engine, "SILENT_S", 60.0)
    engine = OpenAIEngine(model.url, "fake-1")
    await collect(engine, request(rendered=render()))
    looking = asyncio.create_task(engine.look_after())
    await collect(engine, request(rendered=render()))
    looking.cancel()
    await engine.close()
    assert (engine.away, model.listed) == ("", 0)
