"""Arize Phoenix, an OpenTelemetry backend for generative AI, shows our spans as one trace. Slow: it is a large program."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.processes.ports import free_port
from runtime.settings import TelemetrySettings
from runtime.telemetry.otlp import Exporter
from tests.clients.installed import python_of
from tests.polling import until
from tests.runtime.telemetry.test_spans import listening
from tests.whole import whole

QUESTION = "How many days until refunds are paid?"


@contextlib.asynccontextmanager
async def phoenix(folder: Path) -> AsyncIterator[str]:
    """Its address, once it takes spans."""
    port = free_port()
    env = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    command = python_of("phoenix").parent / "phoenix"
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            str(command), "serve", env={**os.environ, **env}, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        async with aiohttp.ClientSession() as http:

            async def up() -> bool:
                assert process.returncode is None, (folder / "log").read_text()
                with contextlib.suppress(aiohttp.ClientError):
                    async with http.get(f"http://127.0.0.1:{port}/healthz") as response:
                        return response.status == 200
                return False

            await until(up, within_s=240.0)
        yield f"http://127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_phoenix_shows_a_run_as_one_trace(tmp_path: Path) -> None:
    (tmp_path / "phoenix").mkdir()
    async with whole(tmp_path, ExtractiveEngine()) as run, phoenix(tmp_path / "phoenix") as url:
        exporter = Exporter(TelemetrySettings(otlp=url), run.worker.client, run.worker.journal, lambda: True)
        await exporter.start()
        await until(lambda: listening(run))
        _, record = await run.ask(QUESTION)
        async with aiohttp.ClientSession(url) as http:

            async def shown() -> list[dict[str, Any]]:
                async with http.get("/v1/projects/default/spans", params={"limit": "200"}) as response:
                    return (await response.json())["data"] if response.status == 200 else []

            spans = await until(shown, within_s=60.0)
        await exporter.stop()
    assert len({span["context"]["trace_id"] for span in spans}) == 1
    root = next(span for span in spans if not span["parent_id"])
    assert root["name"] == "invoke_workflow general"
    assert root["attributes"]["groundwire.run_id"] == record.run_id
    names = {span["context"]["span_id"]: span["name"] for span in spans}
    assert all(span["parent_id"] in names for span in spans if span is not root)
    kinds = {span["attributes"].get("gen_ai.operation.name") for span in spans}
    assert {"invoke_workflow", "chat", "retrieval"} <= kinds
