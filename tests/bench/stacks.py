"""What the benches of a running stack share: the demo's questions and documents, a stack that is ready, a question over SSE."""

import contextlib
import time
import tomllib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

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
