"""While the model server behind the `openai` engine is dead nothing is ready, and the server gets few requests."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import msgspec
import pytest
from yarl import URL

from bus.journal.canary import canary_id
from bus.journal.records import AskRecord
from bus.powers.asking import AskRequest
from bus.transport.connection import connect, declare_streams
from bus.transport.health import answer_health
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from prompts.contracts import ClassifyQuery
from runtime.engines.openai import engine as openai_engine
from runtime.engines.openai.engine import OpenAIEngine
from runtime.processes import inference
from runtime.processes.inference import Inference
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


async def test_readiness_lets_a_model_sleep_that_answered(model: ModelServer) -> None:
    """Its own question goes to the model at first and after a failure, else to the rules while the server is there."""
    asked = ClassifyQuery(original_query="When?", language="en")
    engine = OpenAIEngine(model.url, "fake-1", attempts=1)
    device = Inference(engine, InferenceSettings(cache_entries=0))
    reply = {"query_type": "simple", "confidence": "high", "reasoning": "", "suggested_search_term": ""}

    async def by() -> str:
        probe = AskRequest(
            prompt=asked.name, variables=msgspec.Raw(msgspec.json.encode(asked)), run_id=canary_id(), actor="classify_query",
            priority="check", deadline=time.time() + 30,
        )  # fmt: skip
        *_, record = [part async for part in device.answer(probe)]
        assert isinstance(record, AskRecord)
        return record.engine

    model.answers = [streams(json.dumps(reply))]
    assert [await by(), await by()] == ["openai", "extractive"]
    engine.away = "it is away"
    with pytest.raises(Unavailable, match="it is away"):
        await by()
    engine.away = ""
    assert [await by(), await by()] == ["openai", "extractive"]
    await device.routes.close()
    await engine.close()


async def test_recently_active_server_is_not_probed(model: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_engine, "SILENT_S", 60.0)
    engine = OpenAIEngine(model.url, "fake-1")
    await collect(engine, request(rendered=render()))
    looking = asyncio.create_task(engine.look_after())
    await collect(engine, request(rendered=render()))
    looking.cancel()
    await engine.close()
    assert (engine.away, model.listed) == ("", 0)
