"""What the benches of a running stack share: the demo's questions and documents, a stack that is ready, clients and processes."""

import asyncio
import contextlib
import os
import subprocess
import time
import tomllib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aiohttp
import psutil

from index.build.ingest import bring_in
from runtime import demo
from runtime.processes.ports import free_port
from runtime.processes.supervisor import Stack
from runtime.settings import EdgeSettings, Settings

DEMO = Path(demo.__file__).parent
QUESTIONS = [each["text"] for each in tomllib.loads((DEMO / "questions.toml").read_text(encoding="utf-8"))["question"]]


def demo_index(folder: Path) -> Path:
    """An index of the demo's documents, in a folder of `folder`."""
    index = folder / "index"
    bring_in(index, [str(DEMO / "documents")], only=True)
    return index


@contextlib.asynccontextmanager
async def ready(folder: Path, **settings: Any) -> AsyncIterator[Stack]:
    """A stack of every process, with its state in `folder`, while it runs."""
    asked = Settings(**{"edge": EdgeSettings(port=free_port()), "state": str(folder), **settings})
    stack = Stack(asked, folder / "stack", ("search", "inference", "actors", "edge"))
    try:
        await stack.start()
        await stack.ready()
        yield stack
    finally:
        await stack.stop()


def address_of(stack: Stack) -> str:
    return f"http://127.0.0.1:{stack.settings.edge.port}"


@dataclass(frozen=True)
class Answer:
    """`first_s`: until the first event of the stream."""

    first_s: float
    cited: bool


async def ask(session: aiohttp.ClientSession, url: str, **body: object) -> Answer:
    """Ask once over SSE."""
    began = time.perf_counter()
    first_s, cited = 0.0, False
    async with session.post(f"{url}/v1/runs", json=body) as response:
        response.raise_for_status()
        async for line in response.content:
            if line.startswith(b"data:"):
                first_s = first_s or time.perf_counter() - began
                cited = cited or b'"references"' in line
                if b'"DONE"' in line:
                    return Answer(first_s, cited)
    raise RuntimeError("the stream ended without DONE")


class Listener(asyncio.Protocol):
    """A client that sends one request and keeps what it receives."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.began = time.monotonic_ns()
        self.received: list[tuple[int, bytes]] = []
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.Transport, transport).write(self.request)  # uvloop's transport does not inherit from it

    def data_received(self, data: bytes) -> None:
        self.received.append((time.monotonic_ns(), data))
        if (b'"DONE"' in data or b"[DONE]" in data) and not self.done.done():
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


@contextlib.contextmanager
def process(*command: str, environ: dict[str, str] | None = None) -> Iterator[psutil.Process]:
    started = subprocess.Popen(command, env={**os.environ, **(environ or {})}, stderr=subprocess.DEVNULL)
    try:
        yield psutil.Process(started.pid)
    finally:
        started.kill()
        started.wait()


async def answering(port: int, path: str) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(400):
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"http://127.0.0.1:{port}{path}"):
                    return
            await asyncio.sleep(0.05)
    raise RuntimeError(f"nothing answers on port {port}")


def used_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
