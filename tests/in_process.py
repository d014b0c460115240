"""The whole pipeline in this process: a nats-server of its own, all actors, and one engine behind the asks."""

import contextlib
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from actors.pipeline import pipeline
from bus.asking import AskServer
from bus.connection import Inbox, connect, declare_streams
from bus.delivery import Worker
from bus.events import shown_text
from bus.journal import Journal
from bus.messages import QuestionAsked
from bus.run_record import RunRecord
from bus.runs import Runs
from bus.settings import BusSettings
from runtime import nats_server
from runtime.engines.engine import Engine
from runtime.inference import Inference
from runtime.settings import InferenceSettings


@dataclass
class Told:
    """What one question came to: every line the client got, the text they were shown, and the run's record."""

    run_id: str
    lines: list[str]
    shown: str
    record: RunRecord

    @property
    def types(self) -> list[str]:
        """The events' types in order, a run of tokens as one."""
        found = [str(msgspec.json.decode(line)["type"]) for line in self.lines]
        return [one for at, one in enumerate(found) if at == 0 or one != found[at - 1]]


@dataclass
class Stack:
    runs: Runs
    worker: Worker
    server: AskServer
    bugs: list[BaseException] = field(default_factory=list)

    async def ask(self, question: QuestionAsked) -> Told:
        submitted = await self.runs.submit(question)
        lines = [line.decode() async for _, line in self.runs.events(submitted.run_id)]
        record = await self.runs.record(submitted.run_id)
        assert record is not None
        shown = shown_text(await self.runs.journal.frames(submitted.run_id))
        return Told(submitted.run_id, lines, shown, record)


@contextlib.asynccontextmanager
async def stack(folder: Path, engine: Engine) -> AsyncIterator[Stack]:
    """The pipeline, ready for questions with contexts of their own. Bugs of the actors fail the test at the end."""
    port = nats_server.free_port()
    config = nats_server.write_config(folder, port=port, sync_always=False)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(nats_server.command(config), stdout=log, stderr=log)  # noqa: ASYNC220
    try:
        settings = BusSettings(url=f"nats://127.0.0.1:{port}")
        client = await connect(settings.url, name="test")
        await declare_streams(client.jetstream(timeout=2.0), settings)
        await engine.start()
        server = AskServer(client, Inference(engine, InferenceSettings(cache_entries=0)).answer)
        close = await server.start()
        worker = Worker(pipeline(), settings)
        await worker.start()
        inbox = Inbox(client)
        runs = Runs(client, inbox, Journal(client, inbox))
        await runs.start()
        yield Stack(runs, worker, server)
        await runs.stop()
        await worker.stop()
        await close()
        await client.close()
        assert worker.bugs == []
        assert server.bugs == []
    finally:
        process.kill()
        process.wait()
