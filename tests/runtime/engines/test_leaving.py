"""A run that is cancelled stops its model; a joined thread is gone for the operating system too."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest
from aiohttp import web

from bus.wire.messages import QuestionAsked
from runtime.engines.engine import Delta, Engine, Finished, Request
from runtime.engines.mlx.engine import MlxEngine
from runtime.engines.openai.engine import OpenAIEngine
from runtime.engines.os_thread import MlxThread
from runtime.engines.scripted.engine import default_script, play
from tests.polling import until
from tests.runtime.engines.sample import released, shape
from tests.runtime.test_markers import ALL, CONTEXTS, QUESTION
from tests.web_servers import served
from tests.whole import Whole, whole

ENDLESS = shape(said={"type": "array", "items": {"type": "string", "minLength": 20, "maxLength": 40}, "minItems": 5000})


class Answering:
    """`inner` answers the question, and a script every other prompt. `deltas` counts what came, `left` is set at its end."""

    name = "answering"
    model = "answering"
    needs_rendering = True
    owns_device = False

    def __init__(self, inner: Engine, *, endless: bool = False) -> None:
        self.inner, self.endless = inner, endless
        self.deltas = 0
        self.left = asyncio.Event()
        self.request_id = ""

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        if request.variables.name != "answer_simple":
            reply = ALL if request.variables.name == "select_evidence" else default_script(request)
            for part in play(request, [reply], engine="script", model="script"):
                yield part
            return
        if self.endless and request.rendered is not None:
            endless = msgspec.structs.replace(request.rendered, schema=ENDLESS, max_tokens=50_000)
            request = msgspec.structs.replace(request, rendered=endless)
        self.request_id = request.request_id
        try:
            async for part in self.inner.generate(request):
                self.deltas += isinstance(part, Delta)
                yield part
        finally:
            self.left.set()


async def cancelled(run: Whole, engine: Answering, begun: Any) -> None:
    """Ask, cancel once the answer is being made, and see the run end."""
    asked = QuestionAsked(question=QUESTION, contexts=CONTEXTS, release="token", deadline_s=100.0)
    run_id = (await run.runs.submit(asked)).run_id
    await until(begun, what="the answer's first words")
    assert await run.runs.cancel(run_id)
    lines = [line async for _, line in run.runs.events(run_id)]
    assert lines[-1] == b'{"type":"DONE"}'
    await asyncio.wait_for(engine.left.wait(), 60)


async def test_the_device_frees_the_row(tmp_path: Path, mlx: MlxEngine) -> None:
    engine = Answering(mlx, endless=True)
    async with whole(tmp_path, engine) as run:
        await cancelled(run, engine, lambda: engine.deltas > 5)
        await released(mlx)
    record = mlx.records[-1]  # type: ignore[attr-defined]
    assert (record.request_id, record.ending) == (engine.request_id, "cancelled")
    assert record.tokens_out < 50_000
    assert mlx.view().rows_decoding == 0


@pytest.mark.parametrize("silent", [True, False])
async def test_leaving_closes_the_model_request(tmp_path: Path, silent: bool) -> None:
    """Whether the server is silent or in the middle of its words."""
    closed, said = asyncio.Event(), 0

    async def chat(request: web.Request) -> web.StreamResponse:
        nonlocal said
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            while True:
                event = {"model": "fake", "choices": [{"delta": {"content": "Refunds are paid. "}}]}
                await response.write(f"data: {json.dumps(event)}\n\n".encode())
                said += 1
                await (asyncio.Event().wait() if silent and said > 5 else asyncio.sleep(0.005))
        finally:
            closed.set()

    async with served(web.post("/v1/chat/completions", chat), web.get("/v1/models", _models)) as address:
        inner = OpenAIEngine(f"{address}/v1")
        await inner.start()
        engine = Answering(inner)
        async with whole(tmp_path, engine) as run:
            await cancelled(run, engine, lambda: said > 5)
            await asyncio.wait_for(closed.wait(), 60)
            heard = engine.deltas
        assert engine.deltas == heard
        await inner.close()


async def _models(request: web.Request) -> web.Response:
    return web.json_response({"data": [{"id": "fake"}]})


@pytest.mark.skipif(sys.platform != "linux", reason="threads are told from files there")
def test_joined_thread_is_gone_for_the_system() -> None:
    left = []
    for _ in range(300):
        thread = MlxThread(target=int)
        thread.start()
        thread.join()
        if Path(f"/proc/self/task/{thread.native_id}").exists():
            left.append(thread)
    assert not left


def test_join_with_a_time_limit_returns() -> None:
    end = Event()
    thread = MlxThread(target=end.wait)
    thread.start()
    thread.join(0.01)
    assert thread.is_alive()
    end.set()
    thread.join()
    assert not thread.is_alive()
