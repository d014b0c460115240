"""Ask an engine and record when each piece of the reply came."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bus.wire.errors import Failure, Unavailable
from prompts.files import Rendered
from prompts.vocabulary import Priority
from runtime.engines.engine import Delta, Finished
from runtime.engines.mlx.engine import MlxEngine
from runtime.engines.mlx.settings import DeviceSettings
from tests.runtime.engines.sample import render, request

INSTRUCTION = "You are a strict judge. Decide whether the passage supports the claim, and answer with JSON. "
CLAIM = "Claim: refunds are paid within fourteen days. Passage: the shop pays refunds within two weeks of the return."


@dataclass(slots=True)
class Reply:
    """A reply with times in seconds since the request; `failure` says why there is none."""

    first_s: float = 0.0
    total_s: float = 0.0
    text: str = ""
    at: list[float] = field(default_factory=list)  # when each delta came, monotonic
    finished: Finished | None = None
    failure: Failure | None = None


#: A prompt of the bench; its replies are as the weights have them.
rendered = partial(render, system="", max_tokens=32)


async def ask(engine: MlxEngine, prompt: Rendered, *, seed: int = 0, priority: Priority = "judge") -> Reply:
    reply, began = Reply(), time.perf_counter()
    try:
        async for event in engine.generate(request(rendered=prompt, seed=seed, priority=priority, seconds=600)):
            now = time.perf_counter()
            reply.first_s = reply.first_s or now - began
            if isinstance(event, Delta):
                reply.at.append(now)
                reply.text += event.text
            else:
                reply.finished = event
    except Failure as failure:
        reply.failure = failure
    reply.total_s = time.perf_counter() - began
    return reply


async def ask_all(engine: MlxEngine, prompts: Sequence[Rendered], at_once: int) -> list[Reply]:
    """Ask all of `prompts`, with a fixed number in flight; each one's seed is its index."""
    gate = asyncio.Semaphore(at_once)

    async def one(seed: int, prompt: Rendered) -> Reply:
        async with gate:
            return await ask(engine, prompt, seed=seed)

    return await asyncio.gather(*(one(seed, prompt) for seed, prompt in enumerate(prompts)))


@asynccontextmanager
async def running(model: str, **settings: Any) -> AsyncIterator[MlxEngine]:
    engine = MlxEngine(DeviceSettings(model=model, **settings))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


#: A schema whose text never ends, with a visible piece in every step.
LETTERS = {
    "type": "object",
    "properties": {"note": {"type": "string", "pattern": "^[a-z ]{100000}$"}},
    "required": ["note"],
    "additionalProperties": False,
}
#: The length of a reply that outlasts what is measured beside it. A row's whole cache is counted before it starts, and
#: that of a hundred thousand tokens is larger than a small device.
LONG_TOKENS = 4_000


@asynccontextmanager
async def stream(engine: MlxEngine, *, at: list[float] | None = None, pieces: int = 1) -> AsyncIterator[None]:
    """Stream an answer in the background, from when `pieces` have come; the time of each is appended to `at`.

    Raises: Failure when it cannot start, or ends before what is measured beside it.
    """
    times: list[float] = [] if at is None else at
    prompt = rendered("Write a long answer.", schema=LETTERS, max_tokens=LONG_TOKENS, temperature=1.0)
    events: Any = engine.generate(request(rendered=prompt, seed=1, seconds=600))

    async def read() -> None:
        async for _ in events:
            times.append(time.perf_counter())

    async for _ in events:
        times.append(time.perf_counter())
        if len(times) >= pieces:
            break
    reading = asyncio.create_task(read())
    try:
        yield
        if reading.done():
            reading.result()
            raise Unavailable("the stream in the background ended before what was measured beside it; ask again")
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def text_of(engine: MlxEngine, tokens: int, lead: str = "") -> str:
    """Instructions of about that many tokens, beginning with `lead`."""
    assert engine.device is not None
    encoder = engine.device.encoder
    each = len(encoder.text(INSTRUCTION))
    return lead + INSTRUCTION * max(1, round((tokens - len(encoder.text(lead))) / each))
